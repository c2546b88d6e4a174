//! Content codings of bodies: decoding them for inspection, and encoding again.

use std::borrow::Cow;
use std::io::{Read, Write};

use bytes::Bytes;
use flate2::bufread::GzDecoder;
use flate2::read::{DeflateDecoder, ZlibDecoder};
use flate2::{Compression, GzBuilder};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use crate::budget::ReadBudget;
use crate::exchange::Exchange;
use crate::exchange::header::Header;

/// The first two bytes of a gzip member (RFC 1952, section 2.3.1).
pub const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// The most codings of one body. Servers apply one; a longer list would multiply a bomb.
const CODINGS_MAX: usize = 3;
/// The largest window of a zstd frame, bytes: what browsers must accept, and all that Chromium does
/// (RFC 9659, section 3).
const ZSTD_WINDOW_BYTES_MAX: u64 = 8 << 20;
/// Brotli's usual quality for dynamic responses, and its usual window of 4 MiB.
const BROTLI_QUALITY: u32 = 5;
const BROTLI_WINDOW_BITS: u32 = 22;
const BUFFER_BYTES: usize = 16 << 10;

/// Compresses `body` with gzip at level 6, the usual level of servers.
pub fn gzip(body: &[u8]) -> Bytes {
    let mut encoder = GzBuilder::new()
        .mtime(0)
        .write(Vec::new(), Compression::new(6));
    encoder.write_all(body).expect("a vector takes every byte");
    encoder.finish().expect("a vector takes every byte").into()
}

/// Decodes all members of a gzip body, up to `bytes_max`. Trailing bytes that are not a member are
/// skipped, as browsers do.
pub fn gunzip(mut content: &[u8], bytes_max: u64) -> Result<Vec<u8>, String> {
    let mut decoded = Vec::new();
    loop {
        let member = GzDecoder::new(&mut content);
        decoded.extend(read_bounded(member, bytes_max - decoded.len() as u64)?);
        if !content.starts_with(GZIP_MAGIC) {
            return Ok(decoded);
        }
    }
}

/// Encodes a body again that was decoded: with brotli if it was brotli, else with gzip, whose size
/// at level 6 is close to that of zstd at its usual level 3. Returns the coding's name and the
/// body.
pub fn encode(name: &str, body: &[u8]) -> (&'static str, Bytes) {
    if !name.trim().eq_ignore_ascii_case("br") {
        return ("gzip", gzip(body));
    }
    let mut coded = Vec::new();
    let mut encoder =
        brotli::CompressorWriter::new(&mut coded, BUFFER_BYTES, BROTLI_QUALITY, BROTLI_WINDOW_BITS);
    encoder.write_all(body).expect("a vector takes every byte");
    drop(encoder);
    ("br", coded.into())
}

impl Exchange {
    /// Returns the response's body without its content codings, or `None` if a coding is not
    /// supported, the body is not in it, or the result is longer than `bytes_max`.
    pub fn decoded_body(&self, bytes_max: u64) -> Option<Cow<'_, [u8]>> {
        let names = all_codings(&self.response_headers);
        if is_identity(&names) {
            return Some(Cow::Borrowed(&self.body));
        }
        let content = decode(&names, &self.body, bytes_max)?.ok()?;
        Some(Cow::Owned(content))
    }

    /// Like [`Exchange::decoded_body`], but also limited by `budget`, which it spends.
    pub(crate) fn decoded_body_within(
        &self,
        bytes_max: u64,
        budget: &mut ReadBudget,
    ) -> Option<Cow<'_, [u8]>> {
        let body = self.decoded_body(bytes_max.min(budget.bytes_left()))?;
        if let Cow::Owned(content) = &body {
            budget.spend(content.len() as u64).ok()?;
        }
        Some(body)
    }
}

/// Joins the values of all `Content-Encoding` fields into one list, to which they are equivalent
/// (RFC 9110, section 5.3).
pub fn all_codings(headers: &[Header]) -> String {
    let fields = headers.iter();
    let fields = fields.filter(|header| header.is("content-encoding"));
    let values: Vec<&str> = fields.filter_map(Header::text).collect();
    values.join(", ")
}

/// Replaces all `Content-Encoding` fields by one with the coding `name`, if there are any.
pub fn replace_codings(headers: &mut Vec<Header>, name: &str) {
    let mut is_replaced = false;
    headers.retain_mut(|header| {
        if !header.is("content-encoding") {
            return true;
        }
        header.value = name.to_owned().into();
        !std::mem::replace(&mut is_replaced, true)
    });
}

/// Whether the `Content-Encoding` value `names` lists no coding besides `identity`.
pub fn is_identity(names: &str) -> bool {
    codings(names).next().is_none()
}

/// Returns the codings of a `Content-Encoding` value, in the order in which they were applied.
pub fn codings(names: &str) -> impl DoubleEndedIterator<Item = &str> {
    let is_coding = |name: &&str| !name.is_empty() && !name.eq_ignore_ascii_case("identity");
    names.split(',').map(str::trim).filter(is_coding)
}

