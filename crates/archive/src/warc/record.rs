//! WARC records (ISO 28500:2017, WARC 1.0 and 1.1, and their drafts 0.17 and 0.18), parsed from
//! bytes.

use bytes::{Bytes, BytesMut};

use crate::error::Damage;
use crate::exchange::header::{self, Header};
use crate::limits::{HEAD_FIELDS_MAX, WARC_HEAD_BYTES_MAX};

/// A record: its named fields and its block.
#[derive(Debug, Clone)]
pub struct Record {
    /// The record's own fields, in order.
    pub fields: Vec<Header>,
    /// The record's content, exactly `Content-Length` bytes.
    pub block: Bytes,
}

impl Record {
    /// Returns the first field called `name`, in any case, as text.
    pub fn field(&self, name: &str) -> Option<&str> {
        header::find(&self.fields, name)
    }

    /// Returns the field's value without the angle brackets that some writers put around URIs (WARC
    /// 1.0 has them in its grammar, section 4 of its errata removes them).
    pub fn uri_field(&self, name: &str) -> Option<&str> {
        let value = self.field(name)?;
        Some(
            value
                .strip_prefix('<')
                .and_then(|uri| uri.strip_suffix('>'))
                .unwrap_or(value),
        )
    }

    /// Returns `WARC-Type`.
    pub fn kind(&self) -> &str {
        self.field("WARC-Type").unwrap_or("")
    }
}

/// Parses the record at the beginning of `input`; returns it and its length.
pub fn parse(input: &Bytes) -> Result<(Record, usize), Damage> {
    const VERSION_BYTES_MAX: usize = 11; // `WARC/0.18` with its line end
    const VERSIONS: [&[u8]; 4] = [b"WARC/1.0", b"WARC/1.1", b"WARC/0.17", b"WARC/0.18"];
    let first_bytes = &input[..input.len().min(VERSION_BYTES_MAX)];
    let version_end = line_end(first_bytes, 0).ok_or(Damage::NoVersion)?;
    if !VERSIONS.contains(&trim_line(&input[..version_end])) {
        return Err(Damage::NoVersion);
    }
    let (fields, head_bytes) =
        parse_fields(input, version_end, WARC_HEAD_BYTES_MAX, Colonless::Refuse)?;
    let length = content_length(&fields)?;
    let available = (input.len() - head_bytes) as u64;
    if length > available {
        return Err(Damage::Truncated { length, available });
    }
    let block_end = head_bytes + length as usize;
    if !input[block_end..].starts_with(b"\r\n\r\n") {
        return Err(Damage::NoTrailer);
    }
    let record = Record {
        fields,
        block: input.slice(head_bytes..block_end),
    };
    for field in ["WARC-Type", "WARC-Record-ID", "WARC-Date"] {
        record.field(field).ok_or(Damage::MissingField(field))?;
    }
    Ok((record, block_end + 4))
}

fn content_length(fields: &[Header]) -> Result<u64, Damage> {
    let mut lengths = fields.iter().filter(|field| field.is("Content-Length"));
    let length = lengths
        .next()
        .ok_or(Damage::MissingField("Content-Length"))?;
    let text = String::from_utf8_lossy(&length.value).into_owned();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match (text.parse(), lengths.next()) {
        (Ok(length), None) if is_number => Ok(length),
        _ => Err(Damage::BadField {
            field: "Content-Length",
            value: text,
        }),
    }
}

/// The treatment of a header line without a colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colonless {
    /// Such a line is damage: WARC writers do not produce it.
    Refuse,
    /// Such a line is left out: some servers send it, and browsers skip it.
    Skip,
}

/// Parses fields from `start` up to and including the empty line that ends them.
///
/// Returns them and the position after that line. Lines that begin with white space continue the
/// previous one (both WARC 1.0 and old HTTP servers fold lines).
pub fn parse_fields(
    input: &Bytes,
    start: usize,
    bytes_max: usize,
    colonless: Colonless,
) -> Result<(Vec<Header>, usize), Damage> {
    let mut fields: Vec<Header> = Vec::with_capacity(16);
    let mut position = start;
    let bounded = &input[..input.len().min(start.saturating_add(bytes_max))];
    let unended = || match bounded.len() < input.len() {
        true => Damage::HeadTooLong { bytes_max },
        false => Damage::HeadCut { bytes: input.len() },
    };
    for _ in 0..=HEAD_FIELDS_MAX {
        let end = line_end(bounded, position).ok_or_else(unended)?;
        let line = input.slice(position..end);
        let line = replace_breaks(line.slice_ref(trim_line(&line)));
        if line.is_empty() {
            return Ok((fields, end));
        }
        let is_continuation = line[0] == b' ' || line[0] == b'\t';
        if is_continuation && let Some(last) = fields.last_mut() {
            append(last, line.trim_ascii());
        } else if !is_continuation && let Some(field) = parse_field(&line) {
            fields.push(field);
        } else if colonless == Colonless::Refuse {
            let cut = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
            return Err(Damage::BadHeaderLine(cut));
        }
        position = end;
    }
    Err(Damage::TooManyFields {
        fields_max: HEAD_FIELDS_MAX,
    })
}

