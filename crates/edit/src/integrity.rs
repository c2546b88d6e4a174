//! Integrity hashes of objects in the texts that name them (Subresource Integrity, section 3).
//!
//! They stand in attributes, import maps, scripts, policies and `Link` fields alike, so that they are
//! sought as what they are: a hash of 256 bits stands for one content wherever it stands.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use sha2::{Digest, Sha256, Sha384, Sha512};

/// What comes before the hash, in the texts' spelling.
const PREFIX: &[u8] = b"sha";

/// Old hashes with the ones in their place, in base64 with their names.
pub type Renamed = HashMap<String, String>;

/// The hashes of a content as integrity attributes have them.
pub fn hashes_of(content: &[u8]) -> [String; 3] {
    [
        format!("sha256-{}", STANDARD.encode(Sha256::digest(content))),
        format!("sha384-{}", STANDARD.encode(Sha384::digest(content))),
        format!("sha512-{}", STANDARD.encode(Sha512::digest(content))),
    ]
}

/// The hashes that a text names, with the place and the length of each.
pub fn named_in(text: &[u8]) -> Vec<(String, usize, usize)> {
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

/// The text with the hashes that have others now, each in the spelling of the old one, and how many.
pub fn rename(text: &[u8], renamed: &Renamed) -> (Vec<u8>, usize) {
    let mut changed = Vec::with_capacity(text.len());
    let (mut copied, mut count) = (0, 0);
    for (hash, at, length) in named_in(text) {
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

/// How scripts and markup write what is not a letter.
const ESCAPED: [(&[u8], char); 6] = [
    (b"\\/", '/'),
    (b"&#x2B;", '+'),
    (b"&#43;", '+'),
    (b"&#x2F;", '/'),
    (b"&#47;", '/'),
    (b"&#x3D;", '='),
];

/// So many characters of base64, and the bytes that they take as they are written.
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
        let [old, _, long] = hashes_of(b"old 0");
        let [new, _, longer] = hashes_of(b"new 1");
        assert!(old.contains('/') && new.contains('/'), "{old} {new}");
        let renamed = Renamed::from([(old.clone(), new.clone()), (long.clone(), longer.clone())]);
        let escaped = |hash: &str| hash.replace('/', "\\/");
        let text = format!(
            "<script integrity=\"{old} {long}\"> {{\"a\":\"{}\"}}",
            escaped(&old)
        );
        let (found, count) = rename(text.as_bytes(), &renamed);
        let expected = format!(
            "<script integrity=\"{new} {longer}\"> {{\"a\":\"{}\"}}",
            escaped(&new)
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