/// Decodes a body with the content codings `names`, a `Content-Encoding` value (RFC 9110, section
/// 8.4). Returns `None` if one is not supported. No step yields more than `bytes_max`.
pub fn decode(names: &str, body: &[u8], bytes_max: u64) -> Option<Result<Vec<u8>, String>> {
    if codings(names).count() > CODINGS_MAX {
        return None;
    }
    let mut content = body.to_vec();
    for name in codings(names).rev() {
        content = match decode_one(name, &content, bytes_max)? {
            Ok(content) => content,
            Err(reason) => return Some(Err(reason)),
        };
    }
    Some(Ok(content))
}

fn decode_one(name: &str, body: &[u8], bytes_max: u64) -> Option<Result<Vec<u8>, String>> {
    match name.to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" => Some(gunzip(body, bytes_max)),
        "deflate" => Some(inflate(body, bytes_max)),
        "br" => Some(unbrotli(body, bytes_max)),
        "zstd" => Some(unzstd(body, bytes_max)),
        _ => None,
    }
}

/// Decodes `deflate`, with zlib's wrapper or without it, as some servers send it (RFC 9110, section
/// 8.4.1.2).
fn inflate(body: &[u8], bytes_max: u64) -> Result<Vec<u8>, String> {
    let is_wrapped = match body {
        [first, second, ..] => {
            first & 0x0f == 8 && u16::from_be_bytes([*first, *second]).is_multiple_of(31)
        }
        _ => false,
    };
    if is_wrapped {
        read_bounded(ZlibDecoder::new(body), bytes_max)
    } else {
        read_bounded(DeflateDecoder::new(body), bytes_max)
    }
}

/// Whether a body begins like brotli with a large window (up to 1 GiB), a pattern that is invalid
/// in plain brotli (RFC 7932, section 9.1).
pub fn has_large_window(body: &[u8]) -> bool {
    body.first().is_some_and(|first| first & 0x7f == 0x11)
}

fn unbrotli(body: &[u8], bytes_max: u64) -> Result<Vec<u8>, String> {
    if has_large_window(body) {
        return Err("its brotli window is not one of RFC 7932".to_owned());
    }
    read_bounded(brotli::Decompressor::new(body, BUFFER_BYTES), bytes_max)
}

fn unzstd(body: &[u8], bytes_max: u64) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    decode_zstd(body, bytes_max, |decoded| content.extend(decoded))
        .map_err(|(ZstdError::Damaged(reason) | ZstdError::Other(reason))| reason)?;
    Ok(content)
}

/// The reason why a zstd body was not decoded to its end.
pub enum ZstdError {
    /// A block cannot be decoded, or the content differs from its checksum.
    Damaged(String),
    /// No frame that is decoded here begins at this place, or the content has more than the bound.
    Other(String),
}

/// Passes the content of all frames to `take` in pieces, and compares the checksum of each frame
/// (RFC 8878, section 3.1). A frame has at least 6 bytes, so the body's length bounds their number.
pub fn decode_zstd(
    mut body: &[u8],
    bytes_max: u64,
    mut take: impl FnMut(&[u8]),
) -> Result<(), ZstdError> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(ZSTD_WINDOW_BYTES_MAX);
    let mut piece = [0; BUFFER_BYTES];
    let mut bytes_left = bytes_max;
    while !body.is_empty() {
        let mut frame = match StreamingDecoder::new_with_decoder(&mut body, &mut decoder) {
            Ok(frame) => frame,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let skipped = body.get(length as usize..);
                body = skipped
                    .ok_or_else(|| ZstdError::Other("its zstd frame is cut off".to_owned()))?;
                continue;
            }
            Err(error) => return Err(ZstdError::Other(error.to_string())),
        };
        loop {
            let bytes = frame
                .read(&mut piece)
                .map_err(|error| ZstdError::Damaged(error.to_string()))?;
            if bytes == 0 {
                break;
            }
            bytes_left = bytes_left
                .checked_sub(bytes as u64)
                .ok_or_else(|| ZstdError::Other(inflates_beyond(bytes_max)))?;
            take(&piece[..bytes]);
        }
        let recorded = decoder.get_checksum_from_data();
        if recorded.is_some() && recorded != decoder.get_calculated_checksum() {
            return Err(ZstdError::Damaged("its checksum differs".to_owned()));
        }
    }
    Ok(())
}

fn inflates_beyond(bytes_max: u64) -> String {
    format!("it inflates beyond {bytes_max} bytes")
}

fn read_bounded(reader: impl Read, bytes_max: u64) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let mut bounded = reader.take(bytes_max + 1);
    bounded
        .read_to_end(&mut content)
        .map_err(|error| error.to_string())?;
    if content.len() as u64 > bytes_max {
        return Err(inflates_beyond(bytes_max));
    }
    Ok(content)
}
