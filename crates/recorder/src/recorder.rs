//! The proxy: its socket, its trust, its connections.

use std::collections::HashMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use eyelevel_replay::CertificateKey;
use eyelevel_replay::tls::{Authority, Chains};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::store::Store;
use crate::{RecordError, client};

/// Connections at a time; Chromium opens at most 32 to a proxy unless it is told otherwise.
const CONNECTIONS_MAX: usize = 1024;

/// What a recorder needs to know.
#[derive(Debug, Default)]
pub struct RecorderOptions {
    /// The port on loopback; 0 for any.
    pub port: u16,
    /// Trusted beside the platform's roots, when servers are recorded.
    pub roots: Vec<CertificateDer<'static>>,
    /// Where servers are, by host and port, that are not to be looked up by name.
    pub addresses: HashMap<(String, u16), SocketAddr>,
}

/// What all connections share.
pub(crate) struct Shared {
    pub authority: Arc<Authority>,
    pub client_tls: ClientConfig,
    pub addresses: HashMap<(String, u16), SocketAddr>,
    pub store: Arc<Store>,
}

/// A recording proxy that listens.
pub struct Recorder {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Recorder {
    /// Makes the authority and listens on loopback. What passes is kept in `store`.
    ///
    /// # Errors
    /// [`RecordError::Setup`] where the port is taken or no root is trusted.
    pub async fn bind(options: RecorderOptions, store: Arc<Store>) -> Result<Self, RecordError> {
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let failed = |error: std::io::Error| RecordError::Setup {
            attempt: format!("listen on {wanted}"),
            reason: error.to_string(),
        };
        let listener = TcpListener::bind(wanted).await.map_err(failed)?;
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

/// Trust in the platform's roots and `extra`, any version and suite that rustls has: what a real
/// server offers is what is recorded.
fn client_tls(extra: Vec<CertificateDer<'static>>) -> Result<ClientConfig, RecordError> {
    let failed = |reason: String| RecordError::Setup {
        attempt: "trust the roots of servers".to_owned(),
        reason,
    };
    let mut roots = RootCertStore::empty();
    for root in extra {
        roots.add(root).map_err(|error| failed(error.to_string()))?;
    }
    // A platform has some that rustls does not take; without any, nothing secure can be recorded,
    // and the first handshake says so.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}
