//! Content codings of bodies: undone to look into them, and made again.

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

/// Codings of one body; a list makes bombs of bombs, and no server applies two.
const CODINGS_MAX: usize = 3;
/// Window of a zstd frame that a browser must not refuse, and Chromium's bound (RFC 9659, section 3).
const ZSTD_WINDOW_BYTES_MAX: u64 = 8 << 20;
/// Brotli's quality where a server compresses what it makes, and its usual window of 4 MiB.
const BROTLI_QUALITY: u32 = 5;
const BROTLI_WINDOW_BITS: u32 = 22;
const BUFFER_BYTES: usize = 16 << 10;

/// As a server with compression set to its usual level 6 would send it.
pub fn gzip(body: &[u8]) -> Bytes {
    let mut encoder = GzBuilder::new()
        .mtime(0)
        .write(Vec::new(), Compression::new(6));
    encoder.write_all(body).expect("a vector takes every byte");
    encoder.finish().expect("a vector takes every byte").into()
}

/// Undoes gzip, all its members, up to `bytes_max`. What follows them and is none is passed over, as
/// browsers do.
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

/// Makes a coding again that was undone: brotli where it was brotli, else gzip, whose size at level 6
/// is near that of zstd at its usual level 3. Returns the coding's name and the body.
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
    /// The response's body without its content codings; none where one is not known here, where the
    /// body is not what it says, or where it has more than `bytes_max`.
    pub fn decoded_body(&self, bytes_max: u64) -> Option<Cow<'_, [u8]>> {
        let names = all_codings(&self.response_headers);
        if is_identity(&names) {
            return Some(Cow::Borrowed(&self.body));
        }
        let content = decode(&names, &self.body, bytes_max)?.ok()?;
        Some(Cow::Owned(content))
    }

    /// The same, within what all bodies of a site may still inflate to, too.
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

/// The values of all `Content-Encoding` fields as that of one, which stands for them (RFC 9110,
/// section 5.3).
pub fn all_codings(headers: &[Header]) -> String {
    let fields = headers.iter();
    let fields = fields.filter(|header| header.is("content-encoding"));
    let values: Vec<&str> = fields.filter_map(Header::text).collect();
    values.join(", ")
}

/// Has the fields say one content coding where they said one or several, on as many lines.
pub fn replace_codings(headers: &mut Vec<Header>, name: &str) {
    let mut is_said = false;
    headers.retain_mut(|header| {
        if !header.is("content-encoding") {
            return true;
        }
        header.value = name.to_owned().into();
        !std::mem::replace(&mut is_said, true)
    });
}

/// Whether a `Content-Encoding` field says that nothing is to be undone.
pub fn is_identity(names: &str) -> bool {
    codings(names).next().is_none()
}

/// The codings of a `Content-Encoding` field, in the order in which they were applied.
pub fn codings(names: &str) -> impl DoubleEndedIterator<Item = &str> {
    let is_coding = |name: &&str| !name.is_empty() && !name.eq_ignore_ascii_case("identity");
    names.split(',').map(str::trim).filter(is_coding)
}

/// Undoes the content codings `names`, a `Content-Encoding` field's value (RFC 9110, section 8.4);
/// none where one is not known here. No step gives more than `bytes_max`.
pub fn decode(names: &str, body: &[u8], bytes_max: u64) -> Option<Result<Vec<u8>, String>> {
    if codings(names).count() > CODINGS_MAX {
        return None;
    }
    let mut content = body.to_vec();
    for name in codings(names).rev() {
        content = match undo(name, &content, bytes_max)? {
            Ok(content) => content,
            Err(reason) => return Some(Err(reason)),
        };
    }
    Some(Ok(content))
}

fn undo(name: &str, body: &[u8], bytes_max: u64) -> Option<Result<Vec<u8>, String>> {
    match name.to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" => Some(gunzip(body, bytes_max)),
        "deflate" => Some(inflate(body, bytes_max)),
        "br" => Some(unbrotli(body, bytes_max)),
        "zstd" => Some(unzstd(body, bytes_max)),
        _ => None,
    }
}

/// With zlib's wrapper, or without it, as some servers send it (RFC 9110, section 8.4.1.2).
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

/// Whether a body begins as brotli with a large window, up to 1 GiB, does: with a pattern that is no
/// brotli (RFC 7932, section 9.1).
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
