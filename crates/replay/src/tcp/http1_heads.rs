//! Counts the bytes of HTTP/1.1's heads. hyper provides heads as fields; every relevant client
//! writes them as hyper does, without optional bytes (RFC 9112, sections 2.1 and 5).

use http::request::Parts;
use http::{HeaderMap, Response};

/// The size of ` HTTP/1.1`, the line's end, and the space between method and target.
const REQUEST_LINE_BYTES: usize = 1 + " HTTP/1.1\r\n".len();
/// The size of `HTTP/1.1 200 ` and the line's end.
const STATUS_LINE_BYTES: usize = "HTTP/1.1 200 \r\n".len();
/// The size of `: ` and the line's end.
const FIELD_BYTES: usize = ": \r\n".len();
const END_BYTES: usize = "\r\n".len();

/// Returns the bytes of a request's head.
pub(super) fn request_head_bytes(parts: &Parts) -> u64 {
    let target = parts
        .uri
        .path_and_query()
        .map_or(1, |target| target.as_str().len());
    let line = parts.method.as_str().len() + target + REQUEST_LINE_BYTES;
    (line + field_bytes(&parts.headers) + END_BYTES) as u64
}

/// Returns the bytes of a response's head.
pub(super) fn response_head_bytes<B>(response: &Response<B>) -> u64 {
    let reason = response.status().canonical_reason().unwrap_or("<none>");
    let line = STATUS_LINE_BYTES + reason.len();
    (line + field_bytes(response.headers()) + END_BYTES) as u64
}

fn field_bytes(headers: &HeaderMap) -> usize {
    let field = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        name.as_str().len() + value.len() + FIELD_BYTES
    };
    headers.iter().map(field).sum()
}
