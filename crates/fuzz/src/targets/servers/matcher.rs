use bytes::Bytes;
use eyelevel_archive::{Exchange, Header};
use eyelevel_replay::matcher::{Answer, How, Matcher, Progress, Request, Rules};
use http::HeaderMap;

const EXCHANGES_MAX: usize = 40;

/// Records exchanges and requests each of them. A line is a letter, which selects the method, the
/// status and the body, and a path with its query. Each recorded request is found exactly, and
/// every response was recorded for the same method, except for the body of a HEAD.
pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let lines = text.lines().take(EXCHANGES_MAX);
    let exchanges: Vec<Exchange> = lines.enumerate().filter_map(exchange).collect();
    let headers = HeaderMap::new();
    for longest_prefix in [false, true] {
        let matcher = Matcher::new(&exchanges, Rules { longest_prefix });
        let mut progress = Progress::default();
        for exchange in &exchanges {
            let url = &exchange.url;
            for method in [&exchange.method, "GET", "HEAD", "OPTIONS"] {
                let request = Request {
                    method,
                    scheme: url.scheme,
                    host: &url.host,
                    port: url.port,
                    path_and_query: &url.path_and_query,
                    headers: &headers,
                    body: &exchange.request_body,
                };
                let answer = matcher.answer(&exchanges, &request, &mut progress);
                check(&exchanges, &request, exchange, &answer);
                let far = format!("{}&x=1", url.path_and_query);
                let other = Request {
                    path_and_query: &far,
                    ..request
                };
                drop(matcher.answer(&exchanges, &other, &mut progress));
            }
        }
    }
}

fn exchange((index, line): (usize, &str)) -> Option<Exchange> {
    let letter = usize::from(*line.as_bytes().first()?);
    let target = line.get(1..)?;
    Some(Exchange {
        index,
        method: ["GET", "POST", "HEAD"][letter % 3].into(),
        url: format!("https://a.test/{target}").parse().ok()?,
        request_headers: Vec::new(),
        request_body: Bytes::from(vec![b'x'; letter / 3 % 3]),
        status: [200, 304, 206, 416][letter / 9 % 4],
        reason: String::new(),
        response_headers: vec![Header::new("content-range", "bytes 0-2/3")],
        body: Bytes::from_static(b"abc"),
        address: None,
        protocol: "h2".into(),
        recorded_at_unix_ms: None,
        time_to_first_byte_ms: None,
        initiator: None,
    })
}

fn check(exchanges: &[Exchange], request: &Request<'_>, asked: &Exchange, answer: &Answer) {
    let is_recorded = request.method == asked.method;
    match answer {
        Answer::Match { exchange, how } => {
            let found = &exchanges[*exchange];
            let is_head = request.method == "HEAD" && found.method == "GET";
            assert!(found.method == request.method || is_head);
            let is_exact = matches!(how, How::Exact | How::Body);
            assert!(!is_exact || found.url == asked.url);
            let is_found = found.url == asked.url || matches!(how, How::Head);
            assert!(is_found || !is_recorded, "{how:?}");
        }
        Answer::Preflight => panic!("nobody asked whether it may"),
        Answer::Miss(miss) => {
            let is_range = miss.difference == "range";
            // No request here is conditional, and a 304 answers only conditional ones.
            let is_condition = miss.difference == "condition" && asked.status == 304;
            assert!(
                is_range || is_condition || !is_recorded || asked.status < 200,
                "{miss:?}"
            );
        }
    }
}
