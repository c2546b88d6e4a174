//! The lab's resolver: recorded names and nothing else, answered at once.
//!
//! A browser asks for its maker's update and client hosts whatever its flags say; those names must
//! not resolve, and must not wait. HTTPS records are empty, so that a stack alone decides the
//! protocol.

mod answer;
mod responder;

pub use answer::{MESSAGE_BYTES_MAX, Table, answer};
pub use responder::{DnsCounts, Responder, table};
