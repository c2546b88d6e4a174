//! Checks whether an exchange is complete, after every import and every read.
//!
//! What a message declares is compared with its content: the length, the content coding. An
//! incomplete body would be replayed as if it were complete, so its exchange is left out; what can
//! be corrected is corrected and noted.

use std::collections::HashSet;
use std::io::{ErrorKind, Read};

use brotli::enc::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};
use bytes::Bytes;
use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

use crate::budget::ReadBudget;
use crate::coding;
use crate::exchange::Exchange;
use crate::exchange::header::Header;
use crate::url::Url;

/// The bytes of a body that are inspected to detect a text.
const SNIFF_BYTES: usize = 4096;
/// The bound on what a decoder reads and yields, before it fails, from content that only resembles
/// its coding.
const FALSE_MATCH_BYTES_MAX: u64 = 256;
/// Magic numbers of files that servers send, and of other codings: a coded body begins like one of
/// them once in millions.
const FILE_MAGIC: &[&[u8]] = &[
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"RIFF",
    b"wOF2",
    b"wOFF",
    b"OTTO",
    b"\0\x01\0\0",
    b"\0\0\x01\0",
    b"\0asm",
    b"%PDF",
    b"OggS",
    b"\x1a\x45\xdf\xa3",
    b"PK\x03\x04",
    b"\x1f\x8b\x08",
    b"\x28\xb5\x2f\xfd",
];
const ZSTD_MAGIC: &[u8] = b"\x28\xb5\x2f\xfd";
const BUFFER_BYTES: usize = 16 << 10;

const PARTIAL_CONTENT: u16 = 206;

pub const LONE_NOT_MODIFIED: &str = "it has the status 304 and no body, which the browser had already; \
                                      record it with an empty cache";

/// Corrects `exchange` where possible and returns what was changed; the error states why it is
/// incomplete.
pub fn check(exchange: &mut Exchange, budget: &mut ReadBudget) -> Result<Option<String>, String> {
    if let Some(reason) = exchange.response_header("non-authoritative-reason") {
        return Err(format!(
            "the browser made this answer itself, and nothing of it was sent ({reason:.100})"
        ));
    }
    if exchange.method == "CONNECT" {
        return Err(
            "it opened a tunnel through a proxy, and asked the site for nothing".to_owned(),
        );
    }
    let is_without_body = exchange.method == "HEAD" || matches!(exchange.status, 204 | 304);
    if is_without_body || exchange.status < 200 {
        return Ok(None);
    }
    let mut end = None;
    let codings = drop_absent_codings(exchange, budget, &mut end);
    if codings.is_some() {
        return Ok(codings);
    }
    let found = exchange.body.len() as u64;
    let Some(declared) = declared_bytes(exchange) else {
        if let Some(range) = parse_range_bytes(exchange).filter(|range| found < *range) {
            return Err(format!(
                "its body has {found} of the {range} bytes of its range"
            ));
        }
        return check_coded(exchange, end, budget).map(|()| None);
    };
    if found < declared {
        return Err(format!("its body has {found} of {declared} bytes"));
    }
    if found == declared {
        return Ok(None);
    }
    // Exactly so many bytes are the body (RFC 9112, section 6.3); what follows is another message.
    exchange.body.truncate(declared as usize);
    Ok(Some(format!(
        "its body has {declared} bytes, and what followed them, {} bytes, is left out",
        found - declared
    )))
}

/// Marks the `exchanges` with status 304 whose URL has no other response: they would answer a
/// browser that has nothing cached.
pub fn find_lone_not_modified(exchanges: &[Exchange]) -> Vec<bool> {
    const NOT_MODIFIED: u16 = 304;
    if exchanges
        .iter()
        .all(|exchange| exchange.status != NOT_MODIFIED)
    {
        return vec![false; exchanges.len()];
    }
    let whole = exchanges
        .iter()
        .filter(|exchange| exchange.status != NOT_MODIFIED);
    let urls: HashSet<&Url> = whole.map(|exchange| &exchange.url).collect();
    let is_alone = |each: &Exchange| each.status == NOT_MODIFIED && !urls.contains(&each.url);
    exchanges.iter().map(is_alone).collect()
}

