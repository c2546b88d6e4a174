//! HTTP/3 over QUIC.

mod adapter;

pub use adapter::{H3Connection, H3Opener};
