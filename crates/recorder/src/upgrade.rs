//! Connections that switch from HTTP to another protocol: they pass through and are not recorded.

use http::{HeaderMap, header};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;

/// Whether the fields request, or accept, another protocol on the connection.
pub fn is_requested(headers: &HeaderMap) -> bool {
    headers.contains_key(header::UPGRADE)
}

/// Copies in both directions until either side ends.
pub fn pass_through(client: OnUpgrade, server: OnUpgrade) {
    tokio::spawn(async move {
        if let (Ok(client), Ok(server)) = (client.await, server.await) {
            let (mut client, mut server) = (TokioIo::new(client), TokioIo::new(server));
            // Either side may disconnect at any time, which is a normal end.
            let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
        }
    });
}
