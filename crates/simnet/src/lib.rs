//! A network in virtual time, for tests: two endpoints joined by two link directions, driven event
//! by event. Nothing sleeps and nothing is random except for the links' seeded stages, so a run of
//! minutes takes milliseconds and is the same each time.

pub mod bulk;
mod network;

pub use network::{Endpoint, Network};
