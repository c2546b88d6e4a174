//! Edits texts in their own charset, so that unedited bytes stay as they are.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use memchr::memmem;

use crate::error::Reason;

/// The length of a document's beginning that browsers search for a charset (WHATWG HTML, "prescan a
/// byte stream"), bytes.
pub const PRESCAN_BYTES: usize = 1024;

/// Returns the charset of a text: that of its byte order mark, else of its fields, else of a
/// declaration inside it, which `declared` finds; else UTF-8 if the bytes are valid, else
/// windows-1252, in which any bytes are.
pub fn detect_charset(
    content_type: Option<&str>,
    body: &[u8],
    declared: impl FnOnce(&[u8]) -> Option<&'static Encoding>,
) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(body) {
        return encoding;
    }
    let named = content_type.and_then(label_in);
    let guess = || match std::str::from_utf8(body) {
        Ok(_) => UTF_8,
        Err(_) => WINDOWS_1252,
    };
    named.or_else(|| declared(body)).unwrap_or_else(guess)
}

/// Returns the charset in a media type's parameter.
pub fn label_in(content_type: &str) -> Option<&'static Encoding> {
    let at = content_type.to_ascii_lowercase().find("charset=")?;
    let label = content_type[at + "charset=".len()..].trim_start_matches(['"', '\'', ' ']);
    let end = label
        .find([';', '"', '\'', ' ', ','])
        .unwrap_or(label.len());
    Encoding::for_label(&label.as_bytes()[..end])
}

/// Returns the charset in a style sheet's first rule (CSS Syntax 3, section 3.2).
pub fn declared_in_css(body: &[u8]) -> Option<&'static Encoding> {
    let rest = body.strip_prefix(b"@charset \"")?;
    let rest = &rest[..rest.len().min(PRESCAN_BYTES)];
    let end = rest.iter().position(|byte| *byte == b'"')?;
    ascii_compatible(Encoding::for_label(&rest[..end])?)
}