/// Sets `Content-Length`, if present, to the body's length.
pub fn correct_length(headers: &mut [Header], body: &[u8]) {
    let length = Bytes::from(body.len().to_string());
    let lengths = headers
        .iter_mut()
        .filter(|header| header.is("content-length"));
    lengths.for_each(|header| header.value = length.clone());
}

/// Returns the length that the message declares for the body as stored, or `None` if it does not
/// apply: chunked bodies end by themselves, and a recorder that decoded the body leaves the coded
/// length.
fn declared_bytes(exchange: &Exchange) -> Option<u64> {
    let headers = || exchange.response_headers.iter();
    let is_of_another = |header: &Header| {
        let name = header.name.to_ascii_lowercase();
        name == "transfer-encoding"
            || (name != "content-encoding" && name.ends_with("content-encoding"))
    };
    if headers().any(is_of_another) {
        return None;
    }
    parse_declared_length(&exchange.response_headers)
}

/// Returns the length that all `Content-Length` fields declare. One that was sent several times may
/// be one field with a list (RFC 9110, section 8.6).
pub fn parse_declared_length(headers: &[Header]) -> Option<u64> {
    let fields = headers.iter().filter(|header| header.is("content-length"));
    let values = fields.flat_map(|header| header.text().unwrap_or_default().split(','));
    let mut lengths = values.map(number);
    let first = lengths.next()??;
    lengths.all(|other| other == Some(first)).then_some(first)
}

/// Returns the length of the range that a partial response declares (RFC 9110, section 14.4), or
/// `None` if its body is not stored in the form that the range counts.
fn parse_range_bytes(exchange: &Exchange) -> Option<u64> {
    let is_coded = exchange.response_headers.iter().any(|header| {
        let name = header.name.to_ascii_lowercase();
        name.ends_with("content-encoding")
    });
    if exchange.status != PARTIAL_CONTENT || is_coded {
        return None;
    }
    let range = exchange.response_header("content-range")?.trim();
    let (unit, range) = range.split_once(' ')?;
    let (first, last) = range.split_once('/')?.0.split_once('-')?;
    if !unit.eq_ignore_ascii_case("bytes") {
        return None;
    }
    number(last)?.checked_sub(number(first)?)?.checked_add(1)
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_digits)
}

/// Refuses a coded body that is cut off or damaged, which no other field reveals. `end` is the
/// result of the decoder of its last coding, if that ran.
fn check_coded(
    exchange: &Exchange,
    end: Option<End>,
    budget: &mut ReadBudget,
) -> Result<(), String> {
    let all = declared_codings(exchange);
    let last = coding::codings(&all).next_back().unwrap_or("");
    let body = &exchange.body[..];
    // A range ends where the request asked, not with the coding.
    if exchange.status == PARTIAL_CONTENT || body.is_empty() {
        return Ok(());
    }
    let end = match last.to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" if begins_as_gzip(body) => {
            let attempt = ungzip(body, budget.sniff_bytes_left());
            budget.spend_sniff(attempt.decoded_bytes);
            attempt.end
        }
        "zstd" if begins_as_zstd(body) => match find_zstd_end(body) {
            End::Whole | End::Early if is_damaged_zstd(body, budget) => End::Broken,
            end => end,
        },
        _ => end.unwrap_or(End::Whole),
    };
    let bytes = body.len();
    match end {
        End::Cut => Err(format!("its {last} body is cut off after {bytes} bytes")),
        End::Broken => Err(format!("its {last} body of {bytes} bytes is damaged")),
        End::Whole | End::Early | End::Beyond | End::Unknown => Ok(()),
    }
}

/// Returns the codings that all fields declare, as one list.
fn declared_codings(exchange: &Exchange) -> String {
    let fields = exchange.response_headers.iter();
    let fields = fields.filter(|header| header.is("content-encoding"));
    let all: Vec<&str> = fields.filter_map(Header::text).collect();
    all.join(",")
}

