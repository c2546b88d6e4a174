//! Records sites: a proxy on loopback that ends its clients' TLS with leaves of its own authority,
//! speaks to the real servers in the protocol that they choose, and keeps every exchange as it was
//! on the wire.
//!
//! A client's connection and the server's behind it speak the same protocol, so nothing is
//! translated: what is stored is what both sent. What cannot be kept is named in the WACZ
//! (`left_out` in `spec/archive.md`). [`Recorder`] is the proxy, [`Store`] what it has kept;
//! [`Store::write`] makes the WACZ.

mod admission;
mod certificate;
mod client;
mod connect;
mod error;
mod forward;
mod head_repair;
mod merge;
mod notes;
mod pending;
mod privacy;
mod recorder;
mod refused;
mod rewound;
mod shared;
mod spool;
mod stamped;
mod store;
mod tee;
mod under_way;
mod upgrade;
mod upstream;

/// The pure parsers of what clients and servers send, for `make fuzz`.
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
