//! What of a server's certificates is kept.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use rustls::pki_types::CertificateDer;

/// A server's certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The DNS names of the leaf, wildcards included.
    pub names: Vec<String>,
    /// The size of all certificates that the server sent, DER: what the handshake carries.
    pub chain_bytes: u64,
}

impl Certificate {
    /// Reads a chain as the server sent it, the leaf first.
    pub fn of(chain: &[CertificateDer<'_>]) -> Option<Self> {
        let leaf = webpki::EndEntityCert::try_from(chain.first()?).ok()?;
        Some(Self {
            names: leaf.valid_dns_names().map(str::to_owned).collect(),
            chain_bytes: chain.iter().map(|each| each.len() as u64).sum(),
        })
    }
}

/// Base64 of the SHA-256 of a certificate's SubjectPublicKeyInfo (RFC 7469, section 2.4); none where
/// it cannot be read.
pub fn spki_sha256(certificate: &CertificateDer<'_>) -> Option<String> {
    let read = webpki::EndEntityCert::try_from(certificate).ok()?;
    let key = read.subject_public_key_info();
    Some(BASE64.encode(digest(&SHA256, key.as_ref())))
}
