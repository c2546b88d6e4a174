//! HTTP messages in WARC blocks, which have the form of HTTP/1.1 whatever protocol they were sent
//! over.

use std::ops::Range;

use bytes::{Bytes, BytesMut};

use crate::budget::ReadBudget;
use crate::digest::{self, Verdict};
use crate::error::Damage;
use crate::exchange::header::Header;
use crate::limits::HTTP_HEAD_BYTES_MAX;
use crate::warc::record::{Colonless, line_end, parse_fields, trim_line};

/// The start line, fields and body of a request or response.
#[derive(Debug, Clone)]
pub struct Message {
    /// The start line without its line end.
    pub start_line: String,
    /// The fields in order, as sent; lines without a colon are left out.
    pub headers: Vec<Header>,
    /// The bytes after the head, as recorded.
    pub raw_body: Bytes,
}

/// The status line of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusLine {
    /// The protocol (`http/1.1`, `h2`, ...) that the line states.
    pub protocol: &'static str,
    /// The status code, 100 to 999.
    pub status: u16,
    /// The reason phrase; empty if there is none.
    pub reason: String,
}

/// Splits a block into start line, fields and body.
pub fn parse(block: &Bytes) -> Result<Message, Damage> {
    let bounded = &block[..block.len().min(HTTP_HEAD_BYTES_MAX)];
    let end = match line_end(bounded, 0) {
        None if bounded.len() < block.len() => {
            let bytes_max = HTTP_HEAD_BYTES_MAX;
            return Err(Damage::HeadTooLong { bytes_max });
        }
        found => found.unwrap_or(block.len()),
    };
    let start_line = String::from_utf8_lossy(trim_line(&block[..end])).into_owned();
    if end >= block.len() {
        // Some writers omit the empty line after the head if there is no body.
        return Ok(Message {
            start_line,
            headers: Vec::new(),
            raw_body: Bytes::new(),
        });
    }
    let (headers, head_bytes) = parse_fields(block, end, HTTP_HEAD_BYTES_MAX, Colonless::Skip)?;
    Ok(Message {
        start_line,
        headers,
        raw_body: block.slice(head_bytes..),
    })
}

/// Parses a response and its status line. Interim responses, which some writers store before the
/// final one in the same block, are skipped; so are up to four bytes before it, as in Chromium.
pub fn parse_response(block: &Bytes) -> Result<(Message, StatusLine), Damage> {
    const SKIPPED_BYTES_MAX: usize = 4;
    let begin = (0..=SKIPPED_BYTES_MAX.min(block.len()))
        .find(|&begin| begins_with_version(&block[begin..]));
    let mut message = parse(&block.slice(begin.unwrap_or(0)..))?;
    let mut line = parse_status_line(&message.start_line)?;
    while line.status < 200 && begins_with_version(&message.raw_body) {
        message = parse(&message.raw_body)?;
        line = parse_status_line(&message.start_line)?;
    }
    Ok((message, line))
}

/// Whether `block` begins with the version of a status line, in any case.
pub fn begins_with_version(block: &[u8]) -> bool {
    const NAME: &[u8] = b"HTTP/";
    block.len() >= NAME.len() && block[..NAME.len()].eq_ignore_ascii_case(NAME)
}

/// Parses the head of a response, including the empty line that ends it, into its status line and
/// fields.
pub fn response_head(head: &Bytes) -> Result<(StatusLine, Vec<Header>), Damage> {
    let message = parse(head)?;
    Ok((parse_status_line(&message.start_line)?, message.headers))
}

/// Parses `HTTP/1.1 200 OK` as Chromium does (`HttpResponseHeaders::ParseStatusLine`): the version
/// in any case, any number of spaces after it, and the reason with its space optional. Unlike
/// Chromium, which assumes 200, it requires a status of three digits.
pub fn parse_status_line(line: &str) -> Result<StatusLine, Damage> {
    let broken = || Damage::Http(format!("its status line is `{}`", cut(line)));
    let (version, rest) = line.split_once(' ').ok_or_else(broken)?;
    let protocol = parse_protocol(version).ok_or_else(broken)?;
    let rest = rest.trim_start_matches(' ');
    let digits_end = rest.find(|letter: char| !letter.is_ascii_digit());
    let (status, reason) = rest.split_at(digits_end.unwrap_or(rest.len()));
    match status.parse() {
        Ok(status) if rest.starts_with(|first| first != '0') && (100..1000).contains(&status) => {
            Ok(StatusLine {
                protocol,
                status,
                reason: reason.trim().to_owned(),
            })
        }
        _ => Err(broken()),
    }
}

/// Returns the protocol of a version in a status line or `WARC-Protocol`. Converters write a HAR's
/// `h2` there; any other version of HTTP counts as 1.1 from 1.1 on, and as 1.0 below or without
/// one.
pub fn parse_protocol(version: &str) -> Option<&'static str> {
    let version = version.to_ascii_lowercase();
    let number = match version.as_str() {
        "h2" | "h3" => &version[1..],
        name => name.strip_prefix("http")?,
    };
    Some(match number.strip_prefix('/').unwrap_or(number) {
        "2" | "2.0" => "h2",
        "3" | "3.0" => "h3",
        "" | "1.0" => "http/1.0",
        other => {
            let (major, minor) = other.split_once('.')?;
            let is_number = |part: &str| part.len() == 1 && part.as_bytes()[0].is_ascii_digit();
            let is_version = is_number(major) && is_number(minor);
            match is_version.then_some((major, minor))? {
                ("0", _) => "http/1.0",
                _ => "http/1.1",
            }
        }
    })
}

