use super::certificate::{LEAF_NAME, ROOT_NAME, base_params, leaf_bytes_max, pem, serial_number};
use super::chains::Chains;
use super::padding;
use crate::{CertificateKey, ReplayError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256, PublicKeyData, RsaKeySize,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The largest number of leaves kept; a client that requests ever new names gets them recreated.
const LEAVES_MAX: usize = 4096;
/// A certificate authority created for one run, with the leaves that it signs, chosen by SNI.
///
/// All leaves share one key, so that a browser needs one digest only (Chromium's
/// `--ignore-certificate-errors-spki-list`).
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    root: CertificateDer<'static>,
    root_pem: String,
    leaf_key: KeyPair,
    signing_key: Arc<dyn rustls::sign::SigningKey>,
    /// The names that share a certificate, by each of the names; an absent host has its own.
    groups: HashMap<String, Arc<[String]>>,
    fallback: String,
    chains: Chains,
    leaves: Mutex<HashMap<String, Arc<CertifiedKey>>>,
}

impl Authority {
    /// Creates the authority's key and root, and the leaves' key.
    ///
    /// `groups` are the certificates as recorded: each a list of the names on it. `fallback` is the
    /// host for a client that names none.
    ///
    /// # Errors
    /// [`ReplayError::Certificate`] when the library refuses.
    pub fn new(
        groups: Vec<Vec<String>>,
        fallback: &str,
        leaf_key: CertificateKey,
        chains: Chains,
    ) -> Result<Self, ReplayError> {
        let failed = |error: rcgen::Error| ReplayError::certificate("the authority", error);
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(failed)?;
        let leaf_key = match leaf_key {
            CertificateKey::Ecdsa => KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256),
            CertificateKey::Rsa => KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048),
        }
        .map_err(failed)?;
        let mut params = base_params(ROOT_NAME, Vec::new()).map_err(failed)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let root_certificate = params.self_signed(&key).map_err(failed)?;
        let (root, root_pem) = (root_certificate.der().clone(), root_certificate.pem());
        let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(leaf_key.serialize_der()));
        let signing_key = rustls::crypto::aws_lc_rs::sign::any_supported_type(&private)
            .map_err(|error| ReplayError::certificate("the leaves", error))?;
        let mut by_name = HashMap::new();
        for group in groups {
            let group = group.iter().map(|name| strip_brackets(name).to_owned());
            let group: Vec<String> = group.collect();
            let shared: Arc<[String]> = group.into();
            for name in shared.iter() {
                by_name
                    .entry(name.clone())
                    .or_insert_with(|| shared.clone());
            }
        }
        Ok(Self {
            issuer: Issuer::new(params, key),
            root,
            root_pem,
            leaf_key,
            signing_key,
            groups: by_name,
            fallback: strip_brackets(fallback).into(),
            chains,
            leaves: Mutex::new(HashMap::new()),
        })
    }

    /// Returns the root certificate, for clients of this crate and for trust stores.
    pub fn root(&self) -> &CertificateDer<'static> {
        &self.root
    }

    /// Returns the root certificate as PEM, for programs that read a file of trusted ones.
    pub fn root_pem(&self) -> &str {
        &self.root_pem
    }

    /// Returns the base64 of the SHA-256 of every leaf's SubjectPublicKeyInfo (RFC 7469, section
    /// 2.4).
    pub fn spki_sha256(&self) -> String {
        BASE64.encode(Sha256::digest(self.leaf_key.subject_public_key_info()))
    }

    /// Returns the chain and key for a host; created once and kept.
    ///
    /// # Errors
    /// [`ReplayError::Certificate`] when the host is not valid in a certificate.
    pub fn leaf(&self, host: &str) -> Result<Arc<CertifiedKey>, ReplayError> {
        let host = strip_brackets(host);
        let lock = || self.leaves.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(leaf) = lock().get(host) {
            return Ok(leaf.clone());
        }
        let alone = [host.to_owned()];
        let leaf = Arc::new(self.sign(host, self.names(host, &alone))?);
        let mut leaves = lock();
        if leaves.len() >= LEAVES_MAX {
            leaves.clear();
        }
        leaves.insert(host.to_owned(), leaf.clone());
        Ok(leaf)
    }

    /// Refuses hosts whose chains cannot have the requested size, which would otherwise show in
    /// failed handshakes alone.
    ///
    /// A server starts for every load, so a leaf is signed only if its names may be too many.
    ///
    /// # Errors
    /// [`ReplayError::Certificate`] of a host whose chain is too long, the longest first.
    pub fn check_chains<'a>(
        &self,
        hosts: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), ReplayError> {
        let Chains::All(padded_bytes) = self.chains else {
            return Ok(());
        };
        let key_bytes = self.leaf_key.subject_public_key_info().len();
        let estimates = hosts.into_iter().map(|host| {
            let host = strip_brackets(host);
            let alone = [host.to_owned()];
            let leaf = leaf_bytes_max(self.names(host, &alone), key_bytes);
            (leaf + self.root.len(), host)
        });
        let mut doubtful: Vec<(usize, &str)> = estimates
            .filter(|(bytes, _)| padding::content_bytes(padded_bytes as usize, *bytes).is_none())
            .collect();
        doubtful.sort_unstable_by(|left, right| right.cmp(left));
        for (_, host) in doubtful {
            self.leaf(host)?;
        }
        Ok(())
    }

    /// Returns a host's chain and its key as PEM.
    ///
    /// # Errors
    /// [`ReplayError::Certificate`] when the host is not valid in a certificate.
    pub fn leaf_pem(&self, host: &str) -> Result<(String, String), ReplayError> {
        let leaf = self.leaf(host)?;
        let chain = leaf.cert.iter().map(|each| pem("CERTIFICATE", each));
        Ok((chain.collect(), self.leaf_key.serialize_pem()))
    }

    /// Returns the names of a host's certificate; `alone` if it shares none.
    fn names<'a>(&'a self, host: &str, alone: &'a [String]) -> &'a [String] {
        self.groups.get(host).map_or(alone, |group| group)
    }

    fn sign(&self, host: &str, names: &[String]) -> Result<CertifiedKey, ReplayError> {
        let failed = |error: rcgen::Error| ReplayError::certificate(host, error);
        let mut params = base_params(LEAF_NAME, names.to_vec()).map_err(failed)?;
        params.serial_number = Some(serial_number(host));
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let signed = |params: &CertificateParams| {
            let leaf = params.signed_by(&self.leaf_key, &self.issuer);
            leaf.map(|leaf| leaf.der().clone()).map_err(failed)
        };
        let mut leaf = signed(&params)?;
        let short = leaf.len() + self.root.len();
        if let Some(padded_bytes) = self.chains.padded_bytes(host, short) {
            let lacking = padding::content_bytes(padded_bytes as usize, short);
            let lacking = lacking.ok_or_else(|| {
                let reason = format!(
                    "its chain has {short} bytes and cannot be padded to {padded_bytes}: set \
                     certificate_chain_bytes to at least {}",
                    short + padding::OVERHEAD_BYTES_MAX + padding::SIGNATURES_BYTES_SPREAD
                );
                ReplayError::certificate(host, reason)
            })?;
            params.custom_extensions = vec![padding::extension(host, lacking)];
            leaf = signed(&params)?;
        }
        let chain = vec![leaf, self.root.clone()];
        Ok(CertifiedKey::new(chain, self.signing_key.clone()))
    }
}

