//! From an answer of the matcher to status, fields and body: the same for every protocol, pure.

use crate::matcher::{Answer, Request};
use bytes::Bytes;
use eyelevel_archive::{Exchange, response_headers_to_send};
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use std::sync::OnceLock;
use std::time::Duration;

/// The field that says how an answer was found.
pub const MATCH_HEADER: HeaderName = HeaderName::from_static("x-eyelevel-match");

/// A response, complete.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The fields in order, `content-length` included.
    pub headers: HeaderMap,
    /// A slice of the recording, never a copy.
    pub body: Bytes,
    /// How long the server thinks before it sends the head.
    pub think: Duration,
}

/// The recorded responses, their fields made ready once for each exchange that is asked for.
#[derive(Debug)]
pub struct Responses(Vec<OnceLock<Prepared>>);

#[derive(Debug)]
struct Prepared {
    status: StatusCode,
    headers: HeaderMap,
}

impl Responses {
    /// Room for so many exchanges.
    pub fn new(exchanges: usize) -> Self {
        Self((0..exchanges).map(|_| OnceLock::new()).collect())
    }

    /// The response to `request`, which `answer` was found for.
    pub fn reply(&self, exchanges: &[Exchange], request: &Request<'_>, answer: &Answer) -> Reply {
        let mut reply = match answer {
            Answer::Match { exchange, .. } => self.recorded(exchanges, *exchange, request),
            Answer::Preflight => preflight(request),
            Answer::Miss(_) => not_recorded(),
        };
        let how = HeaderValue::from_static(answer.how().as_str());
        reply.headers.insert(MATCH_HEADER, how);
        if request.method == "HEAD" {
            reply.body = Bytes::new();
        }
        reply
    }

    fn recorded(&self, exchanges: &[Exchange], at: usize, request: &Request<'_>) -> Reply {
        let exchange = &exchanges[at];
        let prepared = self.0[at].get_or_init(|| prepare(exchange));
        let reply = Reply {
            status: prepared.status,
            headers: prepared.headers.clone(),
            body: exchange.body.clone(),
            think: Duration::ZERO,
        };
        let is_safe = matches!(request.method, "GET" | "HEAD");
        match reply.status {
            StatusCode::OK if is_safe => conditional(request, reply),
            StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED => without_body(reply),
            _ => reply,
        }
    }
}

fn prepare(exchange: &Exchange) -> Prepared {
    let fields = response_headers_to_send(exchange);
    let mut headers = HeaderMap::with_capacity(fields.len() + 1);
    for field in fields {
        let name = HeaderName::from_bytes(field.name.as_bytes());
        // Both were checked by the archive; a field that is refused all the same is left out.
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_maybe_shared(field.value)) {
            headers.append(name, value);
        }
    }
    Prepared {
        status: StatusCode::from_u16(exchange.status).unwrap_or(StatusCode::BAD_GATEWAY),
        headers,
    }
}

