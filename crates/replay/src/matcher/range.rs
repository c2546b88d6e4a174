//! The part of a recorded exchange that answers a request's `Range` (RFC 9110, section 14): for the
//! matcher, which skips an exchange without any of it, and for the response. Pure.

use super::Request;
use eyelevel_archive::Exchange;
use std::ops;

pub(super) const PARTIAL: u16 = 206;
pub(super) const NOT_SATISFIABLE: u16 = 416;

/// The response of a server that holds what the exchange holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The response as it was recorded.
    Recorded,
    /// The whole body, with status 200, which was recorded as one range.
    Whole,
    /// A range of bytes.
    Slice {
        /// Its place in the recorded body; never empty.
        body: ops::Range<usize>,
        /// Its first byte in the whole.
        first: usize,
        /// The whole's length, if it is known.
        length: Option<usize>,
    },
    /// No bytes: the range begins beyond the end.
    Outside {
        /// The whole's length.
        length: usize,
    },
}

impl Part {
    /// Returns the value of `Content-Range` (RFC 9110, section 14.4) of a generated response.
    pub fn content_range(&self) -> Option<String> {
        match self {
            Self::Recorded | Self::Whole => None,
            Self::Slice {
                body,
                first,
                length,
            } => {
                let last = first + body.len() - 1;
                let length = length.map_or_else(|| "*".to_owned(), |length| length.to_string());
                Some(format!("bytes {first}-{last}/{length}"))
            }
            Self::Outside { length } => Some(format!("bytes */{length}")),
        }
    }
}

/// Returns the part of `exchange` that answers `request`; `None` if a correct response needs bytes
/// that it lacks.
pub fn part(exchange: &Exchange, request: &Request<'_>) -> Option<Part> {
    let is_read = exchange.method == "GET" && matches!(request.method, "GET" | "HEAD");
    let is_whole = exchange.status == 200;
    if !is_read || !(is_whole || matches!(exchange.status, PARTIAL | NOT_SATISFIABLE)) {
        return Some(Part::Recorded);
    }
    // Ranges are defined for GET alone (section 14.2).
    let requested = match request.method {
        "GET" => request.header("range"),
        _ => "",
    };
    if (is_whole && requested.is_empty()) || is_recorded_answer(exchange, request) {
        return Some(Part::Recorded);
    }
    let recorded = RecordedBytes::from_exchange(exchange)?;
    let requested =
        RequestedRange::parse(requested).filter(|_| is_condition_met(exchange, request));
    match requested {
        Some(requested) => recorded.slice(&requested),
        // This also answers several ranges, which a server need not send.
        None if is_whole => Some(Part::Recorded),
        None => recorded.is_whole().then_some(Part::Whole),
    }
}

/// Returns whether the recorded request was for the same range, under the same condition.
pub(crate) fn is_same_range(exchange: &Exchange, request: &Request<'_>) -> bool {
    let same = |name| exchange.request_header(name).unwrap_or("") == request.header(name);
    same("range") && (same("if-range") || is_condition_met(exchange, request))
}

/// Returns whether the recorded request had the same range, or the server answers every range with
/// the whole.
fn is_recorded_answer(exchange: &Exchange, request: &Request<'_>) -> bool {
    let recorded = |name| exchange.request_header(name).unwrap_or("");
    if exchange.status != 200 {
        return is_same_range(exchange, request);
    }
    let is_condition_same = recorded("if-range") == request.header("if-range");
    let is_same = recorded("range") == request.header("range") && is_condition_same;
    let ignores = !recorded("range").is_empty() && recorded("if-range").is_empty();
    let accepts = exchange.response_header("accept-ranges").unwrap_or("");
    is_same || ignores || accepts.trim().eq_ignore_ascii_case("none")
}

/// Returns whether `If-Range` allows a part (RFC 9110, section 13.1.5).
fn is_condition_met(exchange: &Exchange, request: &Request<'_>) -> bool {
    let condition = request.header("if-range");
    let matches = |name| exchange.response_header(name) == Some(condition);
    condition.is_empty()
        || (matches("etag") && !condition.starts_with("W/"))
        // A browser returns the text that it received, so no date needs to be compared.
        || matches("last-modified")
        // It held when it was recorded; the response need not repeat it (section 15.3.7).
        || (exchange.status == PARTIAL && exchange.request_header("if-range") == Some(condition))
}

/// The bytes of the whole that a recorded body holds.
struct RecordedBytes {
    first: usize,
    end: usize,
    length: Option<usize>,
}