/// Removes codings that the body does not have from the fields: a recorder decoded the body but
/// kept the field, which a browser could not display. Sets `end` to the result of the last coding's
/// decoder, if that coding has no magic number and was tried.
fn drop_absent_codings(
    exchange: &mut Exchange,
    budget: &mut ReadBudget,
    end: &mut Option<End>,
) -> Option<String> {
    let all = declared_codings(exchange);
    if exchange.body.is_empty() || coding::is_identity(&all) {
        return None;
    }
    // A range of a coded body has no recognisable beginning.
    if exchange.status == PARTIAL_CONTENT && !is_text(&exchange.body) {
        return None;
    }
    let names: Vec<&str> = coding::codings(&all).collect();
    let has = count_codings_present(&names, exchange, budget, end)?;
    let lacks = names[..names.len() - has].join(", ");
    let mut kept = names[names.len() - has..].join(", ");
    let mut now = "say so no more".to_owned();
    let other = (has == 0)
        .then(|| coding_by_mark(exchange, budget))
        .flatten();
    if let Some(other) = other {
        kept = other.to_owned();
        now = format!("say `{other}`, which it has");
    }
    exchange
        .response_headers
        .retain(|header| !header.is("content-encoding"));
    if !kept.is_empty() {
        exchange
            .response_headers
            .push(Header::new("Content-Encoding", kept));
    }
    correct_length(&mut exchange.response_headers, &exchange.body);
    Some(format!(
        "its fields say `{lacks}`, which its body does not have, and {now}"
    ))
}

/// Returns how many of the codings, counted from the last, the body has; `None` if it has all or it
/// cannot be determined.
fn count_codings_present(
    names: &[&str],
    exchange: &Exchange,
    budget: &mut ReadBudget,
    end: &mut Option<End>,
) -> Option<usize> {
    let last = names.last()?;
    if !has_coding(last, &exchange.body, budget, end)? {
        return Some(0);
    }
    let mut body = coding::decode(last, &exchange.body, budget.sniff_bytes_left())
        .filter(|_| names.len() > 1)?;
    for (count, name) in names.iter().rev().enumerate().skip(1) {
        let content = body.ok()?;
        budget.spend_sniff(content.len() as u64);
        if !has_coding(name, &content, budget, &mut None)? {
            return Some(count);
        }
        body = coding::decode(name, &content, budget.sniff_bytes_left())?;
    }
    None
}

/// Whether a body is in this coding, even if cut off or damaged; `None` if the coding is not
/// supported. Sets `end` to the decoder's result for a coding without a magic number.
fn has_coding(
    name: &str,
    body: &[u8],
    budget: &mut ReadBudget,
    end: &mut Option<End>,
) -> Option<bool> {
    let mut is_in = |attempt: Attempt, budget: &mut ReadBudget| {
        *end = Some(attempt.end);
        attempt.is_in_coding(body, budget)
    };
    match name.to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" => Some(begins_as_gzip(body)),
        "zstd" => Some(begins_as_zstd(body)),
        // These have no magic number, so the whole body is decoded.
        "deflate" => {
            Some([true, false].into_iter().any(|is_wrapped| {
                is_in(inflate(body, is_wrapped, budget.sniff_bytes_left()), budget)
            }))
        }
        "br" => Some(is_in(unbrotli(body, budget.sniff_bytes_left()), budget)),
        _ => None,
    }
}

/// Returns the coding that a body shows by its magic number and its checks, whatever the fields
/// declare; `None` for a file in that format.
fn coding_by_mark(exchange: &Exchange, budget: &mut ReadBudget) -> Option<&'static str> {
    let media_type = exchange.response_header("content-type").unwrap_or("");
    let media_type = media_type.to_ascii_lowercase();
    if ["gzip", "zip", "zstd", "tar", "octet-stream"]
        .iter()
        .any(|format| media_type.contains(format))
    {
        return None;
    }
    let body = &exchange.body[..];
    let bytes_max = budget.sniff_bytes_left();
    let attempt = match body {
        _ if begins_as_gzip(body) => ungzip(body, bytes_max),
        [0x78, ..] => inflate(body, true, bytes_max),
        _ => return None,
    };
    budget.spend_sniff(attempt.decoded_bytes);
    let is_whole = attempt.end == End::Whole;
    is_whole.then_some(if body[0] == 0x78 { "deflate" } else { "gzip" })
}

