use bytes::Bytes;
use eyelevel_archive::{Exchange, Header, Scheme};
use eyelevel_replay::matcher::Request;
use eyelevel_replay::wire::{Part, part};
use http::{HeaderMap, HeaderValue};

/// Answers range requests. The lines are the recorded status, its `Content-Range`, `ETag` and
/// `Accept-Ranges`, the recorded request's `Range` and `If-Range`, and the new request's; the rest
/// is the recorded body. A part is inside the body and where `Content-Range` says; an identical
/// request gets the recorded response.
pub(crate) fn run(input: &[u8]) {
    let mut lines = input.splitn(9, |byte| *byte == b'\n');
    let mut line = || String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let status = [200, 206, 416, 304][line().len() % 4];
    let [
        content_range,
        etag,
        accepts,
        recorded,
        recorded_if,
        asked,
        asked_if,
    ] = std::array::from_fn(|_| line());
    let body = Bytes::copy_from_slice(lines.next().unwrap_or_default());
    let fields = |named: &[(&str, &String)]| -> Vec<Header> {
        let some = named.iter().filter(|(_, value)| !value.is_empty());
        some.map(|(name, value)| Header::new(*name, (*value).clone()))
            .collect()
    };
    let exchange = Exchange {
        index: 0,
        method: "GET".into(),
        url: "https://a.test/".parse().expect("it is a URL"),
        request_headers: fields(&[("range", &recorded), ("if-range", &recorded_if)]),
        request_body: Bytes::new(),
        status,
        reason: String::new(),
        response_headers: fields(&[
            ("content-range", &content_range),
            ("etag", &etag),
            ("accept-ranges", &accepts),
        ]),
        body,
        address: None,
        protocol: "h2".into(),
        recorded_at_unix_ms: None,
        time_to_first_byte_ms: None,
        initiator: None,
    };
    let mut headers = HeaderMap::new();
    for (name, value) in [("range", &asked), ("if-range", &asked_if)] {
        match HeaderValue::from_str(value) {
            Ok(_) if value.is_empty() => {}
            Ok(value) => drop(headers.insert(name, value)),
            Err(_) => return, // hyper hands over no such field
        }
    }
    let mut request = Request {
        method: "GET",
        scheme: Scheme::Https,
        host: "a.test",
        port: 443,
        path_and_query: "/",
        headers: &headers,
        body: &[],
    };
    let answered = part(&exchange, &request);
    // A field that is not ASCII counts as not sent.
    let is_text = asked.is_ascii() && asked_if.is_ascii();
    if is_text && asked == recorded && asked_if == recorded_if {
        assert_eq!(answered, Some(Part::Recorded));
    }
    check(&exchange, answered);
    request.method = "HEAD";
    let whole = part(&exchange, &request);
    assert!(!matches!(
        whole,
        Some(Part::Slice { .. } | Part::Outside { .. })
    ));
}

fn check(exchange: &Exchange, answered: Option<Part>) {
    let said = answered.as_ref().and_then(Part::content_range);
    match answered {
        None | Some(Part::Recorded) => assert_eq!(said, None),
        Some(Part::Whole) => assert!(!exchange.body.is_empty()),
        Some(Part::Outside { length }) => assert_eq!(said, Some(format!("bytes */{length}"))),
        Some(Part::Slice {
            body,
            first,
            length,
        }) => {
            assert!(!body.is_empty() && body.end <= exchange.body.len());
            let last = first + (body.len() - 1);
            assert!(length.is_none_or(|length| last < length));
            let said = said.expect("a part says where it stands");
            assert!(
                said.starts_with(&format!("bytes {first}-{last}/")),
                "{said}"
            );
        }
    }
}
