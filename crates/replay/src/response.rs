//! Builds status, fields and body from the matcher's answer: the same for every protocol, pure.

use crate::dates::Moment;
use crate::live::LiveBody;
use crate::matcher::range::{self, Part};
use crate::matcher::{Answer, Request};
use bytes::Bytes;
use eyelevel_archive::{Exchange, response_headers_to_send};
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use std::sync::OnceLock;
use std::time::Duration;

/// The field that reports how a response was found.
pub const MATCH_HEADER: HeaderName = HeaderName::from_static("x-eyelevel-match");

/// A complete response, except for what a live build still sends.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The fields in order, `content-length` included.
    pub headers: HeaderMap,
    /// A slice of the recording, never a copy.
    pub body: Bytes,
    /// What comes after it, of a live build only.
    pub stream: Option<LiveBody>,
    /// The delay before the head is sent.
    pub think: Duration,
    /// The value of `Link` in a 103 that is sent before that delay.
    pub early_hints: Option<HeaderValue>,
}

/// The recorded responses, with fields that are prepared once for each requested exchange.
#[derive(Debug)]
pub struct Responses(Vec<OnceLock<Prepared>>);

#[derive(Debug)]
struct Prepared {
    status: StatusCode,
    headers: HeaderMap,
}

impl Responses {
    /// Creates empty entries for the given number of exchanges.
    pub fn new(exchanges: usize) -> Self {
        Self((0..exchanges).map(|_| OnceLock::new()).collect())
    }

    /// Returns the response to `request`, for which `answer` was found; its dates are the recorded
    /// ones, or are moved to `moment`.
    pub fn reply(
        &self,
        exchanges: &[Exchange],
        request: &Request<'_>,
        answer: &Answer,
        moment: Option<&Moment>,
    ) -> Reply {
        let mut reply = match answer {
            Answer::Match { exchange, .. } => self.recorded(exchanges, *exchange, request, moment),
            Answer::Preflight => respond_to_preflight(request),
            Answer::Miss(_) => respond_not_recorded(),
        };
        let how = HeaderValue::from_static(answer.how().as_str());
        reply.headers.insert(MATCH_HEADER, how);
        if request.method == "HEAD" {
            reply.body = Bytes::new();
        }
        reply
    }

    fn recorded(
        &self,
        exchanges: &[Exchange],
        at: usize,
        request: &Request<'_>,
        moment: Option<&Moment>,
    ) -> Reply {
        let exchange = &exchanges[at];
        let prepared = self.0[at].get_or_init(|| prepare(exchange));
        let mut reply = Reply {
            status: prepared.status,
            headers: prepared.headers.clone(),
            body: exchange.body.clone(),
            stream: None,
            think: Duration::ZERO,
            early_hints: None,
        };
        if let Some(moment) = moment {
            moment.move_dates(&mut reply.headers, exchange.recorded_at_unix_ms);
        }
        let is_safe = matches!(request.method, "GET" | "HEAD");
        // The matcher returns no exchange without a part.
        let part = range::part(exchange, request).unwrap_or(Part::Recorded);
        match reply.status {
            StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED => remove_body(reply),
            // Conditions are evaluated before ranges (RFC 9110, section 13.2.2).
            StatusCode::OK if is_safe && is_unchanged(request, &reply) => make_not_modified(reply),
            StatusCode::PARTIAL_CONTENT
                if part != Part::Recorded && is_unchanged(request, &reply) =>
            {
                make_not_modified(reply)
            }
            _ => make_partial(&part, reply),
        }
    }
}

fn prepare(exchange: &Exchange) -> Prepared {
    let fields = response_headers_to_send(exchange);
    let mut headers = HeaderMap::with_capacity(fields.len() + 1);
    for field in fields {
        let name = HeaderName::from_bytes(field.name.as_bytes());
        // Both were checked by the archive; a field that is still refused is left out.
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_maybe_shared(field.value)) {
            headers.append(name, value);
        }
    }
    Prepared {
        status: StatusCode::from_u16(exchange.status).unwrap_or(StatusCode::BAD_GATEWAY),
        headers,
    }
}

