//! Base64 (RFC 4648, section 4), the encoding of bodies in HAR and Web Page Replay files.

use ::base64::Engine;
use ::base64::alphabet::STANDARD as ALPHABET;
use ::base64::engine::general_purpose::STANDARD;
use ::base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// A decoder that accepts missing padding and non-zero trailing bits in the last letter.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The letters decoded per step: a multiple of four, so that only the last piece can be partial.
const PIECE_LETTERS: usize = 4096;

/// Encodes `bytes` with padding.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes `text`, or returns `None` if it is not Base64.
///
/// Line breaks with the blanks after them are skipped, padding may be missing, and the URL-safe
/// alphabet is accepted. The text is decoded in place, one piece at a time, so that a body of gigabytes is in memory only once.
pub fn decode(text: String) -> Option<Vec<u8>> {
    let letters_end = text.trim_end().trim_end_matches('=').len();
    let mut bytes = text.into_bytes();
    bytes.truncate(letters_end);
    let (mut letters, mut is_folded) = (0, false);
    for at in 0..bytes.len() {
        // A blank within a line shows that the text is none, such as words of a text.
        is_folded = match bytes[at] {
            b'\r' | b'\n' => true,
            b'\t' | b' ' => is_folded,
            _ => false,
        };
        if is_folded {
            continue;
        }
        bytes[letters] = match bytes[at] {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        };
        letters += 1;
    }
    let (mut decoded, mut piece) = (0, [0; PIECE_LETTERS]);
    for at in (0..letters).step_by(PIECE_LETTERS) {
        let end = letters.min(at + PIECE_LETTERS);
        let count = LENIENT.decode_slice(&bytes[at..end], &mut piece).ok()?;
        bytes[decoded..decoded + count].copy_from_slice(&piece[..count]);
        decoded += count;
    }
    bytes.truncate(decoded);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn encoded_bytes_decode(bytes: Vec<u8>) {
            proptest::prop_assert_eq!(decode(encode(&bytes)), Some(bytes));
        }

        #[test]
        fn bodies_of_many_pieces_decode(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..20_000),
            line in 1_usize..10_000,
        ) {
            let text = encode(&bytes);
            let lines: Vec<&str> = (0..text.len())
                .step_by(line)
                .map(|at| &text[at..text.len().min(at + line)])
                .collect();
            proptest::prop_assert_eq!(decode(lines.join("\r\n")), Some(bytes));
        }
    }

    #[test]
    fn vectors_of_rfc_4648_section_10() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text.to_owned()).as_deref(), Some(bytes.as_bytes()));
        }
        let decode = |text: &str| decode(text.to_owned());
        for text in [
            "Zm9v\r\nYmFy",
            "Zm9v\nYmFy\n",
            "Zm9v\n\t YmFy",
            "Zm9vYmFy==",
        ] {
            assert_eq!(decode(text).as_deref(), Some(&b"foobar"[..]), "{text:?}");
        }
        assert_eq!(decode("Zh").as_deref(), Some(&b"f"[..]));
        assert_eq!(decode("-_-_"), decode("+/+/"));
        assert_eq!(decode("Zg*="), None);
        assert_eq!(decode("Zm9v YmFy"), None);
        assert_eq!(decode("Z"), None);
    }
}
