//! Explains responses that hyper refused, because its errors do not name the place.

use std::error::Error;

use crate::head_repair::repair_heads;

/// The largest response head that a browser accepts, bytes: `kMaxHeaderBufSize` in Chromium, also
/// over HTTP/2.
pub const HEAD_BYTES_MAX: usize = 256 * 1024;
/// The most fields: more than nearly any head of that size has; hyper requires a bound.
pub const FIELDS_MAX: usize = 16_384;
/// The length of a quoted line, characters.
const EXCERPT_CHARS_MAX: usize = 100;

/// Describes the error with its causes and its place in `head`, the bytes that were read of an
/// HTTP/1.1 response.
pub fn describe(error: &hyper::Error, head: &[u8]) -> String {
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !reason.ends_with(&cause_text) {
            reason = format!("{reason}: {cause_text}");
        }
        source = cause.source();
    }
    if error.is_parse_too_large() {
        return format!("{reason}, over {HEAD_BYTES_MAX} bytes or {FIELDS_MAX} fields");
    }
    let place = error.is_parse().then(|| quote_fault(head)).flatten();
    place.map_or(reason.clone(), |place| format!("{reason}, {place}"))
}

/// Quotes the first line of a head that is not valid HTTP.
fn quote_fault(head: &[u8]) -> Option<String> {
    let mut is_first = true;
    for line in repair_heads(head).split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            // Another head follows an interim one.
            is_first = true;
            continue;
        }
        if is_first {
            is_first = false;
            if !is_status_line(line) {
                return Some(format!("its status line is `{}`", escape_excerpt(line)));
            }
            continue;
        }
        let (name, value) = match line.iter().position(|&byte| byte == b':') {
            Some(colon) => (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()),
            None => (line, &b""[..]),
        };
        let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        let fault = if line.contains(&0) {
            "has a NUL"
        } else if name.eq_ignore_ascii_case(b"content-length") && !is_number {
            "is not a number"
        } else {
            continue;
        };
        return Some(format!("its field `{}` {fault}", escape_excerpt(name)));
    }
    None
}

/// Whether hyper accepts the status line: `HTTP/1.1 200`, with or without a reason.
fn is_status_line(line: &[u8]) -> bool {
    let rest = line
        .strip_prefix(b"HTTP/1.1 ")
        .or(line.strip_prefix(b"HTTP/1.0 "));
    let Some((status, reason)) = rest.and_then(|rest| rest.split_at_checked(3)) else {
        return false;
    };
    let is_text = |&byte: &u8| byte == b'\t' || (byte >= b' ' && byte != 0x7f);
    status[0] != b'0'
        && status.iter().all(u8::is_ascii_digit)
        && reason.first().is_none_or(|&first| first == b' ')
        && reason.iter().all(is_text)
}

/// Formats untrusted bytes for a message: shortened and escaped.
pub fn escape_excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let characters = text.chars().take(EXCERPT_CHARS_MAX);
    characters
        .flat_map(|character| {
            let is_plain = !character.is_control();
            let escaped = (!is_plain).then(|| character.escape_default());
            let plain = is_plain.then_some(character);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}
