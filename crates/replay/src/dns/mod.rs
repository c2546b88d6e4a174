//! The lab's resolver, which answers recorded names alone, without delay.
//!
//! A browser looks up its vendor's update and client hosts whatever its flags are; those names must
//! not resolve, and must not wait. HTTPS records are empty, so that the stack alone decides the
//! protocol.

mod answer;
mod responder;

pub use answer::{MESSAGE_BYTES_MAX, Table, answer};
pub use responder::{DnsCounts, Responder, table};
