//! The contents common to every certificate of an authority.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use rcgen::{CertificateParams, DnType, SerialNumber, date_time_ymd};
use sha2::{Digest, Sha256};
use std::net::IpAddr;

/// The names of the authority and of every leaf: distinct, since a leaf whose subject equals its
/// issuer is considered self-signed (RFC 5280, section 6.1). The hosts' names are in the extension.
pub(super) const ROOT_NAME: &str = "eyelevel replay authority";
pub(super) const LEAF_NAME: &str = "eyelevel replay";

/// The size of our leaves without names and key, with the root's ECDSA signature at its longest and
/// all lengths in three bytes; a test checks it against leaves.
const LEAF_BYTES_WITHOUT_NAMES_AND_KEY_MAX: usize = 340;

pub(super) fn base_params(
    name: &str,
    names: Vec<String>,
) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    // Fixed and wide: the clock of a recording's client may be at the time of recording.
    params.not_before = date_time_ymd(2000, 1, 1);
    params.not_after = date_time_ymd(2049, 12, 31);
    Ok(params)
}

/// Returns a host's serial number: unique within an authority, positive, at most 20 bytes (RFC
/// 5280, section 4.1.2.2), since Firefox refuses the second certificate with the same one. The
/// library's default derives from the key, which is shared.
pub(super) fn serial_number(host: &str) -> SerialNumber {
    let mut bytes = Sha256::digest(host)[..20].to_vec();
    // Positive, and 20 bytes whatever the host: chains differ by their names alone.
    bytes[0] = (bytes[0] & 0x7f) | 0x40;
    bytes.into()
}

/// Returns the largest size of a leaf without padding, in DER.
pub(super) fn leaf_bytes_max(names: &[String], public_key_info_bytes: usize) -> usize {
    // An address of 16 bytes may be written with less; other text with a colon is a name. Before
    // each: a tag and its length.
    let name_bytes = |name: &String| match name.len() {
        _ if name.parse::<IpAddr>().is_ok() => 18,
        bytes @ 0..=127 => bytes + 2,
        bytes @ 128..=255 => bytes + 3,
        bytes @ 256..=65535 => bytes + 4,
        bytes => bytes + 5,
    };
    let names: usize = names.iter().map(name_bytes).sum();
    LEAF_BYTES_WITHOUT_NAMES_AND_KEY_MAX + public_key_info_bytes + names
}

/// Encodes DER as PEM: base64 in lines of 64 (RFC 7468).
pub(super) fn pem(label: &str, der: &[u8]) -> String {
    let text = BASE64.encode(der);
    let lines = text.as_bytes().chunks(64).map(String::from_utf8_lossy);
    let body = lines.collect::<Vec<_>>().join("\n");
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
}

#[cfg(test)]
mod tests {
    use super::super::{Authority, Chains};
    use super::{leaf_bytes_max, serial_number};
    use crate::CertificateKey;

    #[test]
    fn every_host_has_a_serial_number_of_its_own() {
        let serial = |host| serial_number(host).to_bytes();
        assert_ne!(serial("a.example"), serial("b.example"));
        assert_eq!(serial("a.example"), serial("a.example"));
        for host in ["a.example", "b.example", "c.example", "d.example"] {
            assert_eq!(serial(host).len(), 20);
            assert_eq!(serial(host)[0] & 0xc0, 0x40);
        }
    }

    #[test]
    fn a_leaf_is_no_longer_than_it_was_estimated() {
        let many = |count: usize, name: &str| -> Vec<String> {
            (0..count).map(|each| format!("{each}{name}")).collect()
        };
        let groups = [
            vec!["a".to_owned()],
            vec![format!("{}.example", "a".repeat(240))],
            many(2, ".example"),
            many(12, ".a-longer-name.example"),
            many(200, ".example"),
            many(900, &".label".repeat(30)),
            vec!["a:b".repeat(100)],
            vec!["192.0.2.1".to_owned(), "2001:db8::1".to_owned()],
        ];
        for key in [CertificateKey::Ecdsa, CertificateKey::Rsa] {
            for names in &groups {
                let host = &names[0];
                let groups = vec![names.clone()];
                let authority = Authority::new(groups, host, key, Chains::Short).unwrap();
                let signed = authority.leaf(host).unwrap();
                let key_bytes = signed.key.public_key().unwrap().len();
                let estimated = leaf_bytes_max(names, key_bytes);
                let leaf = signed.cert[0].len();
                let spare = estimated.checked_sub(leaf).expect("too small an estimate");
                // Close enough that few leaves are signed unnecessarily.
                assert!(spare < 64, "{key:?} {host}: {leaf}, estimated {estimated}");
            }
        }
    }
}
