//! The proxy: its socket, its certificate authority, its connections.

use std::collections::HashMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use eyelevel_replay::CertificateKey;
use eyelevel_replay::tls::{Authority, Chains};
use rustls::pki_types::CertificateDer;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::admission::credentials::Credentials;
use crate::admission::reach::Reach;
use crate::shared::{Shared, client_tls};
use crate::store::Store;
use crate::{RecordError, client};

/// The most concurrent connections; Chromium opens at most 32 to a proxy by default.
const CONNECTIONS_MAX: usize = 1024;

/// The options of a recorder.
#[derive(Default)]
pub struct RecorderOptions {
    /// The listening socket; `None` for a free port of loopback.
    pub listener: Option<std::net::TcpListener>,
    /// The credentials that clients need; `None` to serve every client.
    pub credentials: Option<Credentials>,
    /// Roots to trust along with the platform's, for the recorded servers.
    pub roots: Vec<CertificateDer<'static>>,
    /// Addresses of servers by host and port, used instead of a lookup.
    pub addresses: HashMap<(String, u16), SocketAddr>,
    /// The other servers that may be reached.
    pub reach: Reach,
}

/// A listening recording proxy.
pub struct Recorder {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Recorder {
    /// Creates the certificate authority and listens. Exchanges go to `store`.
    ///
    /// # Errors
    ///
    /// Returns [`RecordError::Setup`] if it cannot listen or no root is trusted.
    pub async fn bind(options: RecorderOptions, store: Arc<Store>) -> Result<Self, RecordError> {
        let failed = |error: std::io::Error| RecordError::Setup {
            attempt: "listen on loopback".to_owned(),
            reason: error.to_string(),
            remedy: "end other programs that listen there",
        };
        let listener = match options.listener {
            Some(listener) => listener,
            None => std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?,
        };
        listener.set_nonblocking(true).map_err(failed)?;
        let listener = TcpListener::from_std(listener).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let shared = Shared {
            authority: Arc::new(Authority::new(
                Vec::new(),
                "localhost",
                CertificateKey::Ecdsa,
                Chains::Short,
            )?),
            client_tls: client_tls(options.roots)?,
            addresses: options.addresses,
            reach: options.reach,
            credentials: options.credentials,
            store,
        };
        Ok(Self {
            listener,
            address,
            shared: Arc::new(shared),
        })
    }

    /// Returns the address of the listener.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the certificate authority that clients must trust.
    pub fn authority(&self) -> &Authority {
        &self.shared.authority
    }

    /// Serves until `shutdown` resolves, then drops every connection.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut connections = JoinSet::new();
        tokio::pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                // Finished tasks are removed, so that the set does not grow.
                Some(_) = connections.join_next() => {}
                accepted = self.listener.accept() => {
                    let Ok((stream, _)) = accepted else { continue };
                    let Ok(permit) = permits.clone().try_acquire_owned() else { continue };
                    let shared = self.shared.clone();
                    connections.spawn(async move {
                        client::serve(stream, shared).await;
                        drop(permit);
                    });
                }
            }
        }
        connections.shutdown().await;
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Recorder");
        shown
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
