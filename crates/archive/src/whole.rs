//! Whether an exchange is whole: the one check that follows every import and every read.
//!
//! What a message declares is compared with what is there: the length, the content coding. A body
//! that is not whole would be replayed as if it were, so that its exchange is left out; what can be
//! put right is put right, and told.

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

/// So much of a body shows whether it is a text.
const BEGIN_BYTES: usize = 4096;
/// What a decoder reads and gives of what only looks like its coding, before it breaks, is less.
const BYTES_OF_NONE_MAX: u64 = 256;
/// The first bytes of files that servers send, and of what was coded otherwise: a coded body begins
/// like one of them once in millions.
const FILE_MARKS: &[&[u8]] = &[
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

pub const ALONE_NOT_MODIFIED: &str = "it has the status 304 and no body, which the browser had already; \
                                      record it with an empty cache";

/// Puts `exchange` right where that can be done, and returns what was changed; the error is why it
/// is not whole.
pub fn check(exchange: &mut Exchange, budget: &mut ReadBudget) -> Result<Option<String>, String> {
    if let Some(reason) = exchange.response_header("non-authoritative-reason") {
        return Err(format!(
            "the browser made this answer itself, and nothing of it was sent ({reason:.100})"
        ));
    }
    let is_without_body = exchange.method == "HEAD" || matches!(exchange.status, 204 | 304);
    if is_without_body || exchange.status < 200 {
        return Ok(None);
    }
    let mut end = None;
    let codings = drop_codings_it_lacks(exchange, budget, &mut end);
    if codings.is_some() {
        return Ok(codings);
    }
    let Some(declared) = declared_bytes(exchange) else {
        return check_coded(exchange, end, budget).map(|()| None);
    };
    let found = exchange.body.len() as u64;
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

/// Which of `exchanges` are answers of 304 to who has the body, where no other one has it: they
/// would answer a browser that has nothing.
pub fn alone_not_modified(exchanges: &[Exchange]) -> Vec<bool> {
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

/// Sets `Content-Length`, where there is one, to the body's.
pub fn correct_length(headers: &mut [Header], body: &[u8]) {
    let length = Bytes::from(body.len().to_string());
    let lengths = headers
        .iter_mut()
        .filter(|header| header.is("content-length"));
    lengths.for_each(|header| header.value = length.clone());
}

/// The length that the message declares of the body as it stands; none where it does not matter:
/// chunks end by themselves, and a recorder that undid a coding leaves the length of what was sent.
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
    let lengths = headers().filter(|header| header.is("content-length"));
    let mut lengths = lengths.map(|header| header.text().and_then(number));
    let first = lengths.next()??;
    lengths.all(|other| other == Some(first)).then_some(first)
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_digits)
}

/// Refuses a coded body that is cut or damaged: nothing else says how long it is. `end`: of the
/// decoder of its last coding, where that ran.
fn check_coded(
    exchange: &Exchange,
    end: Option<End>,
    budget: &mut ReadBudget,
) -> Result<(), String> {
    let all = declared_codings(exchange);
    let last = coding::codings(&all).next_back().unwrap_or("");
    let body = &exchange.body[..];
    // A range ends where it was asked to.
    if exchange.status == PARTIAL_CONTENT || body.is_empty() {
        return Ok(());
    }
    let end = match last.to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" if begins_as_gzip(body) => {
            let attempt = ungzip(body, budget.looks_left());
            budget.look(attempt.decoded_bytes);
            attempt.end
        }
        "zstd" if begins_as_zstd(body) => match end_of_zstd(body) {
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

/// The codings that all fields declare, as one list.
fn declared_codings(exchange: &Exchange) -> String {
    let fields = exchange.response_headers.iter();
    let fields = fields.filter(|header| header.is("content-encoding"));
    let all: Vec<&str> = fields.filter_map(Header::text).collect();
    all.join(",")
}

/// Takes the codings from the fields that the body does not have: a recorder undid them and kept
/// the field, and a browser would show nothing. `end` becomes that of the decoder of the last one,
/// where it has no mark and was tried.
fn drop_codings_it_lacks(
    exchange: &mut Exchange,
    budget: &mut ReadBudget,
    end: &mut Option<End>,
) -> Option<String> {
    let all = declared_codings(exchange);
    if exchange.body.is_empty() || coding::is_identity(&all) {
        return None;
    }
    // A range of a coded body begins as nothing does.
    if exchange.status == PARTIAL_CONTENT && !is_text(&exchange.body) {
        return None;
    }
    let names: Vec<&str> = coding::codings(&all).collect();
    let has = codings_it_has(&names, exchange, budget, end)?;
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

/// How many of the codings, the last ones, the body has; none where it has all or nobody knows.
fn codings_it_has(
    names: &[&str],
    exchange: &Exchange,
    budget: &mut ReadBudget,
    end: &mut Option<End>,
) -> Option<usize> {
    let last = names.last()?;
    if !has_coding(last, &exchange.body, budget, end)? {
        return Some(0);
    }
    let mut body =
        coding::decode(last, &exchange.body, budget.looks_left()).filter(|_| names.len() > 1)?;
    for (count, name) in names.iter().rev().enumerate().skip(1) {
        let content = body.ok()?;
        budget.look(content.len() as u64);
        if !has_coding(name, &content, budget, &mut None)? {
            return Some(count);
        }
        body = coding::decode(name, &content, budget.looks_left())?;
    }
    None
}

/// Whether a body is one in this coding, cut and damaged ones too; none where the coding is not
/// known here. `end` becomes the decoder's, of a coding without a mark.
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
        // These have no mark, so that all is decoded.
        "deflate" => Some(
            [true, false]
                .into_iter()
                .any(|is_wrapped| is_in(inflate(body, is_wrapped, budget.looks_left()), budget)),
        ),
        "br" => Some(is_in(unbrotli(body, budget.looks_left()), budget)),
        _ => None,
    }
}

/// The coding that a body shows by its mark and by what checks it, whatever the fields say; none of
/// what is a file in that format.
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
    let bytes_max = budget.looks_left();
    let attempt = match body {
        _ if begins_as_gzip(body) => ungzip(body, bytes_max),
        [0x78, ..] => inflate(body, true, bytes_max),
        _ => return None,
    };
    budget.look(attempt.decoded_bytes);
    let is_whole = attempt.end == End::Whole;
    is_whole.then_some(if body[0] == 0x78 { "deflate" } else { "gzip" })
}