/// RFC 9110, section 13.2.2: the order in which conditions and ranges count.
fn conditional(request: &Request<'_>, reply: Reply) -> Reply {
    let recorded = |name| {
        reply
            .headers
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    let etag = recorded(header::ETAG).unwrap_or("");
    let modified = recorded(header::LAST_MODIFIED).unwrap_or("");
    let asked = |name: &str| {
        request
            .headers
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    let unchanged = match (asked("if-none-match"), asked("if-modified-since")) {
        (Some(tags), _) => names_etag(tags, etag),
        // A browser sends back the text that it got, so that no date needs to be compared.
        (None, Some(date)) => !modified.is_empty() && date == modified,
        (None, None) => false,
    };
    if unchanged {
        return not_modified(reply);
    }
    let Some(range) = asked("range").filter(|_| request.method == "GET") else {
        return reply;
    };
    let is_strong = !etag.is_empty() && !etag.starts_with("W/");
    let still_holds = asked("if-range").is_none_or(|condition| {
        (is_strong && condition == etag) || (!modified.is_empty() && condition == modified)
    });
    if still_holds {
        partial(range, reply)
    } else {
        reply
    }
}

/// Weak comparison, RFC 9110, section 8.8.3.2.
fn names_etag(tags: &str, etag: &str) -> bool {
    let opaque = |tag: &'_ str| tag.trim().trim_start_matches("W/").to_owned();
    if tags.trim() == "*" {
        return true;
    }
    !etag.is_empty() && tags.split(',').any(|tag| opaque(tag) == opaque(etag))
}

/// RFC 9110, section 15.4.5: what describes the body that is not sent is left out.
fn not_modified(mut reply: Reply) -> Reply {
    for name in [
        header::CONTENT_TYPE,
        header::CONTENT_ENCODING,
        header::CONTENT_LANGUAGE,
    ] {
        reply.headers.remove(name);
    }
    reply.status = StatusCode::NOT_MODIFIED;
    without_body(reply)
}

fn without_body(mut reply: Reply) -> Reply {
    reply.headers.remove(header::CONTENT_LENGTH);
    reply.body = Bytes::new();
    reply
}

/// One range of bytes (RFC 9110, section 14); several, or what is no range, get the whole.
fn partial(range: &str, mut reply: Reply) -> Reply {
    let length = reply.body.len();
    let content_range = |text: String| HeaderValue::try_from(text).ok();
    match parse_range(range, length) {
        Range::Whole => return reply,
        Range::Part { start, end } => {
            reply.status = StatusCode::PARTIAL_CONTENT;
            reply.body = reply.body.slice(start..end);
            if let Some(value) = content_range(format!("bytes {start}-{}/{length}", end - 1)) {
                reply.headers.insert(header::CONTENT_RANGE, value);
            }
        }
        Range::Outside => {
            reply.status = StatusCode::RANGE_NOT_SATISFIABLE;
            reply.body = Bytes::new();
            if let Some(value) = content_range(format!("bytes */{length}")) {
                reply.headers.insert(header::CONTENT_RANGE, value);
            }
        }
    }
    let length = HeaderValue::from(reply.body.len());
    reply.headers.insert(header::CONTENT_LENGTH, length);
    reply
}

#[derive(Debug, PartialEq, Eq)]
enum Range {
    Whole,
    Part { start: usize, end: usize },
    Outside,
}

fn parse_range(text: &str, length: usize) -> Range {
    let Some((first, last)) = text
        .trim()
        .strip_prefix("bytes=")
        .and_then(|range| range.split_once('-'))
    else {
        return Range::Whole;
    };
    let number = |text: &str| text.trim().parse::<usize>();
    match (number(first), number(last)) {
        (Ok(start), _) if start >= length && (last.trim().is_empty() || number(last).is_ok()) => {
            Range::Outside
        }
        (Ok(start), Ok(last)) if last >= start => {
            let end = last.saturating_add(1).min(length);
            Range::Part { start, end }
        }
        (Ok(start), _) if last.trim().is_empty() => Range::Part { start, end: length },
        (_, Ok(suffix)) if first.trim().is_empty() => match suffix.min(length) {
            0 => Range::Outside,
            suffix => Range::Part {
                start: length - suffix,
                end: length,
            },
        },
        _ => Range::Whole,
    }
}

/// What a server answers that allows the request to come (Fetch standard, CORS protocol).
fn preflight(request: &Request<'_>) -> Reply {
    let mut headers = HeaderMap::new();
    let mut copy = |from: HeaderName, to: HeaderName| {
        if let Some(value) = request.headers.get(from) {
            headers.insert(to, value.clone());
        }
    };
    copy(header::ORIGIN, header::ACCESS_CONTROL_ALLOW_ORIGIN);
    copy(
        header::ACCESS_CONTROL_REQUEST_METHOD,
        header::ACCESS_CONTROL_ALLOW_METHODS,
    );
    copy(
        header::ACCESS_CONTROL_REQUEST_HEADERS,
        header::ACCESS_CONTROL_ALLOW_HEADERS,
    );
    let allowed = HeaderValue::from_static("true");
    headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, allowed);
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
    Reply {
        status: StatusCode::NO_CONTENT,
        headers,
        body: Bytes::new(),
        think: Duration::ZERO,
    }
}

fn not_recorded() -> Reply {
    const BODY: &[u8] = b"not recorded\n";
    let mut headers = HeaderMap::new();
    let plain = HeaderValue::from_static("text/plain");
    headers.insert(header::CONTENT_TYPE, plain);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(BODY.len()));
    Reply {
        status: StatusCode::NOT_FOUND,
        headers,
        body: Bytes::from_static(BODY),
        think: Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_rfc_9110_section_14_1_2_says() {
        for (text, expected) in [
            ("bytes=0-0", Range::Part { start: 0, end: 1 }),
            ("bytes=2-", Range::Part { start: 2, end: 10 }),
            ("bytes=2-99", Range::Part { start: 2, end: 10 }),
            ("bytes=-3", Range::Part { start: 7, end: 10 }),
            ("bytes=-30", Range::Part { start: 0, end: 10 }),
            ("bytes=10-", Range::Outside),
            ("bytes=-0", Range::Outside),
            ("bytes=5-2", Range::Whole),
            ("bytes=0-1,3-4", Range::Whole),
            ("bytes=a-b", Range::Whole),
            ("lines=0-1", Range::Whole),
        ] {
            assert_eq!(parse_range(text, 10), expected, "{text}");
        }
        assert_eq!(parse_range("bytes=0-", 0), Range::Outside);
    }

    #[test]
    fn entity_tags_compare_weakly() {
        assert!(names_etag("\"a\", W/\"b\"", "\"b\""));
        assert!(names_etag("*", "\"x\""));
        assert!(!names_etag("\"a\"", "\"b\""));
        assert!(!names_etag("\"a\"", ""));
    }
}