/// Returns a URL's host as certificates have it: only URLs put an IPv6 address in brackets.
pub(crate) fn strip_brackets(host: &str) -> &str {
    let inside = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    inside.unwrap_or(host)
}

impl ResolvesServerCert for Authority {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.leaf(hello.server_name().unwrap_or(&self.fallback))
            .ok()
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_created_once_and_share_their_key() {
        let group = vec!["a.example".into(), "b.example".into()];
        let authority = Authority::new(
            vec![group],
            "a.example",
            CertificateKey::Ecdsa,
            Chains::Short,
        )
        .unwrap();
        let first = authority.leaf("a.example").unwrap();
        let again = authority.leaf("a.example").unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let alone = authority.leaf("c.example").unwrap();
        assert_ne!(first.cert[0], alone.cert[0]);
        assert_eq!(
            first.key.public_key().unwrap(),
            alone.key.public_key().unwrap()
        );
        let names = |leaf: &CertifiedKey, name: &str| {
            let text = name.as_bytes();
            leaf.cert[0].windows(text.len()).any(|part| part == text)
        };
        assert!(names(&first, "a.example") && names(&first, "b.example"));
        assert!(!names(&first, "c.example") && !names(&alone, "a.example"));
        assert_eq!(authority.spki_sha256().len(), 44);
    }