/// Whether a member begins here (RFC 1952, section 2.3): the mark, the one method and no flag that
/// is reserved.
fn begins_as_gzip(body: &[u8]) -> bool {
    let flags = body.get(3).copied().unwrap_or(0);
    let mark = b"\x1f\x8b\x08";
    body.len() > 1 && mark[..body.len().min(3)] == body[..body.len().min(3)] && flags & 0xe0 == 0
}

/// Whether a frame of data begins here, or one to skip (RFC 8878, section 3.1).
fn begins_as_zstd(body: &[u8]) -> bool {
    let is_skipped = body.len() > 3 && body[0] & 0xf0 == 0x50 && body[1..4] == *b"\x2a\x4d\x18";
    body.starts_with(ZSTD_MAGIC) || is_skipped
}

/// How far a decoder comes with a body.
struct Attempt {
    end: End,
    read_bytes: usize,
    decoded_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The body is what the coding has, to its last byte.
    Whole,
    /// More follows what the coding has.
    Early,
    /// The body ends before the coding does.
    Cut,
    /// What stands there is none.
    Broken,
    /// No more was decoded.
    Beyond,
    /// Nobody here can decode it.
    Unknown,
}

impl Attempt {
    /// Whether a body with which a decoder came so far is in the coding. One that is not whole may
    /// be cut, damaged or followed by something, unless it is seen to be something else.
    fn is_in_coding(&self, body: &[u8], budget: &mut ReadBudget) -> bool {
        budget.look(self.decoded_bytes);
        let may_be = match self.end {
            End::Whole | End::Beyond => return true,
            End::Early => self.read_bytes > body.len() / 2,
            End::Cut | End::Unknown => true,
            // A decoder may hold back what it has decoded.
            End::Broken => {
                self.decoded_bytes >= BYTES_OF_NONE_MAX
                    || self.read_bytes as u64 >= BYTES_OF_NONE_MAX
            }
        };
        may_be && !is_text(body) && !FILE_MARKS.iter().any(|mark| body.starts_with(mark))
    }
}

/// Whether a body is a text in UTF-8 or in a charset of one or two bytes a letter: without control
/// characters, of which a coded body of that length has some, or mostly in ASCII.
fn is_text(body: &[u8]) -> bool {
    const LONG_BYTES: usize = 256;
    let begin = &body[..body.len().min(BEGIN_BYTES)];
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
            // What follows a member is another one, or what browsers pass over.
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

/// Returns how frames end by the lengths that they and their blocks declare (RFC 8878, section 3.1),
/// without decoding them.
fn end_of_zstd(body: &[u8]) -> End {
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
                // One byte that is repeated.
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

/// Returns whether frames of sound lengths cannot be decoded, or differ from their checksums. What
/// follows the last frame does not count, as browsers pass over it.
fn is_damaged_zstd(body: &[u8], budget: &mut ReadBudget) -> bool {
    let mut decoded_bytes = 0;
    let end = coding::decode_zstd(body, budget.looks_left(), |decoded| {
        decoded_bytes += decoded.len() as u64;
    });
    budget.look(decoded_bytes);
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
            // It cannot be decoded here, which is no proof that it is something else.
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