/// Parses the method of `GET /path HTTP/1.1`.
pub fn parse_method(line: &str) -> Result<String, Damage> {
    let method = line.split(' ').next().unwrap_or("");
    let is_method = !method.is_empty()
        && method.len() <= 40
        && method
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    let is_request = line.split(' ').count() >= 2;
    if is_method && is_request {
        Ok(method.to_owned())
    } else {
        Err(Damage::Http(format!("its request line is `{}`", cut(line))))
    }
}

/// Returns the body of `message` without transfer coding.
///
/// Some recorders store the `Transfer-Encoding` field of a body that they have already decoded. So
/// the body counts as chunked only if it begins with a chunk's size line; if it does but is invalid
/// later, only a payload digest of the recorded bytes proves that it was not chunked. A copy made
/// from several chunks is spent from `budget`.
pub fn decode_body(
    message: &Message,
    payload_digest: Option<&str>,
    budget: &mut ReadBudget,
) -> Result<Bytes, Damage> {
    if !looks_chunked(&message.headers, &message.raw_body) {
        return Ok(message.raw_body.clone());
    }
    let is_loose = !is_size_line_strict(&message.raw_body);
    decode_chunks(&message.raw_body, budget).or_else(|damage| match payload_digest {
        // A decoded body may begin with a number on a line of its own.
        _ if is_loose && damage.is_message_damage() => Ok(message.raw_body.clone()),
        Some(recorded) if digest::compare(recorded, &message.raw_body) == Verdict::Equal => {
            Ok(message.raw_body.clone())
        }
        _ => Err(damage),
    })
}

/// Whether the fields declare `body` chunked and it begins with a chunk. As in Chromium, any of the
/// codings in any of the fields may be `chunked`.
pub fn looks_chunked(headers: &[Header], body: &[u8]) -> bool {
    let fields = headers
        .iter()
        .filter(|header| header.is("transfer-encoding"));
    let mut codings = fields.flat_map(|header| header.text().unwrap_or_default().split(','));
    codings.any(|coding| coding.trim().eq_ignore_ascii_case("chunked"))
        && chunk_size(body, 0, true).is_some()
}

/// Decodes chunked transfer coding (RFC 9112, section 7.1); a body of one chunk is not copied.
///
/// The chunks are scanned twice, because a list of them would take five times the bytes of the
/// smallest.
fn decode_chunks(raw: &Bytes, budget: &mut ReadBudget) -> Result<Bytes, Damage> {
    let (mut only, mut count, mut body_bytes) = (0..0, 0, 0);
    for chunk in Chunks::compute(raw) {
        only = chunk?;
        count += 1;
        body_bytes += only.len();
    }
    if count < 2 {
        return Ok(raw.slice(only));
    }
    budget.spend_memory(body_bytes as u64)?;
    let mut body = BytesMut::with_capacity(body_bytes);
    for chunk in Chunks::compute(raw) {
        body.extend_from_slice(&raw[chunk?]);
    }
    Ok(body.freeze())
}

/// An iterator over the position of each chunk's data, up to the last one, which is empty. Trailer
/// fields after it are not replayed.
struct Chunks<'a> {
    raw: &'a [u8],
    /// Whether the first size line is malformed but readable, so that others may be too.
    is_loose: bool,
    position: usize,
    is_over: bool,
}

impl<'a> Chunks<'a> {
    fn compute(raw: &'a [u8]) -> Self {
        Self {
            raw,
            is_loose: !is_size_line_strict(raw),
            position: 0,
            is_over: false,
        }
    }

    fn chunk_at_position(&self) -> Option<Range<usize>> {
        let (size, begin) = chunk_size(self.raw, self.position, self.is_loose)?;
        if size == 0 {
            return Some(begin..begin);
        }
        let end = begin.checked_add(size)?;
        let behind = self.raw.get(end..)?;
        let follows = behind.starts_with(b"\r\n") || behind.starts_with(b"\n");
        follows.then_some(begin..end)
    }
}

impl Iterator for Chunks<'_> {
    type Item = Result<Range<usize>, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let offset = self.position as u64;
        let found = self.chunk_at_position();
        self.is_over = found.as_ref().is_none_or(Range::is_empty);
        match found {
            None => Some(Err(Damage::Chunked { offset })),
            Some(chunk) if chunk.is_empty() => None,
            Some(chunk) => {
                let is_bare = self.raw[chunk.end] == b'\n';
                self.position = chunk.end + if is_bare { 1 } else { 2 };
                Some(Ok(chunk))
            }
        }
    }
}

