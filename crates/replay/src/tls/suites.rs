//! The one list of cipher suites and key exchange groups, shared by TCP and QUIC, so that neither
//! stack has cheaper cryptography.

use crate::{KeyExchange, TlsVersion};
use rustls::crypto::aws_lc_rs::{cipher_suite, kx_group};
use rustls::crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs};
use rustls::{SupportedCipherSuite, SupportedProtocolVersion};
use std::sync::Arc;

/// The suite of TLS 1.3, mandatory for every implementation (RFC 8446, section 9.1). With a single
/// one a completed handshake proves the cipher, also over QUIC, where it cannot be read.
pub const SUITE_TLS13: SupportedCipherSuite = cipher_suite::TLS13_AES_128_GCM_SHA256;

/// The TLS 1.2 counterparts, forward secret, by the certificate's key.
const SUITES_TLS12: [SupportedCipherSuite; 2] = [
    cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    cipher_suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
];

/// The hybrid group and the classical ones. Chromium sends shares of the first two, so that there is
/// no second hello.
const GROUPS: [&dyn SupportedKxGroup; 3] = [
    kx_group::X25519MLKEM768,
    kx_group::X25519,
    kx_group::SECP256R1,
];

/// Returns the cryptography of every server and client of this crate.
pub fn provider(version: TlsVersion, key_exchange: KeyExchange) -> Arc<CryptoProvider> {
    let suites = match version {
        TlsVersion::Tls12 => SUITES_TLS12.to_vec(),
        TlsVersion::Tls13 | TlsVersion::None => vec![SUITE_TLS13],
    };
    Arc::new(CryptoProvider {
        cipher_suites: suites,
        kx_groups: match key_exchange {
            KeyExchange::Hybrid => GROUPS.to_vec(),
            KeyExchange::Classical => GROUPS[1..].to_vec(),
        },
        ..aws_lc_rs::default_provider()
    })
}

/// TLS 1.2 alone.
static VERSIONS_TLS12: [&SupportedProtocolVersion; 1] = [&rustls::version::TLS12];
/// TLS 1.3 alone.
static VERSIONS_TLS13: [&SupportedProtocolVersion; 1] = [&rustls::version::TLS13];

/// Returns the protocol versions to offer for a stack's setting; unused without TLS.
pub fn versions(version: TlsVersion) -> &'static [&'static SupportedProtocolVersion] {
    match version {
        TlsVersion::Tls12 => &VERSIONS_TLS12,
        TlsVersion::Tls13 | TlsVersion::None => &VERSIONS_TLS13,
    }
}

/// Returns a version's name in records; `None` for versions that we do not offer.
pub(crate) fn version_name(version: rustls::ProtocolVersion) -> Option<&'static str> {
    match version {
        rustls::ProtocolVersion::TLSv1_2 => Some("1.2"),
        rustls::ProtocolVersion::TLSv1_3 => Some("1.3"),
        _ => None,
    }
}
