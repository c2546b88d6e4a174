//! Records sites: a proxy on loopback that ends its clients' TLS with leaves of its own authority,
//! speaks to the real servers in the protocol that they choose, and keeps every exchange as it was
//! on the wire.
//!
//! A client's connection and the server's behind it speak the same protocol, so nothing is
//! translated: what is stored is what both sent. What cannot be kept is named in the WACZ
//! (`left_out` in `spec/archive.md`). [`Recorder`] is the proxy, [`Store`] what it has kept;
//! [`Store::write`] makes the WACZ.

mod authority;
mod certificate;
mod client;
mod connect;
mod credentials;
mod error;
mod forward;
mod merge;
mod notes;
mod privacy;
mod reach;
mod recorder;
mod shared;
mod spool;
mod store;
mod tap;
mod target;
mod tee;
mod upgrade;
mod upstream;

/// The pure parsers of what clients and servers send, for `make fuzz`.
pub mod wire {
    pub use crate::authority::check_authority;
    pub use crate::certificate::Certificate;
    pub use crate::target::Target;
}

pub use certificate::spki_sha256;
pub use credentials::Credentials;
pub use error::RecordError;
pub use reach::Reach;
pub use recorder::{Recorder, RecorderOptions};
pub use store::{Store, StoreCounts, Writing};