/// Whether `body` begins with a gzip member (RFC 1952, section 2.3): the magic number, the only
/// method and no reserved flag.
fn begins_as_gzip(body: &[u8]) -> bool {
    let flags = body.get(3).copied().unwrap_or(0);
    let mark = b"\x1f\x8b\x08";
    body.len() > 1 && mark[..body.len().min(3)] == body[..body.len().min(3)] && flags & 0xe0 == 0
}

/// Whether `body` begins with a zstd frame or a skippable frame (RFC 8878, section 3.1).
fn begins_as_zstd(body: &[u8]) -> bool {
    let is_skipped = body.len() > 3 && body[0] & 0xf0 == 0x50 && body[1..4] == *b"\x2a\x4d\x18";
    body.starts_with(ZSTD_MAGIC) || is_skipped
}

/// How far a decoder gets with a body.
struct Attempt {
    end: End,
    read_bytes: usize,
    decoded_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The body is complete in the coding, to its last byte.
    Whole,
    /// The coding ends before the body does.
    Early,
    /// The body ends before the coding does.
    Cut,
    /// The content is invalid in the coding.
    Broken,
    /// The limit of decoded bytes was reached.
    Beyond,
    /// The decoder does not support this variant.
    Unknown,
}

impl Attempt {
    /// Whether a body on which a decoder got this far is in the coding. An incomplete one may be
    /// cut off, damaged or followed by something, unless it is recognised as something else.
    fn is_in_coding(&self, body: &[u8], budget: &mut ReadBudget) -> bool {
        budget.spend_sniff(self.decoded_bytes);
        let may_be = match self.end {
            End::Whole | End::Beyond => return true,
            End::Early => self.read_bytes > body.len() / 2,
            End::Cut | End::Unknown => true,
            // A decoder may hold back what it has decoded.
            End::Broken => {
                self.decoded_bytes >= FALSE_MATCH_BYTES_MAX
                    || self.read_bytes as u64 >= FALSE_MATCH_BYTES_MAX
            }
        };
        may_be && !is_text(body) && !FILE_MAGIC.iter().any(|mark| body.starts_with(mark))
    }
}

