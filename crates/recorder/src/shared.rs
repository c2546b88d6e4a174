//! The state that all connections of a recorder share.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use eyelevel_replay::tls::Authority;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

use crate::RecordError;
use crate::admission::credentials::Credentials;
use crate::admission::reach::Reach;
use crate::store::Store;

/// The state that all connections share.
pub(crate) struct Shared {
    pub authority: Arc<Authority>,
    pub client_tls: ClientConfig,
    pub addresses: HashMap<(String, u16), SocketAddr>,
    pub reach: Reach,
    pub credentials: Option<Credentials>,
    pub store: Arc<Store>,
}

/// Creates a TLS configuration that trusts the platform's roots and `extra`, with every version and
/// suite of rustls, because the server's own choice is recorded.
pub(crate) fn client_tls(extra: Vec<CertificateDer<'static>>) -> Result<ClientConfig, RecordError> {
    let failed = |reason: String| RecordError::Setup {
        attempt: "trust the roots of servers".to_owned(),
        reason,
        remedy: "correct the certificates of --upstream-ca",
    };
    let mut roots = RootCertStore::empty();
    for root in extra {
        roots.add(root).map_err(|error| failed(error.to_string()))?;
    }
    // Platforms have roots that rustls cannot parse. Without any root, the first handshake reports
    // it.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}
