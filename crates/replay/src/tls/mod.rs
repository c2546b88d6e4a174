//! Certificates of a run's own authority, and the one configuration of TLS for TCP and QUIC.

mod authority;
mod by_address;
mod certificate;
mod chains;
mod compression;
mod early;
mod hello;
mod padding;
mod self_signed;
mod suites;
mod tickets;

pub use authority::Authority;
pub(crate) use authority::strip_brackets;
pub(crate) use by_address::ByAddress;
pub use chains::Chains;
pub(crate) use early::accept_early;
pub use hello::HelloWatch;
pub use self_signed::self_signed_pem;
pub(crate) use suites::version_name;
pub use suites::{SUITE_TLS13, provider, versions};
pub(crate) use tickets::Tickets;

use crate::{
    CertificateCompression, HttpVersion, KeyExchange, ReplayError, StackConfig, TlsVersion,
};
use compression::Brotli;
use rustls::pki_types::CertificateDer;
use rustls::server::NoServerSessionStorage;
use std::sync::Arc;

/// The five bytes of a record's header, which rustls counts in `max_fragment_size`.
const RECORD_HEADER_BYTES: usize = 5;
/// The limit of early data; Chromium's first requests are a few kilobytes, and rustls buffers what
/// arrives until it is read.
const EARLY_DATA_BYTES_MAX: u32 = 64 * 1024;

/// Returns the servers' TLS configuration for a stack, over TCP or, for h3, over QUIC.
///
/// # Errors
/// [`ReplayError::Configuration`] when rustls refuses it.
pub fn server_config(
    authority: Arc<Authority>,
    stack: &StackConfig,
) -> Result<rustls::ServerConfig, ReplayError> {
    let failed = |error| ReplayError::configuration("TLS of the servers", error);
    let provider = provider(stack.tls_version, stack.key_exchange);
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions(stack.tls_version))
        .map_err(failed)?
        .with_no_client_auth()
        .with_cert_resolver(authority);
    config.alpn_protocols = vec![stack.http_version.alpn().to_vec()];
    if stack.session_tickets {
        config.session_storage = Arc::new(Tickets::default());
    } else {
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
    }
    if stack.early_data {
        // Over QUIC the value means "allowed" (RFC 9001, section 4.6.1).
        config.max_early_data_size = match stack.http_version {
            HttpVersion::H3 => u32::MAX,
            HttpVersion::H1 | HttpVersion::H2 => EARLY_DATA_BYTES_MAX,
        };
        // An early request is answered at once, as over QUIC.
        config.send_half_rtt_data = true;
    }
    if stack.certificate_compression == CertificateCompression::Brotli {
        config.cert_compressors = vec![&Brotli];
    }
    if stack.http_version != HttpVersion::H3 {
        config.max_fragment_size = Some(stack.tls_record_bytes + RECORD_HEADER_BYTES);
    }
    Ok(config)
}

/// Returns a client's TLS configuration that trusts only `authority`.
///
/// # Errors
/// [`ReplayError::Configuration`] when rustls refuses it.
pub fn client_config(
    authority: &Authority,
    http_version: HttpVersion,
    tls_version: TlsVersion,
) -> Result<rustls::ClientConfig, ReplayError> {
    client_config_trusting(authority.root().clone(), http_version, tls_version)
}

/// Returns a client's TLS configuration that trusts only `root`.
///
/// # Errors
/// [`ReplayError::Configuration`] when rustls refuses it.
pub fn client_config_trusting(
    root: CertificateDer<'static>,
    http_version: HttpVersion,
    tls_version: TlsVersion,
) -> Result<rustls::ClientConfig, ReplayError> {
    let failed = |error| ReplayError::configuration("TLS of the client", error);
    let mut roots = rustls::RootCertStore::empty();
    roots.add(root).map_err(failed)?;
    let provider = provider(tls_version, KeyExchange::default());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions(tls_version))
        .map_err(failed)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![http_version.alpn().to_vec()];
    Ok(config)
}
