//! Connections that stop being HTTP: they pass through, and nothing of them is kept.

use http::{HeaderMap, header};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;

/// Whether the fields ask for, or agree to, another protocol on the connection.
pub fn is_asked(headers: &HeaderMap) -> bool {
    headers.contains_key(header::UPGRADE)
}

/// Copies both ways until either side ends.
pub fn pass_through(client: OnUpgrade, server: OnUpgrade) {
    tokio::spawn(async move {
        if let (Ok(client), Ok(server)) = (client.await, server.await) {
            let (mut client, mut server) = (TokioIo::new(client), TokioIo::new(server));
            // Either side may go away at any time; that ends it in order.
            let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
        }
    });
}
