//! TLS: what clients offer, and a stream over TCP that records the times of its handshake.

mod heard;
mod stream;
mod trust;

pub use heard::feed_client;
pub use stream::{Observed, TlsStream};
pub use trust::{Trust, client_config, warm_up};

/// The longest wait for a ticket after the response: servers send it with the end of the handshake,
/// before they answer, so only one that was lost on the way arrives later.
pub const TICKET_WAIT: std::time::Duration = std::time::Duration::from_secs(1);