/// Whether `raw` begins with a well-formed size line (RFC 9112, section 7.1).
fn is_size_line_strict(raw: &[u8]) -> bool {
    let end = raw.iter().position(|&byte| byte == b'\n');
    let begins = chunk_size(raw, 0, false).is_some();
    begins && end.is_some_and(|end| raw[..end].ends_with(b"\r"))
}

/// Returns the size of the chunk whose size line begins at `start`, and the start of its data. The
/// line may end with a line feed alone, as in browsers; if `may_be_loose`, white space or `0x` may
/// precede the digits, as with C's `strtol`, which recorders use.
fn chunk_size(raw: &[u8], start: usize, may_be_loose: bool) -> Option<(usize, usize)> {
    const SIZE_LINE_BYTES_MAX: usize = 4096; // a size is up to 16 digits; the rest is extensions
    let window = &raw[start..raw.len().min(start + SIZE_LINE_BYTES_MAX)];
    let end = window.iter().position(|&byte| byte == b'\n')?;
    let mut digits = window[..end]
        .split(|&byte| byte == b';')
        .next()?
        .trim_ascii_end();
    if may_be_loose {
        digits = digits.trim_ascii_start();
        let prefix = digits.strip_prefix(b"0x").or(digits.strip_prefix(b"0X"));
        digits = prefix.unwrap_or(digits);
    }
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let size = usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    Some((size, start + end + 1))
}

fn cut(line: &str) -> String {
    line.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(raw: &'static str, payload_digest: Option<&str>) -> Result<Bytes, Damage> {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let message = parse(&Bytes::from(format!("{head}{raw}"))).unwrap();
        let mut budget = ReadBudget::for_file(raw.len() as u64);
        decode_body(&message, payload_digest, &mut budget)
    }

    #[test]
    fn chunks_are_joined() {
        assert_eq!(
            decode("3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", None).unwrap(),
            "abcde"
        );
        assert_eq!(decode("0\r\n\r\n", None).unwrap(), "");
    }

    #[test]
    fn size_lines_that_recorders_read_are_undone() {
        for raw in [
            "0x5\r\nhello\r\n0x0\r\n\r\n",
            " 5\r\nhello\r\n 0\r\n\r\n",
            "\t0X5;x=y\r\nhello\r\n0\r\n\r\n",
        ] {
            assert_eq!(decode(raw, None).unwrap(), "hello", "{raw}");
        }
        for raw in [
            "-5\r\nhello\r\n0\r\n\r\n",
            "0x\r\nhello",
            " 5\r\nhello world",
            "0x5\nhello\n",
        ] {
            assert_eq!(decode(raw, None).unwrap(), raw);
        }
        // After well-formed size lines, a malformed one is damage.
        let damaged = "3\r\nabc\r\n 2\r\nde\r\n0\r\n\r\n";
        assert!(decode(damaged, None).is_err());
    }

    #[test]
    fn bodies_that_were_decoded_before_stay() {
        assert_eq!(decode("<html>", None).unwrap(), "<html>");
        assert_eq!(decode("", None).unwrap(), "");
    }

    #[test]
    fn broken_chunks_are_refused_unless_a_digest_vouches_for_them() {
        for raw in [
            "5\r\nabc\r\n0\r\n\r\n",
            "3\r\nabc\r\n",
            "3\r\nabcde",
            "ffffffffffffffff\r\na",
        ] {
            assert!(
                matches!(decode(raw, None), Err(Damage::Chunked { .. })),
                "{raw}"
            );
            let digest = digest::sha1_base32(&[raw.as_bytes()]);
            assert_eq!(decode(raw, Some(&digest)).unwrap(), raw);
        }
    }

    #[test]
    fn status_lines_are_read_leniently_but_not_wrongly() {
        let status = |line| parse_status_line(line).map(|line| (line.status, line.reason));
        assert_eq!(status("HTTP/1.1 200 OK").unwrap(), (200, "OK".to_owned()));
        assert_eq!(status("HTTP/1.1 200").unwrap(), (200, String::new()));
        assert_eq!(status("HTTP/2 404 ").unwrap(), (404, String::new()));
        for (line, protocol) in [
            ("http/1.1 200 OK", "http/1.1"),
            ("Http/1.2  200 OK", "http/1.1"),
            ("HTTP/0.9 200", "http/1.0"),
            ("HTTP 200 OK", "http/1.0"),
            ("HTTP/1.0   200\tOK", "http/1.0"),
            ("h2 200 No Reason", "h2"),
            ("HTTP/3 200OK", "h3"),
        ] {
            let read = parse_status_line(line).unwrap();
            assert_eq!((read.status, read.protocol), (200, protocol), "{line}");
        }
        for line in [
            "",
            "HTTP/1.1",
            "HTTP/1.1 20",
            "HTTP/1.1 099 x",
            "HTTP/1.1 0200 OK",
            "HTTP/1.1 2000",
            "HTTP/1.1 0 ",
            "ICY 200 OK",
            "HTTP/1.1 +20",
            "HTTP/one 200 OK",
            "HTTP/11 200 OK",
            "<html>old server</html>",
        ] {
            assert!(status(line).is_err(), "{line}");
        }
    }
}
