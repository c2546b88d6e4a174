//! What of a server's certificates is kept.

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