/// Whether a body is a text in UTF-8 or in a charset of one or two bytes per letter: without
/// control characters, which any coded body of that length contains, or mostly ASCII.
fn is_text(body: &[u8]) -> bool {
    const LONG_BYTES: usize = 256;
    let begin = &body[..body.len().min(SNIFF_BYTES)];
    let is_control = |byte: &u8| matches!(byte, 0..=8 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    let ascii = begin.iter().filter(|byte| byte.is_ascii()).count();
    let is_likely = begin.len() >= LONG_BYTES || ascii * 4 >= begin.len() * 3;
    std::str::from_utf8(body).is_ok() || (is_likely && !begin.iter().any(is_control))
}

fn ungzip(body: &[u8], bytes_max: u64) -> Attempt {
    let mut decoder = GzDecoder::new(body);
    let mut decoded = [0; BUFFER_BYTES];
    let mut decoded_bytes = 0;
    let end = loop {
        match decoder.read(&mut decoded) {
            // What follows a member is another one, or is skipped by browsers.
            Ok(0) => break End::Whole,
            Ok(more) => decoded_bytes += more as u64,
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => break End::Cut,
            Err(_) => break End::Broken,
        }
        if decoded_bytes > bytes_max {
            break End::Beyond;
        }
    };
    let read_bytes = body.len() - decoder.into_inner().len();
    Attempt {
        end,
        read_bytes,
        decoded_bytes,
    }
}

/// Determines how the frames end from the lengths that they and their blocks declare (RFC 8878,
/// section 3.1), without decoding them.
fn find_zstd_end(body: &[u8]) -> End {
    const SKIPPED_HEAD_BYTES: usize = 8;
    const CHECKSUM_BYTES: usize = 4;
    let mut rest = body;
    while begins_as_zstd(rest) {
        if !rest.starts_with(ZSTD_MAGIC) {
            let bytes = rest.get(4..SKIPPED_HEAD_BYTES).map(little_endian);
            match bytes.and_then(|bytes| rest.get(SKIPPED_HEAD_BYTES + bytes..)) {
                Some(more) => rest = more,
                None => return End::Cut,
            }
            continue;
        }
        let Some(&flags) = rest.get(ZSTD_MAGIC.len()) else {
            return End::Cut;
        };
        let is_single = flags & 0x20 != 0;
        let size_bytes = [usize::from(is_single), 2, 4, 8][usize::from(flags >> 6)];
        let dictionary_bytes = [0, 1, 2, 4][usize::from(flags & 3)];
        let mut at = ZSTD_MAGIC.len() + 1 + usize::from(!is_single) + dictionary_bytes + size_bytes;
        loop {
            let Some(head) = rest.get(at..at + 3).map(little_endian) else {
                return End::Cut;
            };
            at += 3 + match head >> 1 & 3 {
                // An RLE block: one byte that is repeated.
                1 => 1,
                3 => return End::Broken,
                _ => head >> 3,
            };
            if head & 1 != 0 {
                break;
            }
        }
        at += CHECKSUM_BYTES * usize::from(flags & 4 != 0);
        match rest.get(at..) {
            Some(more) => rest = more,
            None => return End::Cut,
        }
    }
    match rest {
        [] => End::Whole,
        _ => End::Early,
    }
}

/// Whether frames with valid lengths cannot be decoded, or differ from their checksums. What
/// follows the last frame is ignored, as in browsers.
fn is_damaged_zstd(body: &[u8], budget: &mut ReadBudget) -> bool {
    let mut decoded_bytes = 0;
    let end = coding::decode_zstd(body, budget.sniff_bytes_left(), |decoded| {
        decoded_bytes += decoded.len() as u64;
    });
    budget.spend_sniff(decoded_bytes);
    matches!(end, Err(coding::ZstdError::Damaged(_)))
}

fn little_endian(bytes: &[u8]) -> usize {
    let number = bytes.iter().rev();
    number.fold(0, |number, &byte| number << 8 | usize::from(byte))
}

fn inflate(body: &[u8], is_wrapped: bool, bytes_max: u64) -> Attempt {
    let mut decoder = Decompress::new(is_wrapped);
    let mut decoded = [0; BUFFER_BYTES];
    let end = loop {
        let (read, made) = (decoder.total_in(), decoder.total_out());
        let input = &body[read as usize..];
        match decoder.decompress(input, &mut decoded, FlushDecompress::None) {
            Err(_) => break End::Broken,
            Ok(Status::StreamEnd) if decoder.total_in() == body.len() as u64 => break End::Whole,
            Ok(Status::StreamEnd) => break End::Early,
            Ok(_) if (read, made) == (decoder.total_in(), decoder.total_out()) => break End::Cut,
            Ok(_) if decoder.total_out() > bytes_max => break End::Beyond,
            Ok(_) => {}
        }
    };
    Attempt {
        end,
        read_bytes: decoder.total_in() as usize,
        decoded_bytes: decoder.total_out(),
    }
}

fn unbrotli(body: &[u8], bytes_max: u64) -> Attempt {
    let allocator = StandardAlloc::default;
    let mut state = BrotliState::new(allocator(), allocator(), allocator());
    let mut decoded = [0; BUFFER_BYTES];
    let (mut left_bytes, mut read_bytes, mut decoded_bytes) = (body.len(), 0, 0);
    let end = loop {
        let result = BrotliDecompressStream(
            &mut left_bytes,
            &mut read_bytes,
            body,
            &mut BUFFER_BYTES.clone(),
            &mut 0,
            &mut decoded,
            &mut decoded_bytes,
            &mut state,
        );
        match result {
            BrotliResult::ResultSuccess if left_bytes == 0 => break End::Whole,
            BrotliResult::ResultSuccess => break End::Early,
            BrotliResult::NeedsMoreInput => break End::Cut,
            // This decoder does not support it, which does not prove that the content is something
            // else.
            BrotliResult::ResultFailure if coding::has_large_window(body) => break End::Unknown,
            BrotliResult::ResultFailure => break End::Broken,
            BrotliResult::NeedsMoreOutput if decoded_bytes as u64 > bytes_max => break End::Beyond,
            BrotliResult::NeedsMoreOutput => {}
        }
    };
    Attempt {
        end,
        read_bytes,
        decoded_bytes: decoded_bytes as u64,
    }
}