/// Returns whether the client's copy is still valid (RFC 9110, section 13.1).
fn is_unchanged(request: &Request<'_>, reply: &Reply) -> bool {
    let recorded = |name| {
        reply
            .headers
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    let etag = recorded(header::ETAG).unwrap_or("");
    let modified = recorded(header::LAST_MODIFIED).unwrap_or("");
    let requested = |name: &str| {
        request
            .headers
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    match (requested("if-none-match"), requested("if-modified-since")) {
        (Some(tags), _) => has_etag(tags, etag),
        // A browser returns the text that it received, so no date needs to be compared.
        (None, Some(date)) => !modified.is_empty() && date == modified,
        (None, None) => false,
    }
}

/// Returns whether a list of tags has `etag`, by weak comparison (RFC 9110, section 8.8.3.2).
fn has_etag(tags: &str, etag: &str) -> bool {
    let opaque = |tag: &'_ str| tag.trim().trim_start_matches("W/").to_owned();
    if tags.trim() == "*" {
        return true;
    }
    !etag.is_empty() && tags.split(',').any(|tag| opaque(tag) == opaque(etag))
}

/// Turns a response into a 304, without the fields that describe the absent body (RFC 9110, section
/// 15.4.5).
fn make_not_modified(mut reply: Reply) -> Reply {
    for name in [
        header::CONTENT_TYPE,
        header::CONTENT_ENCODING,
        header::CONTENT_LANGUAGE,
        header::CONTENT_RANGE,
    ] {
        reply.headers.remove(name);
    }
    reply.status = StatusCode::NOT_MODIFIED;
    remove_body(reply)
}

fn remove_body(mut reply: Reply) -> Reply {
    reply.headers.remove(header::CONTENT_LENGTH);
    reply.body = Bytes::new();
    reply
}

/// Reduces the recorded response to the part that answers (RFC 9110, sections 14.4 and 15.3.7).
fn make_partial(part: &Part, mut reply: Reply) -> Reply {
    reply.status = match part {
        Part::Recorded => return reply,
        Part::Whole => StatusCode::OK,
        Part::Slice { body, .. } => {
            reply.body = reply.body.slice(body.clone());
            StatusCode::PARTIAL_CONTENT
        }
        Part::Outside { .. } => {
            reply.body = Bytes::new();
            StatusCode::RANGE_NOT_SATISFIABLE
        }
    };
    reply.headers.remove(header::CONTENT_RANGE);
    let content_range = part.content_range().map(HeaderValue::try_from);
    if let Some(Ok(value)) = content_range {
        reply.headers.insert(header::CONTENT_RANGE, value);
    }
    let length = HeaderValue::from(reply.body.len());
    reply.headers.insert(header::CONTENT_LENGTH, length);
    reply
}

/// Returns the response of a server that allows the request (Fetch standard, CORS protocol).
fn respond_to_preflight(request: &Request<'_>) -> Reply {
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
        stream: None,
        think: Duration::ZERO,
        early_hints: None,
    }
}

fn respond_not_recorded() -> Reply {
    const BODY: &[u8] = b"not recorded\n";
    let mut headers = HeaderMap::new();
    let plain = HeaderValue::from_static("text/plain");
    headers.insert(header::CONTENT_TYPE, plain);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(BODY.len()));
    Reply {
        status: StatusCode::NOT_FOUND,
        headers,
        body: Bytes::from_static(BODY),
        stream: None,
        think: Duration::ZERO,
        early_hints: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entity_tags_compare_weakly() {
        assert!(has_etag("\"a\", W/\"b\"", "\"b\""));
        assert!(has_etag("*", "\"x\""));
        assert!(!has_etag("\"a\"", "\"b\""));
        assert!(!has_etag("\"a\"", ""));
    }
}
