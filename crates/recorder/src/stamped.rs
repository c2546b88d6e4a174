//! Streams of bytes that tell when a request's last one left and a response's first one came, by the
//! kernel's stamps: `arrival` has these of a socket, `tap` finds them in HTTP/1's messages, `streams`
//! in those of HTTP/2, of which `answers` shows what is wrong, too.

pub mod answers;
pub mod arrival;
pub mod streams;
pub mod tap;
