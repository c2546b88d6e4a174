//! The digests of WARC records and WACZ resources.

use sha1::Sha1;
use sha2::{Digest, Sha256};

const BASE32_ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"; // RFC 4648, section 6

/// The result of comparing bytes with a recorded digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The digest matches.
    Equal,
    /// The digest differs; the value is the actual one, in the recorded one's encoding.
    Differs(String),
    /// The algorithm is not supported.
    UnknownAlgorithm,
}

/// Compares `bytes` with a digest like `sha1:BASE32` or `sha256:HEX`. The length distinguishes
/// base32 from hexadecimal, as other readers do.
pub fn compare(recorded: &str, bytes: &[u8]) -> Verdict {
    let Some((algorithm, value)) = recorded.split_once(':') else {
        return Verdict::UnknownAlgorithm;
    };
    let Some(digest) = digest(&algorithm_name(algorithm), bytes) else {
        return Verdict::UnknownAlgorithm;
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

/// Normalises a recorded digest, so that equal digests have equal texts: case and padding vary
/// between writers.
pub fn normalize(recorded: &str) -> String {
    let (name, value) = recorded.split_once(':').unwrap_or(("", recorded));
    let name = algorithm_name(name);
    let bytes = match name.as_str() {
        "sha1" => 20,
        "sha256" => 32,
        _ => return format!("{name}:{value}"),
    };
    let value = value.trim_end_matches('=');
    match unhex(value).filter(|digest| digest.len() == bytes) {
        Some(digest) => format!("{name}:{}", base32(&digest)),
        None => format!("{name}:{}", value.to_ascii_uppercase()),
    }
}

/// Returns the algorithm of a recorded digest, or `None` if it names none.
pub fn algorithm(recorded: &str) -> Option<String> {
    Some(algorithm_name(recorded.split_once(':')?.0))
}

/// Computes the normalised digest of `bytes`, or `None` if the algorithm is not supported.
pub fn compute(algorithm: &str, bytes: &[u8]) -> Option<String> {
    Some(format!(
        "{algorithm}:{}",
        base32(&digest(algorithm, bytes)?)
    ))
}

fn algorithm_name(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "")
}

fn digest(algorithm: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    match algorithm {
        "sha1" => Some(Sha1::digest(bytes).to_vec()),
        "sha256" => Some(Sha256::digest(bytes).to_vec()),
        _ => None,
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let pairs = digits?;
    let pairs = pairs
        .chunks(2)
        .map(|pair| pair.iter().fold(0, |high, low| high * 16 + low));
    Some(pairs.map(|byte| byte as u8).collect())
}

/// Computes the SHA-256 of `bytes` as `sha256:` and lower-case hexadecimal, the form in WACZ and
/// CDXJ.
pub fn sha256(bytes: &[u8]) -> String {
    format!("sha256:{}", hexadecimal(&Sha256::digest(bytes)))
}

/// Computes the SHA-1 of the concatenated `parts` as `sha1:` and base32, the form of WARC writers.
pub fn sha1_base32(parts: &[&[u8]]) -> String {
    let mut hash = Sha1::new();
    parts.iter().for_each(|part| hash.update(part));
    format!("sha1:{}", base32(&hash.finalize()))
}

/// Formats `bytes` as lower-case hexadecimal digits.
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
    fn equal_digests_are_normalised_alike() {
        let expected = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
        for recorded in [
            expected,
            "sha1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj",
            "SHA-1:da39a3ee5e6b4b0d3255bfef95601890afd80709",
        ] {
            assert_eq!(normalize(recorded), expected);
        }
        assert_eq!(compute("sha1", b"").as_deref(), Some(expected));
        assert_ne!(normalize("md5:aB"), normalize("md5:ab"), "base64 has cases");
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