/// Returns the meaning of a declaration that was readable as ASCII, so that it cannot be UTF-16.
pub fn ascii_compatible(encoding: &'static Encoding) -> Option<&'static Encoding> {
    let is_utf_16 = encoding == UTF_16LE || encoding == UTF_16BE;
    Some(if is_utf_16 { UTF_8 } else { encoding })
}

/// Decodes the whole text, if encoding it again gives the same bytes.
pub fn decode<'a>(encoding: &'static Encoding, body: &'a [u8]) -> Result<Cow<'a, str>, Reason> {
    let refused = || {
        format!(
            "its bytes are not text in {}, so that it would be damaged; correct its charset with a \
             `header` edit or record it again",
            encoding.name()
        )
    };
    let decoded = encoding.decode_without_bom_handling_and_without_replacement(body);
    let text = decoded.ok_or_else(refused)?;
    let again = encode(encoding, &text).map_err(|_| refused())?;
    if *again != *body {
        return Err(refused());
    }
    Ok(text)
}

/// Encodes the text; fails if the charset lacks a character.
pub fn encode<'a>(encoding: &'static Encoding, text: &'a str) -> Result<Cow<'a, [u8]>, Reason> {
    if encoding == UTF_16LE {
        return Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
    }
    if encoding == UTF_16BE {
        return Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
    }
    let (bytes, _, has_lost) = encoding.encode(text);
    if has_lost {
        return Err(format!(
            "{} lacks a character of `{:.60}`; write it as an escape",
            encoding.name(),
            text
        ));
    }
    Ok(bytes)
}

/// Replaces every `text` by `with` and returns the number of replacements. Invalid bytes stay, if
/// the charset allows to tell them apart.
pub fn replace(
    encoding: &'static Encoding,
    body: &[u8],
    text: &str,
    with: &str,
) -> Result<(Vec<u8>, usize), Reason> {
    if encoding == UTF_8 {
        return Ok(replace_bytes(body, text.as_bytes(), with.as_bytes()));
    }
    // A byte of a longer character may look like a letter.
    let decoded = decode(encoding, body)?;
    let found = decoded.matches(text).count();
    let replaced = decoded.replace(text, with);
    Ok((encode(encoding, &replaced)?.into_owned(), found))
}

/// Replaces every `old` by `new` and returns the number of replacements.
pub fn replace_bytes(body: &[u8], old: &[u8], new: &[u8]) -> (Vec<u8>, usize) {
    let mut replaced = Vec::with_capacity(body.len() + new.len());
    let (mut copied, mut found) = (0, 0);
    for at in memmem::find_iter(body, old) {
        replaced.extend_from_slice(&body[copied..at]);
        replaced.extend_from_slice(new);
        copied = at + old.len();
        found += 1;
    }
    replaced.extend_from_slice(&body[copied..]);
    (replaced, found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{GB18030, SHIFT_JIS, WINDOWS_1253};
    use proptest::prelude::*;

    #[test]
    fn a_charset_is_where_browsers_look_for_it() {
        let none = |_: &[u8]| None;
        let of = |kind, body| detect_charset(kind, body, none).name();
        assert_eq!(
            of(Some("text/html; charset=\"Shift_JIS\""), b"x"),
            "Shift_JIS"
        );
        assert_eq!(
            of(Some("text/html;CHARSET=latin1; a=b"), b"x"),
            "windows-1252"
        );
        assert_eq!(
            of(Some("text/html; charset=latin1"), b"\xef\xbb\xbfx"),
            "UTF-8"
        );
        assert_eq!(of(Some("text/html"), "ä".as_bytes()), "UTF-8");
        assert_eq!(of(None, b"\xe4"), "windows-1252");
        assert_eq!(of(None, b"\xff\xfea\0"), "UTF-16LE");
        assert_eq!(declared_in_css(b"@charset \"gb18030\";").unwrap(), GB18030);
        assert_eq!(declared_in_css(b"@charset \"utf-16\";").unwrap(), UTF_8);
        assert_eq!(declared_in_css(b" @charset \"gb18030\";"), None);
    }

    #[test]
    fn a_trail_byte_is_no_letter() {
        // U+8868 is 0x95 0x5C in Shift_JIS: its second byte looks like a backslash.
        let body = b"\x95\x5cA\\";
        let (replaced, found) = replace(SHIFT_JIS, body, "\\", "/").unwrap();
        assert_eq!((&*replaced, found), (&b"\x95\x5cA/"[..], 1));
    }

    #[test]
    fn invalid_text_is_refused_or_kept() {
        assert!(replace(WINDOWS_1253, b"a\xff", "a", "b").is_err());
        let (replaced, found) = replace(UTF_8, b"a\xff", "a", "b").unwrap();
        assert_eq!((&*replaced, found), (&b"b\xff"[..], 1));
        assert!(replace(WINDOWS_1252, b"a\xff", "a", "\u{4e00}").is_err());
        assert!(decode(UTF_16LE, b"a\0b").is_err());
        // U+2252 twice: encoding gives 0x81 0xE0 for both.
        assert!(decode(SHIFT_JIS, b"\x81\xe0").is_ok());
        assert!(decode(SHIFT_JIS, b"\x87\x90").is_err());
    }

    proptest! {
        #[test]
        fn decoded_text_encodes_to_the_same_bytes(body: Vec<u8>) {
            for encoding in [UTF_8, UTF_16LE, UTF_16BE, SHIFT_JIS, GB18030, WINDOWS_1252] {
                if let Ok(text) = decode(encoding, &body) {
                    prop_assert_eq!(&*encode(encoding, &text).unwrap(), &*body);
                }
            }
        }

        #[test]
        fn replacing_bytes_is_replacing_text(body in "[abc]{0,20}", old in "[ab]{1,3}") {
            let (replaced, found) = replace_bytes(body.as_bytes(), old.as_bytes(), b"xy");
            prop_assert_eq!(replaced, body.replace(&old, "xy").into_bytes());
            prop_assert_eq!(found, body.matches(&old).count());
        }
    }
}
