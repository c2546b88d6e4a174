//! Decides which response's bytes are sent next on a connection: one scheduler for HTTP/2 and
//! HTTP/3, so that multiplexing differs in the transport alone.

mod body;
mod core;
mod gate;
mod priority;
mod room;
mod sending;
mod update;

pub use self::core::{Grant, Scheduler, StreamId};
pub use body::ReplyBody;
pub use gate::Gate;
pub use priority::Priority;
pub use room::Room;
pub use update::{H2Event, H2Frames};

/// The bytes of a body that are passed to a protocol at once. Small, because a more urgent response
/// waits for it: 8 kB take 140 ms at 0.468 Mbit/s. With HTTP/2's frame header it fills whole TLS
/// records, or any two of them would be followed by one of nine bytes.
pub const CHUNK_BYTES: usize = 8 * 1024 - H2_FRAME_HEADER_BYTES;

/// The size of a frame header (RFC 9113, section 4.1).
const H2_FRAME_HEADER_BYTES: usize = 9;

/// Returns the bytes of bodies that a protocol may hold before its transport accepts them: two
/// chunks, so that the next is ready when the last has left.
pub const fn two_chunks(chunk_bytes: usize) -> usize {
    2 * chunk_bytes
}

/// Returns the same bound for a transport that accepts one chunk at a time.
pub const fn one_chunk(_: usize) -> usize {
    1
}

#[cfg(test)]
mod tests;
