//! Pads certificates to a requested size with content that compresses as that of real chains does.
//!
//! Of the chains that tlswg/draft-ietf-tls-cert-abridge measured, 5 % have at most 2,308 bytes, half
//! at most 4,032 and 95 % at most 5,609; compressed (RFC 8879, with zstd) these are 1,619, 3,243 and
//! 3,821: 0.68 to 0.80. Keys, signatures and timestamps of logs do not compress, names and URLs do.

use rcgen::CustomExtension;
use sha2::{Digest, Sha256};

/// An identifier in the private arc of RFC 5612's example enterprise: no client recognises it, and
/// it is not critical.
const OBJECT_IDENTIFIER: [u64; 8] = [1, 3, 6, 1, 4, 1, 32473, 1];

/// The bytes that an extension adds besides its content, with enclosing lengths that grow: two
/// sequences, the identifier, two strings' heads, and up to four bytes for longer outer lengths.
pub(super) const OVERHEAD_BYTES_MAX: usize = 32;

/// The variation of the total length of the two ECDSA signatures in DER, of the leaf and of the
/// root, between runs.
pub(super) const SIGNATURES_BYTES_SPREAD: usize = 8;

/// Returns the size of the content that pads a chain of `short` bytes to `padded_bytes`; `None` if there
/// is no room.
pub(super) fn content_bytes(padded_bytes: usize, short: usize) -> Option<usize> {
    let lacking = padded_bytes.checked_sub(short)?;
    let content = lacking.checked_sub(OVERHEAD_BYTES_MAX)?;
    // Overhead: 12 for the identifier; three heads whose lengths take a byte below 128, two below
    // 256, else three; the certificate's own lengths are beyond 255 already.
    let head = |content: usize| match content {
        0..=127 => 2,
        128..=255 => 3,
        _ => 4,
    };
    (content..=lacking).rev().find(|&content| {
        let string = content + head(content);
        let whole = string + 12;
        whole + head(whole) <= lacking
    })
}

/// Text as certificates have it, of which each piece of the padding has a part.
const TEXT: &[u8] =
    b"http://crl.authority.example/intermediate-2026.crlhttp://ocsp.authority.example\
Authority Domain Validation Secure Server Certificatehttps://policy.authority.example/practices";
const TEXT_BYTES: usize = 16;

/// Returns the extension: SHA-256 of the host and a counter, and a part of the text, in turn.
pub(super) fn extension(host: &str, content_bytes: usize) -> CustomExtension {
    let mut content = Vec::with_capacity(content_bytes + 64);
    let mut text = TEXT.iter().cycle();
    let mut counter = 0_u64;
    while content.len() < content_bytes {
        let mut digest = Sha256::new();
        digest.update(host);
        digest.update(counter.to_be_bytes());
        content.extend_from_slice(&digest.finalize());
        content.extend(text.by_ref().take(TEXT_BYTES));
        counter += 1;
    }
    content.truncate(content_bytes);
    CustomExtension::from_oid_content(&OBJECT_IDENTIFIER, content)
}
