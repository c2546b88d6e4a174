//! Byte streams that report, from kernel timestamps, when a request's last byte left and its
//! response's first byte arrived: `arrival` reads the timestamps of a socket, `tap` applies them to
//! HTTP/1 messages, `streams` to HTTP/2 streams. `answers` finds faults in HTTP/2 responses.

pub mod answers;
pub mod arrival;
pub mod streams;
pub mod tap;
