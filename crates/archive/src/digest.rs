//! The digests of WARC records and WACZ resources.

use sha1::Sha1;
use sha2::{Digest, Sha256};

const BASE32_ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"; // RFC 4648, section 6

/// What a recorded digest says of some bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// They are what was recorded.
    Equal,
    /// They are not; their own digest, written as the recorded one is.
    Differs(String),
    /// The algorithm is none that is known here.
    UnknownAlgorithm,
}

/// Compares `bytes` with a digest like `sha1:BASE32` or `sha256:HEX` (base32 and hexadecimal are
/// told apart by their length, as other readers do).
pub fn compare(recorded: &str, bytes: &[u8]) -> Verdict {
    let Some((algorithm, value)) = recorded.split_once(':') else {
        return Verdict::UnknownAlgorithm;
    };
    let digest = match algorithm.to_ascii_lowercase().replace('-', "").as_str() {
        "sha1" => Sha1::digest(bytes).to_vec(),
        "sha256" => Sha256::digest(bytes).to_vec(),
        _ => return Verdict::UnknownAlgorithm,
    };
    let is_hexadecimal = value.len() == digest.len() * 2;
    let found = if is_hexadecimal {
        hexadecimal(&digest)
    } else {
        base32(&digest)
    };
    if value.trim_end_matches('=').eq_ignore_ascii_case(&found) {
        Verdict::Equal
    } else {
        Verdict::Differs(format!("{algorithm}:{found}"))
    }
}

/// `sha256:` and lower-case hexadecimal, as WACZ and CDXJ write it.
pub fn sha256(bytes: &[u8]) -> String {
    format!("sha256:{}", hexadecimal(&Sha256::digest(bytes)))
}

/// `sha1:` and base32, as WARC writers have it, of what the parts are together.
pub fn sha1_base32(parts: &[&[u8]]) -> String {
    let mut hash = Sha1::new();
    parts.iter().for_each(|part| hash.update(part));
    format!("sha1:{}", base32(&hash.finalize()))
}

/// Lower-case hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(5) * 8);
    for group in bytes.chunks(5) {
        let mut padded = [0; 8];
        padded[3..3 + group.len()].copy_from_slice(group);
        let bits = u64::from_be_bytes(padded);
        for character in 0..(group.len() * 8).div_ceil(5) {
            let value = bits >> (35 - 5 * character) & 31;
            text.push(char::from(BASE32_ALPHABET[value as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base32_follows_the_test_vectors_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ] {
            assert_eq!(base32(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn digests_compare_in_every_spelling() {
        let hexadecimal =
            "sha-256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        for recorded in [
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "sha1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj",
            "SHA1:da39a3ee5e6b4b0d3255bfef95601890afd80709",
            hexadecimal,
        ] {
            assert_eq!(compare(recorded, b""), Verdict::Equal, "{recorded}");
            assert!(
                matches!(compare(recorded, b"x"), Verdict::Differs(_)),
                "{recorded}"
            );
        }
        assert_eq!(compare("blake9:00", b""), Verdict::UnknownAlgorithm);
        assert_eq!(compare("", b""), Verdict::UnknownAlgorithm);
    }
}
