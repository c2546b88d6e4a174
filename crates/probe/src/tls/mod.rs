//! TLS: what clients offer, and a stream over TCP that keeps the times of its handshake.

mod heard;
mod stream;
mod trust;

pub use heard::heard_by_a_client;
pub use stream::{Observed, TlsStream};
pub use trust::{Trust, client_config, warm_up};
