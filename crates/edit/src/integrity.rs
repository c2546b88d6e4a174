//! Integrity hashes of objects in texts (Subresource Integrity, section 3).
//!
//! They occur in attributes, import maps, scripts, policies and `Link` fields, so they are found by
//! their form: a hash of 256 bits identifies one content wherever it occurs.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use sha2::{Digest, Sha256, Sha384, Sha512};

/// The prefix of a hash's name in the texts.
const PREFIX: &[u8] = b"sha";

/// Old hashes and their replacements, in base64 with the algorithm's name.
pub type Renamed = HashMap<String, String>;

/// Returns the hashes of a content in the form of integrity attributes.
pub fn compute_hashes(content: &[u8]) -> [String; 3] {
    [
        format!("sha256-{}", STANDARD.encode(Sha256::digest(content))),
        format!("sha384-{}", STANDARD.encode(Sha384::digest(content))),
        format!("sha512-{}", STANDARD.encode(Sha512::digest(content))),
    ]
}

/// Returns the hashes in a text, with the position and length of each.
pub fn find_hashes(text: &[u8]) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for at in memmem::find_iter(text, PREFIX) {
        let rest = &text[at..];
        let digits = match rest.get(3..7) {
            Some(b"256-") => 44,
            Some(b"384-") => 64,
            Some(b"512-") => 88,
            _ => continue,
        };
        if let Some((digest, length)) = read_base64(&rest[7..], digits) {
            let name = String::from_utf8_lossy(&rest[..7]).into_owned();
            found.push((name + &digest, at, 7 + length));
        }
    }
    found
}

/// Replaces hashes in a text, keeping the escapes of each; returns the text and their number.
pub fn rename(text: &[u8], renamed: &Renamed) -> (Vec<u8>, usize) {
    let mut changed = Vec::with_capacity(text.len());
    let (mut copied, mut count) = (0, 0);
    for (hash, at, length) in find_hashes(text) {
        let Some(new) = renamed.get(&hash) else {
            continue;
        };
        let is_escaped = text[at..at + length].contains(&b'\\');
        let new = if is_escaped {
            new.replace('/', "\\/")
        } else {
            new.clone()
        };
        changed.extend_from_slice(&text[copied..at]);
        changed.extend_from_slice(new.as_bytes());
        copied = at + length;
        count += 1;
    }
    changed.extend_from_slice(&text[copied..]);
    (changed, count)
}

/// Escapes of non-letters in scripts and markup.
const ESCAPED: [(&[u8], char); 6] = [
    (b"\\/", '/'),
    (b"&#x2B;", '+'),
    (b"&#43;", '+'),
    (b"&#x2F;", '/'),
    (b"&#47;", '/'),
    (b"&#x3D;", '='),
];

/// Reads `digits` characters of base64; returns them and their length in the text.
fn read_base64(text: &[u8], digits: usize) -> Option<(String, usize)> {
    let mut digest = String::with_capacity(digits);
    let mut at = 0;
    while digest.len() < digits {
        let rest = text.get(at..)?;
        if let Some((written, meant)) = ESCAPED.iter().find(|(it, _)| rest.starts_with(it)) {
            digest.push(*meant);
            at += written.len();
            continue;
        }
        match *rest.first()? {
            byte if byte.is_ascii_alphanumeric() || b"+/=".contains(&byte) => {
                digest.push(char::from(byte));
                at += 1;
            }
            _ => return None,
        }
    }
    Some((digest, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_found_and_renamed_in_their_spelling() {
        let [old, _, long] = compute_hashes(b"old 0");
        let [new, _, longer] = compute_hashes(b"new 1");
        assert!(old.contains('/') && new.contains('/'), "{old} {new}");
        let renamed = Renamed::from([(old.clone(), new.clone()), (long.clone(), longer.clone())]);
        let escape = |hash: &str| hash.replace('/', "\\/");
        let text = format!(
            "<script integrity=\"{old} {long}\"> {{\"a\":\"{}\"}}",
            escape(&old)
        );
        let (found, count) = rename(text.as_bytes(), &renamed);
        let expected = format!(
            "<script integrity=\"{new} {longer}\"> {{\"a\":\"{}\"}}",
            escape(&new)
        );
        assert_eq!((String::from_utf8(found).unwrap(), count), (expected, 3));
        let in_markup = format!("\"{}\"", long.replace('+', "&#x2B;"));
        let (found, count) = rename(in_markup.as_bytes(), &renamed);
        assert_eq!(
            (String::from_utf8(found).unwrap(), count),
            (format!("\"{longer}\""), 1)
        );
        let other = "sha256-short sha384- sha sha999-abc";
        assert_eq!(
            rename(other.as_bytes(), &renamed),
            (other.as_bytes().to_vec(), 0)
        );
    }
}
