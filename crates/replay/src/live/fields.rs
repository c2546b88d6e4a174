//! Header fields of requests to a live build and of its responses; pure.

use super::rewrite::{Names, Rewriter};
use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use std::net::IpAddr;

/// Connection-specific fields, which are not forwarded (RFC 9110, section 7.6.1).
const CONNECTION_SPECIFIC: [HeaderName; 7] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// The values of `Host` and `X-Forwarded-*` of a request to a live build.
pub(super) struct Forwarded<'a> {
    pub host: &'a str,
    pub scheme: &'a str,
    pub client: IpAddr,
}

/// Returns the fields of a request as a reverse proxy forwards them.
pub(super) fn request(received: &HeaderMap, of: &Forwarded<'_>) -> HeaderMap {
    let mut fields = HeaderMap::with_capacity(received.len() + 5);
    let mut cookies: Vec<&[u8]> = Vec::new();
    for (name, value) in received {
        // RFC 9113, section 8.2.3: over HTTP/1.1 they are one field.
        if name == header::COOKIE {
            cookies.push(value.as_bytes());
        } else if !is_connection_specific(name, received) && name != header::CONTENT_LENGTH {
            fields.append(name, value.clone());
        }
    }
    let mut set = |name: HeaderName, value: &[u8]| {
        if let Ok(value) = HeaderValue::from_bytes(value) {
            fields.insert(name, value);
        }
    };
    if !cookies.is_empty() {
        set(header::COOKIE, &cookies.join(&b"; "[..]));
    }
    set(header::HOST, of.host.as_bytes());
    set(
        HeaderName::from_static("x-forwarded-host"),
        of.host.as_bytes(),
    );
    set(
        HeaderName::from_static("x-forwarded-proto"),
        of.scheme.as_bytes(),
    );
    let client = of.client.to_string();
    set(
        HeaderName::from_static("x-forwarded-for"),
        client.as_bytes(),
    );
    // A connection for each request: which of them shares one would depend on the protocol.
    set(header::CONNECTION, b"close");
    fields
}

/// Returns the fields of a response as the browser receives them, and the number of those that
/// named the local origin.
pub(super) fn answer(
    received: &HeaderMap,
    names: &Names,
    policies: &Names,
    local_hosts: &[&str],
    is_secure: bool,
) -> (HeaderMap, u64) {
    let mut fields = HeaderMap::with_capacity(received.len());
    let mut rewritten = 0;
    for (name, value) in received {
        // The server's own HTTP/3 endpoint is out of the browser's reach.
        if is_connection_specific(name, received) || name == header::ALT_SVC {
            continue;
        }
        let new = if name == header::SET_COOKIE {
            cookie(value.as_bytes(), local_hosts, is_secure)
        } else {
            let is_policy = name.as_str().starts_with("content-security-policy");
            let names = if is_policy { policies } else { names };
            replace(value.as_bytes(), names)
        };
        let new = new.and_then(|new| HeaderValue::from_bytes(&new).ok());
        rewritten += u64::from(new.is_some());
        fields.append(name, new.unwrap_or_else(|| value.clone()));
    }
    (fields, rewritten)
}

fn is_connection_specific(name: &HeaderName, fields: &HeaderMap) -> bool {
    let named = || {
        let all = fields.get_all(header::CONNECTION).iter();
        let mut words = all
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','));
        words.any(|word| word.trim().eq_ignore_ascii_case(name.as_str()))
    };
    CONNECTION_SPECIFIC.contains(name) || named()
}

/// Returns a value with its local names replaced; none if there are none.
fn replace(value: &[u8], names: &Names) -> Option<Vec<u8>> {
    let mut rewriter = Rewriter::new(names.clone());
    let mut new = rewriter.feed(Bytes::copy_from_slice(value)).to_vec();
    new.extend_from_slice(&rewriter.finish());
    (rewriter.replaced() > 0).then_some(new)
}

/// A cookie of a local host is one of the host that sent it; over TLS it is `Secure`, as behind any
/// front. None where it stays as it is.
fn cookie(value: &[u8], local_hosts: &[&str], is_secure: bool) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(value).ok()?;
    let attributes = || text.split(';').skip(1).map(str::trim);
    let is_local = |attribute: &str| {
        let (name, host) = attribute.split_once('=').unwrap_or((attribute, ""));
        let host = host.trim().trim_start_matches('.');
        name.trim().eq_ignore_ascii_case("domain")
            && local_hosts
                .iter()
                .any(|local| local.eq_ignore_ascii_case(host))
    };
    let lacks_secure = is_secure && !attributes().any(|each| each.eq_ignore_ascii_case("secure"));
    if !lacks_secure && !attributes().any(is_local) {
        return None;
    }
    let pair = text.split(';').next().unwrap_or("").trim();
    let kept = attributes().filter(|each| !is_local(each));
    let words: Vec<&str> = [pair]
        .into_iter()
        .chain(kept)
        .chain(lacks_secure.then_some("Secure"))
        .collect();
    Some(words.join("; ").into_bytes())
}