    /// An address is encoded as the tag [7], its length and its bytes (RFC 5280, section 4.2.1.6).
    #[test]
    fn addresses_of_both_families_are_encoded_as_addresses() {
        let v4 = [&[0x87, 4][..], &[192, 0, 2, 7]].concat();
        let v6 = "2001:db8::7".parse::<std::net::Ipv6Addr>().unwrap();
        let v6 = [&[0x87, 16][..], &v6.octets()].concat();
        let group = || vec!["[2001:db8::7]".to_owned(), "192.0.2.7".to_owned()];
        for groups in [vec![group()], Vec::new()] {
            let is_shared = !groups.is_empty();
            let key = CertificateKey::Ecdsa;
            let authority = Authority::new(groups, "[2001:db8::7]", key, Chains::Short).unwrap();
            let names = |host: &str, address: &[u8]| {
                let leaf = authority.leaf(host).unwrap();
                leaf.cert[0]
                    .windows(address.len())
                    .any(|part| part == address)
            };
            for host in ["[2001:db8::7]", "2001:db8::7", &authority.fallback] {
                assert!(names(host, &v6), "{host}");
                assert_eq!(names(host, &v4), is_shared, "{host}");
            }
            assert!(names("192.0.2.7", &v4));
        }
    }

    #[test]
    fn chains_are_padded_to_the_byte_but_for_the_signature_s_length() {
        for key in [CertificateKey::Ecdsa, CertificateKey::Rsa] {
            for padded_bytes in [3000_u32, 10_000, 40_000] {
                let authority =
                    Authority::new(Vec::new(), "a.example", key, Chains::All(padded_bytes))
                        .unwrap();
                let leaf = authority.leaf("a.example").unwrap();
                let bytes: usize = leaf.cert.iter().map(|each| each.len()).sum();
                // An ECDSA signature in DER has 70 to 72 bytes.
                assert!(
                    bytes.abs_diff(padded_bytes as usize) <= 6,
                    "{key:?}: {bytes} of {padded_bytes}"
                );
            }
        }
        let small = Authority::new(
            Vec::new(),
            "a.example",
            CertificateKey::Ecdsa,
            Chains::All(500),
        );
        let refused = small.unwrap().leaf("a.example").unwrap_err().to_string();
        assert!(refused.contains("certificate_chain_bytes"), "{refused}");
    }

    #[test]
    fn recorded_chains_have_their_hosts_sizes() {
        let sizes = [("a.example", 4000), ("b.example", 9000), ("c.example", 300)];
        let sizes = sizes.map(|(host, bytes)| (host.to_owned(), bytes));
        let chains = Chains::Recorded(sizes.into());
        let authority =
            Authority::new(Vec::new(), "a.example", CertificateKey::Ecdsa, chains).unwrap();
        let bytes = |host: &str| -> usize {
            let leaf = authority.leaf(host).unwrap();
            leaf.cert.iter().map(|each| each.len()).sum()
        };
        assert!(bytes("a.example").abs_diff(4000) <= 6);
        assert!(bytes("b.example").abs_diff(9000) <= 6);
        // Too small for ours, and unknown: unpadded.
        assert!(bytes("c.example") < 1200 && bytes("d.example") < 1200);
    }
}
