//! The response fields that a replay sends.

use bytes::Bytes;

use crate::exchange::Exchange;
use crate::exchange::header::Header;

/// Fields that are not replayed: connection-specific ones (RFC 9110, section 7.6.1; HTTP/2 and
/// HTTP/3 forbid them), and ones that would move later requests to another protocol or origin.
const DROPPED: [&str; 12] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
    "alt-svc",
    "alternate-protocol",
    "alt-used",
    "strict-transport-security",
];

/// Returns the response's fields as a replay sends them over any protocol: in recorded order,
/// without those of the recorded connection and those that not every protocol can carry, and with
/// the body's `content-length` once.
pub fn response_headers_to_send(exchange: &Exchange) -> Vec<Header> {
    let named_in_connection: Vec<String> = exchange
        .response_headers
        .iter()
        .filter(|header| header.is("connection"))
        .filter_map(Header::text)
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let length = content_length(exchange);
    let mut length_is_sent = false;
    let mut headers = Vec::with_capacity(exchange.response_headers.len() + 1);
    for header in &exchange.response_headers {
        let name = header.name.to_ascii_lowercase();
        if DROPPED.contains(&name.as_str()) || named_in_connection.contains(&name) {
            continue;
        }
        if name == "content-length" {
            if let (Some(length), false) = (&length, length_is_sent) {
                headers.push(Header {
                    name: header.name.clone(),
                    value: length.clone(),
                });
                length_is_sent = true;
            }
        } else if header.is_valid() {
            headers.push(header.clone());
        }
    }
    if let (Some(length), false) = (length, length_is_sent) {
        headers.push(Header::new("content-length", length));
    }
    headers
}

/// Returns the value of `content-length`: the body's length, or the recorded value where a response
/// has no body and the field describes another response (RFC 9110, section 8.6).
fn content_length(exchange: &Exchange) -> Option<Bytes> {
    let speaks_of_another = exchange.status == 304 || exchange.method == "HEAD";
    match exchange.status {
        100..=199 | 204 => None,
        _ if speaks_of_another => {
            let recorded = exchange.response_header("content-length")?;
            let is_number =
                !recorded.is_empty() && recorded.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| Bytes::from(recorded.to_owned()))
        }
        _ => Some(Bytes::from(exchange.body.len().to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(method: &str, status: u16, headers: &[(&str, &str)]) -> Vec<(String, String)> {
        let exchange = Exchange {
            index: 0,
            method: method.to_owned(),
            url: "https://a.test/".parse().unwrap(),
            request_headers: Vec::new(),
            request_body: Bytes::new(),
            status,
            reason: String::new(),
            response_headers: headers
                .iter()
                .map(|&(name, value)| Header::new(name, value.to_owned()))
                .collect(),
            body: if method == "HEAD" {
                Bytes::new()
            } else {
                Bytes::from_static(b"body")
            },
            address: None,
            protocol: "http/1.1".to_owned(),
            recorded_at_unix_ms: None,
            time_to_first_byte_ms: None,
            initiator: None,
        };
        let text = |header: Header| (header.name.clone(), header.text().unwrap().to_owned());
        response_headers_to_send(&exchange)
            .into_iter()
            .map(text)
            .collect()
    }

    fn pairs(headers: &[(&str, &str)]) -> Vec<(String, String)> {
        headers
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    #[test]
    fn fields_of_the_recorded_connection_are_dropped() {
        let recorded = [
            ("Set-Cookie", "a=1"),
            ("Connection", "Keep-Alive, X-Hop"),
            ("Keep-Alive", "timeout=5"),
            ("X-Hop", "1"),
            ("Transfer-Encoding", "chunked"),
            ("Alt-Svc", "h3=\":443\""),
            ("Alternate-Protocol", "443:quic"),
            ("Strict-Transport-Security", "max-age=1"),
            ("Content-Encoding", "gzip"),
            ("Set-Cookie", "b=2"),
            ("bad name", "x"),
            (":status", "200"),
            ("bad-value", "a\u{1}b"),
        ];
        let kept = [
            ("Set-Cookie", "a=1"),
            ("Content-Encoding", "gzip"),
            ("Set-Cookie", "b=2"),
            ("content-length", "4"),
        ];
        assert_eq!(send("GET", 200, &recorded), pairs(&kept));
    }

    #[test]
    fn the_length_is_the_bodys() {
        let twice = [("Content-Length", "9"), ("A", "b"), ("content-length", "9")];
        let kept = [("Content-Length", "4"), ("A", "b")];
        assert_eq!(send("GET", 200, &twice), pairs(&kept));
        assert_eq!(send("GET", 204, &twice), pairs(&[("A", "b")]));
        let recorded = [("Content-Length", "9"), ("A", "b")];
        assert_eq!(send("HEAD", 200, &twice), pairs(&recorded));
        assert_eq!(send("GET", 304, &twice), pairs(&recorded));
        assert_eq!(send("HEAD", 200, &[("Content-Length", "x")]), pairs(&[]));
    }
}