/// Whether a body is text in which the local origin is looked for: as it is, and whole.
pub(super) fn is_searched(status: StatusCode, fields: &HeaderMap) -> bool {
    is_text(fields) && is_plain(fields) && status != StatusCode::PARTIAL_CONTENT
}

/// Whether a body is text.
pub(super) fn is_text(fields: &HeaderMap) -> bool {
    let kind = fields
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let kind = kind
        .unwrap_or("")
        .split(';')
        .next()
        .unwrap_or("")
        .trim()
        .to_ascii_lowercase();
    kind.starts_with("text/")
        || kind.ends_with("+json")
        || kind.ends_with("+xml")
        || matches!(
            &*kind,
            "application/javascript" | "application/json" | "application/xml"
        )
}

fn is_plain(fields: &HeaderMap) -> bool {
    let encoding = fields.get(header::CONTENT_ENCODING);
    encoding.is_none_or(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(fields: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in fields {
            map.append(*name, value.parse().unwrap());
        }
        map
    }

    fn answered(fields: &[(&'static str, &str)]) -> (HeaderMap, u64) {
        let names = Names::new(["localhost:3000"], "https", "shop.test");
        let policies = super::super::policies(&["localhost:3000".into()], "https", "shop.test");
        answer(&map(fields), &names, &policies, &["localhost"], true)
    }

    #[test]
    fn a_request_names_the_browsers_host_and_keeps_its_cookies_in_one_field() {
        let received = map(&[
            ("host", "elsewhere.test"),
            ("cookie", "a=1"),
            ("cookie", "b=2"),
            ("connection", "x-own"),
            ("x-own", "1"),
            ("x-forwarded-for", "6.6.6.6"),
            ("accept", "*/*"),
        ]);
        let forwarded = Forwarded {
            host: "shop.test",
            scheme: "https",
            client: "198.18.0.2".parse().unwrap(),
        };
        let sent = request(&received, &forwarded);
        let right = map(&[
            ("accept", "*/*"),
            ("cookie", "a=1; b=2"),
            ("host", "shop.test"),
            ("x-forwarded-host", "shop.test"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-for", "198.18.0.2"),
            ("connection", "close"),
        ]);
        assert_eq!(sent, right);
    }

    #[test]
    fn an_answer_leads_to_the_browsers_origin() {
        let (fields, rewritten) = answered(&[
            (
                "location",
                "http://localhost:3000/next?u=http://localhost:3001/",
            ),
            ("set-cookie", "a=1; Domain=localhost; Path=/"),
            ("set-cookie", "b=2; Secure; Domain=shop.test"),
            (
                "content-security-policy",
                "img-src localhost:3000 http://localhost:3000",
            ),
            ("connection", "close"),
            ("alt-svc", "h3=\":3000\""),
            ("etag", "\"1\""),
        ]);
        let right = map(&[
            (
                "location",
                "https://shop.test/next?u=http://localhost:3001/",
            ),
            ("set-cookie", "a=1; Path=/; Secure"),
            ("set-cookie", "b=2; Secure; Domain=shop.test"),
            (
                "content-security-policy",
                "img-src shop.test https://shop.test",
            ),
            ("etag", "\"1\""),
        ]);
        assert_eq!((fields, rewritten), (right, 3));
    }

    #[test]
    fn only_text_that_is_whole_and_not_encoded_is_searched() {
        let searched = |status: u16, fields: &[(&'static str, &str)]| {
            is_searched(StatusCode::from_u16(status).unwrap(), &map(fields))
        };
        assert!(searched(
            200,
            &[("content-type", "text/html; charset=utf-8")]
        ));
        assert!(searched(200, &[("content-type", "application/ld+json")]));
        assert!(!searched(200, &[("content-type", "image/png")]));
        assert!(!searched(206, &[("content-type", "text/css")]));
        let encoded = [("content-type", "text/css"), ("content-encoding", "br")];
        assert!(!searched(200, &encoded));
    }
}
