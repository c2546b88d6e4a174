//! The recorded facts about a server's certificates.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use rustls::pki_types::CertificateDer;

/// The facts about a server's certificate chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The DNS names of the leaf, including wildcards.
    pub names: Vec<String>,
    /// The size of all certificates that the server sent in the handshake, DER, bytes.
    pub chain_bytes: u64,
}

impl Certificate {
    /// Reads a chain as the server sent it, leaf first.
    pub fn from_chain(chain: &[CertificateDer<'_>]) -> Option<Self> {
        let leaf = webpki::EndEntityCert::try_from(chain.first()?).ok()?;
        Some(Self {
            names: leaf.valid_dns_names().map(str::to_owned).collect(),
            chain_bytes: chain.iter().map(|each| each.len() as u64).sum(),
        })
    }
}

/// Returns the SHA-256 of a certificate's SubjectPublicKeyInfo as base64 (RFC 7469, section 2.4),
/// or `None` if it cannot be parsed.
pub fn spki_sha256(certificate: &CertificateDer<'_>) -> Option<String> {
    let read = webpki::EndEntityCert::try_from(certificate).ok()?;
    let key = read.subject_public_key_info();
    Some(BASE64.encode(digest(&SHA256, key.as_ref())))
}