/// Parses a field, or returns `None` if the line has no colon or nothing before it.
fn parse_field(line: &Bytes) -> Option<Header> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let name = String::from_utf8_lossy(line[..colon].trim_ascii()).into_owned();
    let value = line[colon + 1..].trim_ascii();
    let value = if value.is_empty() {
        Bytes::new()
    } else {
        line.slice_ref(value)
    };
    (!name.is_empty()).then_some(Header { name, value })
}

/// Appends a continuation line in amortised constant time per byte.
fn append(field: &mut Header, continuation: &[u8]) {
    if continuation.is_empty() {
        return;
    }
    let mut value = BytesMut::from(std::mem::take(&mut field.value));
    if !value.is_empty() {
        value.extend_from_slice(b" ");
    }
    value.extend_from_slice(continuation);
    field.value = value.freeze();
}

/// Returns the line with a space for every CR and NUL, as RFC 9110 section 5.5 requires of
/// recipients.
fn replace_breaks(line: Bytes) -> Bytes {
    if !line.iter().any(|byte| matches!(byte, b'\r' | b'\0')) {
        return line;
    }
    line.iter()
        .map(|&byte| {
            if matches!(byte, b'\r' | b'\0') {
                b' '
            } else {
                byte
            }
        })
        .collect()
}

/// Returns the position after the line that begins at `start`.
pub fn line_end(input: &[u8], start: usize) -> Option<usize> {
    input[start..]
        .iter()
        .position(|&byte| byte == b'\n')
        .map(|end| start + end + 1)
}

/// Returns a line without its CRLF or LF.
pub fn trim_line(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(fields: &str, block: &str, trailer: &str) -> Bytes {
        let head = "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x>\r\n";
        let head = format!("{head}WARC-Date: 2026-01-01T00:00:00Z\r\n{fields}\r\n");
        Bytes::from(format!("{head}{block}{trailer}"))
    }

    #[test]
    fn a_record_is_cut_out() {
        let input = record(
            "Content-Length: 3\r\nX: a\r\n  b\r\n",
            "abc",
            "\r\n\r\nWARC",
        );
        let (record, bytes) = parse(&input).unwrap();
        assert_eq!(bytes, input.len() - 4);
        assert_eq!(&record.block[..], b"abc");
        assert_eq!(record.field("x"), Some("a b"));
        assert_eq!(record.uri_field("WARC-Record-ID"), Some("urn:x"));
    }

    #[test]
    fn lengths_that_lie_are_refused() {
        let cases = [
            (
                record("Content-Length: 9\r\n", "abc", "\r\n\r\n"),
                "ends beyond",
            ),
            (
                record("Content-Length: 2\r\n", "abc", "\r\n\r\n"),
                "not followed",
            ),
            (record("Content-Length: -1\r\n", "abc", "\r\n\r\n"), "`-1`"),
            (
                record(
                    "Content-Length: 99999999999999999999\r\n",
                    "abc",
                    "\r\n\r\n",
                ),
                "value",
            ),
            (
                record(
                    "Content-Length: 3\r\nContent-Length: 4\r\n",
                    "abc",
                    "\r\n\r\n",
                ),
                "value",
            ),
            (record("", "abc", "\r\n\r\n"), "missing"),
            (
                record("no colon\r\nContent-Length: 3\r\n", "abc", "\r\n\r\n"),
                "no colon",
            ),
            (Bytes::from_static(b"WARC/0.9\r\n\r\n"), "WARC/1.1"),
        ];
        for (input, expected) in cases {
            let message = parse(&input).unwrap_err().to_string();
            assert!(message.contains(expected), "{message} lacks {expected}");
        }
    }

    #[test]
    fn endless_heads_are_refused() {
        let long = Bytes::from(format!("{}\r\n\r\n", "a".repeat(100)));
        let damage = parse_fields(&long, 0, 50, Colonless::Skip).unwrap_err();
        assert_eq!(damage, Damage::HeadTooLong { bytes_max: 50 });
        let cut = Bytes::from("HTTP/1.1 200 OK\r\nA: b");
        let damage = parse_fields(&cut, 17, 50, Colonless::Skip).unwrap_err();
        assert_eq!(damage, Damage::HeadCut { bytes: 21 });
        let many = Bytes::from("a: b\r\n".repeat(HEAD_FIELDS_MAX + 1));
        let damage = parse_fields(&many, 0, 1 << 20, Colonless::Skip).unwrap_err();
        assert_eq!(
            damage,
            Damage::TooManyFields {
                fields_max: HEAD_FIELDS_MAX
            }
        );
    }
}
