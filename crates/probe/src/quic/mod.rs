//! QUIC: a TLS session with readable state, versions 1 and 2, HTTP/3's few bytes, and the driver of
//! one connection.

mod connection;
mod datagrams;
mod http3;
mod keys;
mod packets;
mod request;
mod response;
mod retry;
mod session;

pub use connection::{QuicAttempt, QuicOutcome, connect, unpaced_transport};
pub use http3::{CONTROL_STREAM, RESPONSE_200, request_stream};
pub use packets::{to_version1, versions_offered};
pub use response::Response;
pub use session::{ServerCrypto, SessionFacts};
