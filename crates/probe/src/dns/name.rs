//! Pure: decodes names in answers as text, compressed or not (RFC 1035, sections 3.1, 4.1.4 and
//! 5.1).

use std::fmt::Write;

/// The largest name on the wire, its lengths included (RFC 1035, section 2.3.4).
const WIRE_BYTES_MAX: usize = 255;

/// Returns where a name ends; a pointer ends it.
pub(super) fn skip_name(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *bytes.get(at)? {
            0 => return Some(at + 1),
            length if length & 0xc0 == 0xc0 => return Some(at + 2),
            length if length & 0xc0 == 0 => at += 1 + usize::from(length),
            _ => return None,
        }
    }
}

/// Decodes the name at an offset, in lower case and without the last dot; a byte other than a
/// letter, digit, hyphen or underscore becomes `\` and three decimal digits. Pointers must lead
/// backwards, so that each name ends; `None` if one does not.
pub(super) fn name_at(bytes: &[u8], mut at: usize) -> Option<String> {
    let mut name = String::new();
    let mut wire_bytes = 1;
    let mut backwards_of = at;
    loop {
        let length = *bytes.get(at)?;
        match length & 0xc0 {
            0 if length == 0 => return Some(name),
            0 => {
                let label = bytes.get(at + 1..at + 1 + usize::from(length))?;
                wire_bytes += 1 + label.len();
                if wire_bytes > WIRE_BYTES_MAX {
                    return None;
                }
                if !name.is_empty() {
                    name.push('.');
                }
                write_label(&mut name, label);
                at += 1 + usize::from(length);
            }
            0xc0 => {
                let low = *bytes.get(at + 1)?;
                at = usize::from(u16::from_be_bytes([length & 0x3f, low]));
                if at >= backwards_of {
                    return None;
                }
                backwards_of = at;
            }
            _ => return None,
        }
    }
}

fn write_label(name: &mut String, label: &[u8]) {
    for byte in label {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => {
                name.push(byte.to_ascii_lowercase().into());
            }
            // Writing to a String cannot fail.
            _ => drop(write!(name, "\\{byte:03}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_through_pointers_and_end() {
        let bytes = b"\x01b\x07eXample\x00\x03www\xc0\x02\xc0\x11\xc0\x11\x02.\x1b\x00";
        assert_eq!(name_at(bytes, 0).as_deref(), Some("b.example"));
        assert_eq!(name_at(bytes, 11).as_deref(), Some("www.example"));
        assert_eq!(name_at(bytes, 17), None, "it leads to itself");
        assert_eq!(name_at(bytes, 19), None, "and over another");
        assert_eq!(name_at(bytes, 21).as_deref(), Some("\\046\\027"));
        assert_eq!(name_at(bytes, 24).as_deref(), Some(""));
        assert_eq!(name_at(bytes, 25), None, "beyond the end");
        let long = [&b"\x3f"[..], &[b'a'; 63]].concat();
        let longest = [&long.repeat(3)[..], b"\x3d", &[b'a'; 61], b"\x00"].concat();
        assert_eq!(longest.len(), WIRE_BYTES_MAX);
        assert_eq!(name_at(&longest, 0).map(|name| name.len()), Some(253));
        let longer = [&long.repeat(4)[..], b"\x00"].concat();
        assert_eq!(name_at(&longer, 0), None);
    }
}