impl RecordedBytes {
    fn from_exchange(exchange: &Exchange) -> Option<Self> {
        let bytes = exchange.body.len();
        let content_range = || {
            let text = exchange.response_header("content-range")?;
            let text = text.trim().strip_prefix("bytes ")?;
            let (range, length) = text.split_once('/')?;
            let length = match length.trim() {
                "*" => None,
                length => Some(number(length)?),
            };
            Some((range.trim(), length))
        };
        match exchange.status {
            PARTIAL => {
                let (range, length) = content_range()?;
                let (first, last) = range.split_once('-')?;
                let (first, last) = (number(first)?, number(last)?);
                let declared_bytes = last.checked_sub(first)?.checked_add(1)?;
                // A transfer that broke off holds less; more would have no place.
                let fits = bytes <= declared_bytes && length.is_none_or(|length| last < length);
                let end = first.checked_add(bytes).filter(|_| fits)?;
                Some(Self { first, end, length })
            }
            NOT_SATISFIABLE => {
                let (_, length) = content_range()?;
                Some(Self {
                    first: 0,
                    end: 0,
                    length,
                })
            }
            _ => Some(Self {
                first: 0,
                end: bytes,
                length: Some(bytes),
            }),
        }
    }

    fn is_whole(&self) -> bool {
        self.first == 0 && self.end > 0 && self.length == Some(self.end)
    }

    fn slice(&self, requested: &RequestedRange) -> Option<Part> {
        let (first, last) = match *requested {
            RequestedRange::From { first, last } => (first, last),
            RequestedRange::Last(0) => (self.length?, None),
            RequestedRange::Last(bytes) => (self.length?.saturating_sub(bytes), None),
        };
        if let Some(length) = self.length.filter(|length| first >= *length) {
            return Some(Part::Outside { length });
        }
        // A server may send less than requested (section 14.2), but from the start of the range: a
        // client that requested the rest continues there.
        let end = last.map_or(self.end, |last| last.saturating_add(1).min(self.end));
        let is_held = self.first <= first && first < end;
        is_held.then(|| Part::Slice {
            body: first - self.first..end - self.first,
            first,
            length: self.length,
        })
    }
}

/// One requested range (RFC 9110, section 14.1.2).
#[derive(Debug, PartialEq, Eq)]
enum RequestedRange {
    From { first: usize, last: Option<usize> },
    Last(usize),
}

impl RequestedRange {
    /// Parses a single range; `None` if there is no range, several, or an invalid one.
    fn parse(text: &str) -> Option<Self> {
        let (unit, range) = text.split_once('=')?;
        let (first, last) = range.split_once('-')?;
        if !unit.trim().eq_ignore_ascii_case("bytes") {
            return None;
        }
        match (first.trim(), last.trim()) {
            ("", last) => Some(Self::Last(number(last)?)),
            (first, "") => Some(Self::From {
                first: number(first)?,
                last: None,
            }),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Self::From {
                    first,
                    last: Some(last),
                })
            }
        }
    }
}

/// Parses digits alone, if the number fits.
fn number(text: &str) -> Option<usize> {
    let text = text.trim();
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eyelevel_archive::Header;

    fn cut(text: &str, bytes: usize) -> Option<Part> {
        let recorded = RecordedBytes {
            first: 0,
            end: bytes,
            length: Some(bytes),
        };
        recorded.slice(&RequestedRange::parse(text)?)
    }

    #[test]
    fn ranges_are_parsed_by_rfc_9110_section_14_1_2() {
        let slice = |body: ops::Range<usize>| Part::Slice {
            first: body.start,
            body,
            length: Some(10),
        };
        let outside = Part::Outside { length: 10 };
        for (text, expected) in [
            ("bytes=0-0", Some(slice(0..1))),
            ("bytes=2-", Some(slice(2..10))),
            ("bytes=2-99", Some(slice(2..10))),
            ("bytes=-3", Some(slice(7..10))),
            ("bytes=-30", Some(slice(0..10))),
            ("bytes=10-", Some(outside.clone())),
            ("bytes=-0", Some(outside)),
            ("bytes=5-2", None),
            ("bytes=0-1,3-4", None),
            ("bytes=a-b", None),
            ("bytes=+1-2", None),
            ("bytes=-", None),
            ("bytes", None),
            ("lines=0-1", None),
        ] {
            assert_eq!(cut(text, 10), expected, "{text}");
        }
        assert_eq!(cut("bytes=0-", 0), Some(Part::Outside { length: 0 }));
    }

    #[test]
    fn a_recorded_range_at_the_end_of_numbers_is_no_place() {
        let recorded = |content_range: &str, bytes: &'static [u8]| Exchange {
            index: 0,
            method: "GET".to_owned(),
            url: "https://a.test/".parse().unwrap(),
            request_headers: Vec::new(),
            request_body: Default::default(),
            status: PARTIAL,
            reason: String::new(),
            response_headers: vec![Header::new("content-range", content_range.to_owned())],
            body: bytes.into(),
            address: None,
            protocol: "h2".to_owned(),
            recorded_at_unix_ms: None,
            time_to_first_byte_ms: None,
            initiator: None,
        };
        let last = usize::MAX;
        let at_the_end = format!("bytes {}-{last}/*", last - 1);
        for bytes in [&b"ab"[..], b"abc"] {
            assert!(RecordedBytes::from_exchange(&recorded(&at_the_end, bytes)).is_none());
        }
        let before = recorded(&format!("bytes {}-{}/*", last - 2, last - 1), b"ab");
        assert_eq!(RecordedBytes::from_exchange(&before).unwrap().end, last);
    }
}
