//! Whether an exchange is whole: the one check that follows every import and every read.
//!
//! What a message declares is compared with what is there: the length, the content coding. A body
//! that is not whole would be replayed as if it were, so that its exchange is left out; what can be
//! put right is put right, and told.

use std::collections::HashSet;
use std::io::Read;

use bytes::Bytes;
use flate2::read::{DeflateDecoder, ZlibDecoder};

use crate::coding;
use crate::exchange::Exchange;
use crate::exchange::header::Header;
use crate::url::Url;

/// So much of a body shows whether it has its coding: what is none breaks within it.
const BEGIN_BYTES: usize = 4096;
/// What a decoder gives of what only looks like its coding is less.
const BEGIN_DECODED_BYTES: usize = 256;
/// Bounds the look into codings of codings, which no server applies.
const DECODED_BYTES_MAX: u64 = 16 << 20;

pub const ALONE_NOT_MODIFIED: &str = "it has the status 304 and no body, which the browser had already; \
                                      record it with an empty cache";

/// Puts `exchange` right where that can be done, and returns what was changed; the error is why it
/// is not whole.
pub fn check(exchange: &mut Exchange) -> Result<Option<String>, String> {
    if let Some(reason) = exchange.response_header("non-authoritative-reason") {
        return Err(format!(
            "the browser made this answer itself, and nothing of it was sent ({reason:.100})"
        ));
    }
    let is_without_body = exchange.method == "HEAD" || matches!(exchange.status, 204 | 304);
    if is_without_body || exchange.status < 200 {
        return Ok(None);
    }
    let codings = drop_codings_it_lacks(exchange);
    if codings.is_some() {
        return Ok(codings);
    }
    let Some(declared) = declared_bytes(exchange) else {
        return Ok(None);
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

/// Takes the codings from the fields that the body does not have: a recorder undid them and kept
/// the field, and a browser would show nothing.
fn drop_codings_it_lacks(exchange: &mut Exchange) -> Option<String> {
    let fields = exchange.response_headers.iter();
    let fields = fields.filter(|header| header.is("content-encoding"));
    let all: Vec<&str> = fields.filter_map(Header::text).collect();
    let all = all.join(",");
    if exchange.body.is_empty() || coding::is_identity(&all) {
        return None;
    }
    let names: Vec<&str> = coding::codings(&all).collect();
    let has = codings_it_has(&names, exchange)?;
    let lacks = names[..names.len() - has].join(", ");
    let kept = names[names.len() - has..].join(", ");
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
        "its fields say `{lacks}`, which its body does not have, and say so no more"
    ))
}

/// How many of the codings, the last ones, the body has; none where it has all or nobody knows.
fn codings_it_has(names: &[&str], exchange: &Exchange) -> Option<usize> {
    let last = names.last()?;
    if !has_coding(last, &exchange.body)? {
        return Some(0);
    }
    let mut body =
        coding::decode(last, &exchange.body, DECODED_BYTES_MAX).filter(|_| names.len() > 1)?;
    for (count, name) in names.iter().rev().enumerate().skip(1) {
        let content = body.ok()?;
        if !has_coding(name, &content)? {
            return Some(count);
        }
        body = coding::decode(name, &content, DECODED_BYTES_MAX)?;
    }
    None
}

/// Whether a body begins as one in this coding does; none where the coding is not known here.
fn has_coding(name: &str, body: &[u8]) -> Option<bool> {
    let begin = &body[..body.len().min(BEGIN_BYTES)];
    let begins = match name.to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" => return Some(begin.starts_with(b"\x1f\x8b")),
        // A frame of data, or one to skip (RFC 8878, section 3.1).
        "zstd" => {
            let is_skipped =
                begin.len() > 3 && begin[0] & 0xf0 == 0x50 && begin[1..4] == *b"\x2a\x4d\x18";
            return Some(begin.starts_with(b"\x28\xb5\x2f\xfd") || is_skipped);
        }
        "deflate" => {
            begins_with(ZlibDecoder::new(begin), begin, body)
                || begins_with(DeflateDecoder::new(begin), begin, body)
        }
        "br" => begins_with(brotli::Decompressor::new(begin, BEGIN_BYTES), begin, body),
        _ => return None,
    };
    // These have no mark. What breaks may have been cut off, unless it is a text.
    Some(begins || std::str::from_utf8(body).is_err())
}

/// Whether `decoder` of a body's beginning gives something, or all of a small body.
fn begins_with(mut decoder: impl Read, begin: &[u8], body: &[u8]) -> bool {
    let mut decoded = [0; BEGIN_DECODED_BYTES];
    let mut bytes = 0;
    while bytes < decoded.len() {
        match decoder.read(&mut decoded[bytes..]) {
            Ok(0) => return true,
            Ok(more) => bytes += more,
            Err(_) => return begin.len() < body.len() && bytes > 0,
        }
    }
    true
}
