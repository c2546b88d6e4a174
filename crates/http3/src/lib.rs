//! HTTP/3 (RFC 9114) and its header compression (RFC 9204), pure: bytes in, events and bytes out;
//! and HTTP/2's compression (RFC 7541), from which it takes the encoding of strings.
//!
//! No clock, no socket, no task: the driver of a QUIC connection feeds each stream's bytes and
//! writes the results. Both roles are here, a server's for the replay and a client's for its tests.

mod control;
mod error;
mod frame;
pub mod head;
pub mod hpack;
mod message;
pub mod qpack;
mod settings;
mod unidirectional;
mod varint;

pub use control::{Control, ControlEvent};
pub use error::{Code, Error, Scope};
pub use frame::{data_head, goaway, headers};
pub use message::{Message, MessageEvent};
pub use settings::Settings;
pub use unidirectional::{Kind, Unidirectional};

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The end that sends requests.
    Client,
    /// The end that sends responses.
    Server,
}
