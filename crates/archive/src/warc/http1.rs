//! HTTP messages as WARC blocks hold them: HTTP/1.1 form, whatever they were sent over.

use std::ops::Range;

use bytes::{Bytes, BytesMut};

use crate::budget::ReadBudget;
use crate::digest::{self, Verdict};
use crate::error::Damage;
use crate::exchange::header::{self, Header};
use crate::limits::HTTP_HEAD_BYTES_MAX;
use crate::warc::record::{Colonless, line_end, parse_fields, trim_line};

/// A request's or response's start line, fields and body.
#[derive(Debug, Clone)]
pub struct Message {
    /// Without its line end.
    pub start_line: String,
    /// In order, as sent; lines without a colon are left out.
    pub headers: Vec<Header>,
    /// What follows the head, as it stands in the record.
    pub raw_body: Bytes,
}

/// The status line of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusLine {
    /// `http/1.1`, `h2`, ... by the line alone.
    pub protocol: &'static str,
    /// 100 to 999.
    pub status: u16,
    /// Empty where there is none.
    pub reason: String,
}

/// Splits a block into its parts.
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
        // A head without its empty line: some writers cut it off where there is no body.
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

/// Splits a response and reads its status line. Some writers store the interim responses before the
/// final one in the same block; these are passed over.
pub fn parse_response(block: &Bytes) -> Result<(Message, StatusLine), Damage> {
    let mut message = parse(block)?;
    let mut line = parse_status_line(&message.start_line)?;
    while line.status < 200 && begins_with_version(&message.raw_body) {
        message = parse(&message.raw_body)?;
        line = parse_status_line(&message.start_line)?;
    }
    Ok((message, line))
}

/// Whether a status line with a version follows, in any case.
pub fn begins_with_version(block: &[u8]) -> bool {
    const NAME: &[u8] = b"HTTP/";
    block.len() >= NAME.len() && block[..NAME.len()].eq_ignore_ascii_case(NAME)
}

/// Reads the head of a response, with the empty line that ends it: its status line and its fields
/// as they stand in it.
pub fn response_head(head: &Bytes) -> Result<(StatusLine, Vec<Header>), Damage> {
    let message = parse(head)?;
    Ok((parse_status_line(&message.start_line)?, message.headers))
}

/// Reads `HTTP/1.1 200 OK` as Chromium does (`HttpResponseHeaders::ParseStatusLine`): the version in
/// any case, any number of spaces behind it, and the reason and its space may lack. Only a status of
/// three digits is taken, where Chromium makes up the status 200.
pub fn parse_status_line(line: &str) -> Result<StatusLine, Damage> {
    let broken = || Damage::Http(format!("its status line is `{}`", cut(line)));
    let (version, rest) = line.split_once(' ').ok_or_else(broken)?;
    let protocol = protocol_of(version).ok_or_else(broken)?;
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

/// The protocol of a version, as status lines and `WARC-Protocol` have it. Converters write a HAR's `h2` there; any other version
/// of HTTP is 1.1 from 1.1 on and 1.0 before it, and so is none.
pub fn protocol_of(version: &str) -> Option<&'static str> {
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

/// Reads the method of `GET /path HTTP/1.1`.
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

/// The body of `message` with its transfer coding undone.
///
/// Some recorders store the `Transfer-Encoding` field of a body that they have already decoded.
/// So the body counts as chunked when it begins with a chunk's size line; when it does and breaks
/// later, only a payload digest over the bytes as they stand proves that they were meant so.
/// What is joined of several chunks is taken from `budget`.
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
        // A body that was decoded may begin with a number in a line of its own.
        _ if is_loose && damage.is_of_message() => Ok(message.raw_body.clone()),
        Some(recorded) if digest::compare(recorded, &message.raw_body) == Verdict::Equal => {
            Ok(message.raw_body.clone())
        }
        _ => Err(damage),
    })
}

