//! What was wrong with an answer that hyper did not take: its errors do not name the place.

use std::error::Error;

use crate::head_repair::repair_heads;

/// What a browser takes of a response's head, `kMaxHeaderBufSize` in Chromium; over HTTP/2, too.
pub const HEAD_BYTES_MAX: usize = 256 * 1024;
/// More than a head of that size has but for the oddest; hyper needs a bound.
pub const FIELDS_MAX: usize = 16_384;
/// What is shown of a line.
const SHOWN_CHARS_MAX: usize = 100;

/// The error with its causes, and where it is in `head`, the bytes that were read of an HTTP/1.1
/// response.
pub fn reason(error: &hyper::Error, head: &[u8]) -> String {
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
    let place = error.is_parse().then(|| place_in(head)).flatten();
    place.map_or(reason.clone(), |place| format!("{reason}, {place}"))
}

/// The first line of a head that no parser of HTTP takes.
fn place_in(head: &[u8]) -> Option<String> {
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
                return Some(format!("its status line is `{}`", shown(line)));
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
        return Some(format!("its field `{}` {fault}", shown(name)));
    }
    None
}

/// Whether hyper takes the line: `HTTP/1.1 200`, and a reason or none.
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

/// A name or line from outside, as a message has it.
pub fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let characters = text.chars().take(SHOWN_CHARS_MAX);
    characters
        .flat_map(|character| {
            let is_plain = !character.is_control();
            let escaped = (!is_plain).then(|| character.escape_default());
            let plain = is_plain.then_some(character);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}
