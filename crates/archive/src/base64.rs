//! Base64 (RFC 4648, section 4), as HAR and Web Page Replay hold bodies.

use ::base64::Engine;
use ::base64::alphabet::STANDARD as ALPHABET;
use ::base64::engine::general_purpose::STANDARD;
use ::base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Padding may lack, and the last letter may have bits that nothing needs.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// With padding.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Line breaks are passed over, padding may lack, and the alphabet may be that of URLs; none for
/// anything else.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let plain = |byte: u8| match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    };
    let text = text.trim_end().trim_end_matches('=').bytes();
    let text: Vec<u8> = text
        .filter(|byte| !b"\r\n".contains(byte))
        .map(plain)
        .collect();
    LENIENT.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn what_is_encoded_decodes(bytes: Vec<u8>) {
            proptest::prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
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
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        for text in ["Zm9v\r\nYmFy", "Zm9v\nYmFy\n", "Zm9vYmFy=="] {
            assert_eq!(decode(text).as_deref(), Some(&b"foobar"[..]), "{text:?}");
        }
        assert_eq!(decode("Zh").as_deref(), Some(&b"f"[..]));
        assert_eq!(decode("-_-_"), decode("+/+/"));
        assert_eq!(decode("Zg*="), None);
        assert_eq!(decode("Z"), None);
    }
}