/// Whether the fields say that `body` is chunked and it begins like that.
pub fn looks_chunked(headers: &[Header], body: &[u8]) -> bool {
    let coding = header::find(headers, "transfer-encoding").unwrap_or("");
    let last_coding = coding.rsplit(',').next().unwrap_or("").trim();
    last_coding.eq_ignore_ascii_case("chunked") && chunk_size(body, 0, true).is_some()
}

/// Undoes chunked transfer coding (RFC 9112, section 7.1); a body of one chunk is not copied.
///
/// The chunks are gone through twice: a list of them would take five times the bytes of the smallest.
fn decode_chunks(raw: &Bytes, budget: &mut ReadBudget) -> Result<Bytes, Damage> {
    let (mut only, mut count, mut body_bytes) = (0..0, 0, 0);
    for chunk in Chunks::of(raw) {
        only = chunk?;
        count += 1;
        body_bytes += only.len();
    }
    if count < 2 {
        return Ok(raw.slice(only));
    }
    budget.keep(body_bytes as u64)?;
    let mut body = BytesMut::with_capacity(body_bytes);
    for chunk in Chunks::of(raw) {
        body.extend_from_slice(&raw[chunk?]);
    }
    Ok(body.freeze())
}

/// Where the data of each chunk stand, up to the last one, which is empty: trailer fields may follow
/// it, and nothing of them is replayed.
struct Chunks<'a> {
    raw: &'a [u8],
    /// Whether the first size line is not as it should be, so that others may be like it.
    is_loose: bool,
    position: usize,
    is_over: bool,
}

impl<'a> Chunks<'a> {
    fn of(raw: &'a [u8]) -> Self {
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

/// Whether the first line of `raw` is one of a chunk as it should be (RFC 9112, section 7.1).
fn is_size_line_strict(raw: &[u8]) -> bool {
    let end = raw.iter().position(|&byte| byte == b'\n');
    let begins = chunk_size(raw, 0, false).is_some();
    begins && end.is_some_and(|end| raw[..end].ends_with(b"\r"))
}

/// The size of the chunk whose size line begins at `start`, and where its data begins. The line may
/// end with a line feed alone, as browsers read it; where it may be loose, white space or `0x` may
/// stand before the digits, as C's `strtol` reads it, with which recorders do.
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

    fn body_of(raw: &'static str, payload_digest: Option<&str>) -> Result<Bytes, Damage> {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let message = parse(&Bytes::from(format!("{head}{raw}"))).unwrap();
        let mut budget = ReadBudget::for_file(raw.len() as u64);
        decode_body(&message, payload_digest, &mut budget)
    }

    #[test]
    fn chunks_are_joined() {
        assert_eq!(
            body_of("3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", None).unwrap(),
            "abcde"
        );
        assert_eq!(body_of("0\r\n\r\n", None).unwrap(), "");
    }

    #[test]
    fn size_lines_that_recorders_read_are_undone() {
        for raw in [
            "0x5\r\nhello\r\n0x0\r\n\r\n",
            " 5\r\nhello\r\n 0\r\n\r\n",
            "\t0X5;x=y\r\nhello\r\n0\r\n\r\n",
        ] {
            assert_eq!(body_of(raw, None).unwrap(), "hello", "{raw}");
        }
        for raw in [
            "-5\r\nhello\r\n0\r\n\r\n",
            "0x\r\nhello",
            " 5\r\nhello world",
            "0x5\nhello\n",
        ] {
            assert_eq!(body_of(raw, None).unwrap(), raw);
        }
        // Among lines that are as they should be, one that is not is damage.
        let damaged = "3\r\nabc\r\n 2\r\nde\r\n0\r\n\r\n";
        assert!(body_of(damaged, None).is_err());
    }

    #[test]
    fn bodies_that_were_decoded_before_stay() {
        assert_eq!(body_of("<html>", None).unwrap(), "<html>");
        assert_eq!(body_of("", None).unwrap(), "");
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
                matches!(body_of(raw, None), Err(Damage::Chunked { .. })),
                "{raw}"
            );
            let digest = digest::sha1_base32(&[raw.as_bytes()]);
            assert_eq!(body_of(raw, Some(&digest)).unwrap(), raw);
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
