//! TLS: what clients offer, and a stream over TCP that keeps the times of its handshake.

mod stream;
mod trust;

pub use stream::{Observed, TlsStream};
pub use trust::{Trust, client_config, warm_up};
