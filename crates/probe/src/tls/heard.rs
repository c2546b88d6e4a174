//! A client's TLS handshake without a socket.

use super::stream::feed;
use super::{Trust, client_config};
use crate::{Failure, FailureClass, Protocol};
use rustls::ClientConnection;
use std::sync::Arc;

/// Feeds a server's bytes in `pieces` to a client of `protocol`; returns whether the handshake is
/// over, and the bytes that it sends.
///
/// # Errors
/// The class and a description.
pub fn feed_client<'a>(
    trust: &Trust,
    protocol: Protocol,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(bool, Vec<u8>), Failure> {
    let local = |reason: String| Failure::new(FailureClass::Local, reason);
    let config = client_config(trust, protocol, &[b"h2"], None, false);
    let config = Arc::new(config.map_err(|error| local(error.to_string()))?);
    let name = "a.test".try_into().expect("it is a name");
    let client = ClientConnection::new(config, name);
    let mut client = client.map_err(|error| local(error.to_string()))?;
    let mut output = Vec::new();
    for piece in pieces {
        while client.wants_write() {
            client.write_tls(&mut output).expect("memory takes it");
        }
        feed(&mut client, piece).map_err(|error| Failure::from_tls(&error))?;
    }
    Ok((!client.is_handshaking(), output))
}
