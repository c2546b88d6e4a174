//! The proxy: its socket, its trust, its connections.

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

/// Connections at a time; Chromium opens at most 32 to a proxy unless it is told otherwise.
const CONNECTIONS_MAX: usize = 1024;

/// What a recorder needs to know.
#[derive(Default)]
pub struct RecorderOptions {
    /// Where clients come from; none: a port of loopback.
    pub listener: Option<std::net::TcpListener>,
    /// What its clients must know; none: whoever reaches the listener may use it.
    pub credentials: Option<Credentials>,
    /// Trusted beside the platform's roots, when servers are recorded.
    pub roots: Vec<CertificateDer<'static>>,
    /// Where servers are, by host and port, that are not to be looked up by name.
    pub addresses: HashMap<(String, u16), SocketAddr>,
    /// Which of the others may be reached.
    pub reach: Reach,
}

/// A recording proxy that listens.
pub struct Recorder {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Recorder {
    /// Makes the authority and listens. What passes is kept in `store`.
    ///
    /// # Errors
    /// [`RecordError::Setup`] where it cannot listen or no root is trusted.
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

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whom its clients must trust.
    pub fn authority(&self) -> &Authority {
        &self.shared.authority
    }

    /// Serves until `shutdown` ends; then every connection is dropped.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut connections = JoinSet::new();
        tokio::pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                // Ended ones are taken out, so that the set does not grow.
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
