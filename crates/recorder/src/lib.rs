//! Records sites: a proxy on loopback terminates its clients' TLS with leaf certificates of its own
//! authority, connects to the real servers with the protocol that they choose, and stores every
//! exchange as it was on the wire.
//!
//! A client's connection and the server's behind it use the same protocol, so nothing is
//! translated: both messages are stored as sent. What cannot be stored is listed in the WACZ
//! (`left_out` in `spec/archive.md`). [`Recorder`] is the proxy, [`Store`] holds what it recorded,
//! and [`Store::write`] writes the WACZ.

mod admission;
mod certificate;
mod client;
mod connect;
mod error;
mod forward;
mod head_repair;
mod merge;
mod notes;
mod peeked_tunnel;
mod pending;
mod privacy;
mod recorder;
mod refused;
mod shared;
mod spool;
mod stamped;
mod store;
mod tee;
mod under_way;
mod upgrade;
mod upstream;

/// The pure parsers of client and server input, for `make fuzz`.
pub mod wire {
    pub use crate::admission::authority::check_authority;
    pub use crate::admission::target::Target;
    pub use crate::certificate::Certificate;
}

pub use admission::credentials::Credentials;
pub use admission::reach::Reach;
pub use certificate::spki_sha256;
pub use error::RecordError;
pub use recorder::{Recorder, RecorderOptions};
pub use store::{Store, StoreCounts, Writing};
