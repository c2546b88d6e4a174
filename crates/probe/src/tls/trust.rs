use crate::{ProbeError, Protocol};
use rustls::client::{ResolvesClientCert, Resumption, WebPkiServerVerifier};
use rustls::crypto::aws_lc_rs::{self, kx_group};
use rustls::crypto::{CryptoProvider, SupportedKxGroup};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CipherSuite, ClientConfig, RootCertStore, SupportedCipherSuite};
use std::path::Path;
use std::sync::Arc;

/// Key exchange groups as browsers offer them: shares of the first, a hybrid, and of X25519, which
/// is a part of it, so that no server of either needs a HelloRetryRequest.
const KEY_EXCHANGE: [&dyn SupportedKxGroup; 4] = [
    kx_group::X25519MLKEM768,
    kx_group::X25519,
    kx_group::SECP256R1,
    kx_group::SECP384R1,
];

/// The cryptography and the roots of every attempt; cheap to clone.
#[derive(Clone, Debug)]
pub struct Trust {
    provider: Arc<CryptoProvider>,
    verifier: Arc<WebPkiServerVerifier>,
    /// Shared, as rustls resumes a session only with the very same resolver.
    client_auth: Arc<dyn ResolvesClientCert>,
}

impl Trust {
    /// Trusts the roots of this machine, or only those of a PEM file.
    ///
    /// # Errors
    /// [`ProbeError::Trust`] if there are none.
    pub fn new(authority_file: Option<&Path>) -> Result<Self, ProbeError> {
        warm_up();
        let mut roots = RootCertStore::empty();
        let certificates = match authority_file {
            Some(path) => of_file(path)?,
            None => rustls_native_certs::load_native_certs().certs,
        };
        // Old roots that rustls cannot parse are no reason to distrust the others.
        roots.add_parsable_certificates(certificates);
        let provider = Arc::new(CryptoProvider {
            cipher_suites: cipher_suites(),
            kx_groups: KEY_EXCHANGE.to_vec(),
            ..aws_lc_rs::default_provider()
        });
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
                .build()
                .map_err(|error| ProbeError::Trust {
                    store: authority_file.map_or("this machine's store".into(), |path| {
                        path.display().to_string()
                    }),
                    reason: error.to_string(),
                })?;
        Ok(Self {
            provider,
            verifier,
            client_auth: Arc::new(NoClientAuth),
        })
    }
}

/// Returns rustls's cipher suites, AES-128 first as in browsers.
fn cipher_suites() -> Vec<SupportedCipherSuite> {
    let mut suites = aws_lc_rs::DEFAULT_CIPHER_SUITES.to_vec();
    let is_aes128 = |suite: &SupportedCipherSuite| {
        matches!(
            suite.suite(),
            CipherSuite::TLS13_AES_128_GCM_SHA256
                | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
                | CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
        )
    };
    suites.sort_by_key(|suite| (suite.tls13().is_none(), !is_aes128(suite)));
    suites
}

/// Creates a key and discards it: a library's first use gathers entropy for tens of milliseconds,
/// which would count as part of the first handshake.
pub fn warm_up() {
    for group in KEY_EXCHANGE {
        drop(group.start());
    }
}

/// The prober never identifies itself by a certificate.
#[derive(Debug)]
struct NoClientAuth;

impl ResolvesClientCert for NoClientAuth {
    fn resolve(
        &self,
        _: &[&[u8]],
        _: &[rustls::SignatureScheme],
    ) -> Option<Arc<rustls::sign::CertifiedKey>> {
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}

fn of_file(path: &Path) -> Result<Vec<CertificateDer<'static>>, ProbeError> {
    let failed = |reason: String| ProbeError::Trust {
        store: path.display().to_string(),
        reason,
    };
    CertificateDer::pem_file_iter(path)
        .map_err(|error| failed(error.to_string()))?
        .collect::<Result<_, _>>()
        .map_err(|error| failed(error.to_string()))
}

/// Returns the configuration of one attempt. No compressed certificates are offered, so that their
/// size on the wire is their size. Without `resumption` no state of an earlier attempt is used, not
/// even the key exchange that the server preferred.
///
/// # Errors
/// [`ProbeError::Configuration`] when rustls refuses the versions.
pub fn client_config(
    trust: &Trust,
    protocol: Protocol,
    alpn: &[&[u8]],
    resumption: Option<Resumption>,
    early_data: bool,
) -> Result<ClientConfig, ProbeError> {
    let mut config = ClientConfig::builder_with_provider(trust.provider.clone())
        .with_protocol_versions(protocol.tls_versions())
        .map_err(|error| ProbeError::Configuration(error.to_string()))?
        .with_webpki_verifier(trust.verifier.clone())
        .with_client_cert_resolver(trust.client_auth.clone());
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    config.resumption = resumption.unwrap_or_else(Resumption::disabled);
    config.enable_early_data = early_data;
    Ok(config)
}
