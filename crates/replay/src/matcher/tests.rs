use super::*;
use bytes::Bytes;
use eyelevel_archive::{Header, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue};

fn exchange(index: usize, method: &str, url: &str) -> Exchange {
    Exchange {
        index,
        method: method.into(),
        url: url.parse().unwrap(),
        request_headers: Vec::new(),
        request_body: Bytes::new(),
        status: 200,
        reason: "OK".into(),
        response_headers: Vec::new(),
        body: Bytes::from_static(b"body"),
        address: None,
        protocol: "http/1.1".into(),
        recorded_at_unix_ms: None,
        time_to_first_byte_ms: None,
        initiator: None,
    }
}

fn recording(requests: &[(&str, &str)]) -> Vec<Exchange> {
    let numbered = requests.iter().enumerate();
    numbered
        .map(|(index, (method, url))| exchange(index, method, url))
        .collect()
}

struct Client {
    exchanges: Vec<Exchange>,
    matcher: Matcher,
    progress: Progress,
}

impl Client {
    fn new(exchanges: Vec<Exchange>, rules: Rules) -> Self {
        let matcher = Matcher::new(&exchanges, rules);
        Self {
            exchanges,
            matcher,
            progress: Progress::default(),
        }
    }

    fn answer_with(
        &mut self,
        method: &str,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let url: eyelevel_archive::Url = url.parse().unwrap();
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| {
                let name: HeaderName = name.parse().unwrap();
                (name, HeaderValue::from_str(value).unwrap())
            })
            .collect();
        let request = Request {
            method,
            scheme: url.scheme,
            host: &url.host,
            port: url.port,
            path_and_query: &url.path_and_query,
            headers: &headers,
            body,
        };
        self.matcher
            .answer(&self.exchanges, &request, &mut self.progress)
    }

    fn answer(&mut self, method: &str, url: &str) -> Answer {
        self.answer_with(method, url, &[], b"")
    }
}

fn matched(exchange: usize, how: How) -> Answer {
    Answer::Match { exchange, how }
}

#[test]
fn parameters_of_a_path_are_compared_as_a_querys_are() {
    let recorded = [
        ("GET", "https://a.test/pixel;r=17;a=p-1;et=1518208235426"),
        ("GET", "https://a.test/pixel;r=18;a=p-2?b=1"),
        ("GET", "https://a.test/shop;jsessionid=0A1B2C3D4E5F/item"),
    ];
    let mut client = Client::new(recording(&recorded), Rules::default());
    let mut matched = |url| match client.answer("GET", url) {
        Answer::Match { exchange, how } => Some((exchange, how)),
        _ => None,
    };
    let again = matched("https://a.test/pixel;a=p-1;r=99;et=1518208239999");
    assert_eq!(again, Some((0, How::CacheBuster)));
    let other = matched("https://a.test/pixel;r=99;a=p-2?b=2");
    assert_eq!(other, Some((1, How::Query)));
    // Only the last segment has parameters; another's may name another resource.
    assert_eq!(matched("https://a.test/shop;x=1/item"), None);
}

#[test]
fn scheme_host_port_method_path_and_query_decide() {
    let mut client = Client::new(
        recording(&[
            ("GET", "https://a.test/x?a=1"),
            ("GET", "http://a.test/x?a=1"),
            ("GET", "https://b.test/x?a=1"),
            ("GET", "https://a.test:444/x?a=1"),
            ("POST", "https://a.test/x?a=1"),
        ]),
        Rules::default(),
    );
    for position in 0..5 {
        let exchange = &client.exchanges[position];
        let (method, url) = (exchange.method.clone(), exchange.url.to_string());
        assert_eq!(client.answer(&method, &url), matched(position, How::Exact));
    }
}

#[test]
fn a_repeated_request_gets_the_sequence_then_its_last() {
    let url = "https://a.test/poll";
    let mut client = Client::new(recording(&[("GET", url); 3]), Rules::default());
    let answers: Vec<Answer> = (0..5).map(|_| client.answer("GET", url)).collect();
    assert_eq!(answers, [0, 1, 2, 2, 2].map(|at| matched(at, How::Exact)));
}

#[test]
fn head_is_answered_from_get() {
    let mut client = Client::new(recording(&[("GET", "https://a.test/")]), Rules::default());
    assert_eq!(
        client.answer("HEAD", "https://a.test/"),
        matched(0, How::Head)
    );
}

#[test]
fn the_most_similar_query_answers_and_cache_busters_do_not_count() {
    let mut client = Client::new(
        recording(&[
            ("GET", "https://a.test/x?a=1&b=2&_=1519210645123"),
            ("GET", "https://a.test/x?a=1&b=3&_=1519210645124"),
        ]),
        Rules::default(),
    );
    let with = |rest: &str| format!("https://a.test/x?{rest}");
    assert_eq!(
        client.answer("GET", &with("_=1700000000000&b=3&a=1")),
        matched(1, How::CacheBuster)
    );
    assert_eq!(
        client.answer("GET", &with("a=1&b=2")),
        matched(0, How::CacheBuster)
    );
    assert_eq!(
        client.answer("GET", &with("b=3&c=4")),
        matched(1, How::Query)
    );
    assert_eq!(client.answer("GET", &with("z=9")), matched(0, How::Query));
}

#[test]
fn a_prefix_answers_only_where_it_is_allowed() {
    let recorded = [
        ("GET", "https://a.test/list/1"),
        ("GET", "https://a.test/list/22"),
    ];
    let mut strict = Client::new(recording(&recorded), Rules::default());
    let miss = Miss {
        nearest_url: Some("https://a.test/list/22".into()),
        difference: "path",
    };
    assert_eq!(
        strict.answer("GET", "https://a.test/list/23"),
        Answer::Miss(miss)
    );
    let rules = Rules {
        longest_prefix: true,
    };
    let mut lenient = Client::new(recording(&recorded), rules);
    assert_eq!(
        lenient.answer("GET", "https://a.test/list/23"),
        matched(1, How::Prefix)
    );
}

#[test]
fn a_miss_names_the_difference() {
    let mut client = Client::new(
        recording(&[("GET", "https://a.test/x"), ("GET", "https://b.test/y?q=1")]),
        Rules::default(),
    );
    for (method, url, nearest, expected) in [
        ("POST", "https://a.test/x", "https://a.test/x", "method"),
        (
            "POST",
            "https://b.test/y",
            "https://b.test/y?q=1",
            "method and query",
        ),
        ("GET", "https://a.test/xy", "https://a.test/x", "path"),
        (
            "GET",
            "https://c.test/y?q=1",
            "https://b.test/y?q=1",
            "origin",
        ),
        ("GET", "http://a.test/x", "https://a.test/x", "origin"),
        (
            "GET",
            "https://c.test/z",
            "https://a.test/x",
            "origin and path",
        ),
    ] {
        let Answer::Miss(miss) = client.answer(method, url) else {
            panic!("{method} {url} matched");
        };
        assert_eq!(
            (miss.nearest_url.as_deref(), miss.difference),
            (Some(nearest), expected)
        );
    }
    let mut empty = Client::new(Vec::new(), Rules::default());
    let Answer::Miss(miss) = empty.answer("GET", "https://a.test/") else {
        panic!()
    };
    assert_eq!(miss.nearest_url, None);
}

#[test]
fn a_preflight_is_answered_for_recorded_urls_only() {
    let mut client = Client::new(
        recording(&[("POST", "https://a.test/api?x=1")]),
        Rules::default(),
    );
    let headers = [
        ("origin", "https://b.test"),
        ("access-control-request-method", "POST"),
    ];
    let answer = client.answer_with("OPTIONS", "https://a.test/api?x=2", &headers, b"");
    assert_eq!(answer, Answer::Preflight);
    assert_eq!(
        client.answer("OPTIONS", "https://a.test/api?x=1").how(),
        How::Miss
    );
    let answer = client.answer_with("OPTIONS", "https://a.test/other", &headers, b"");
    assert_eq!(answer.how(), How::Miss);
}

#[test]
fn vary_chooses_where_the_recording_has_the_choice() {
    let url = "https://a.test/x";
    let mut exchanges = recording(&[("GET", url), ("GET", url)]);
    for (exchange, language) in exchanges.iter_mut().zip(["de", "en"]) {
        exchange
            .request_headers
            .push(Header::new("Accept-Language", language));
        exchange
            .response_headers
            .push(Header::new("Vary", "accept-language, cookie"));
    }
    let mut client = Client::new(exchanges, Rules::default());
    for (language, at) in [("en", 1), ("de", 0), ("en", 1), ("de", 0)] {
        let answer = client.answer_with("GET", url, &[("accept-language", language)], b"");
        assert_eq!(answer, matched(at, How::Exact), "{language}");
    }
}

#[test]
fn recorded_304_and_206_answer_only_matching_requests() {
    let url = "https://a.test/x";
    let mut exchanges = recording(&[("GET", url), ("GET", url), ("GET", url)]);
    exchanges[0].status = 304;
    exchanges[1].status = 206;
    exchanges[1]
        .request_headers
        .push(Header::new("range", "bytes=0-1"));
    let mut client = Client::new(exchanges, Rules::default());
    assert_eq!(client.answer("GET", url), matched(2, How::Exact));
    let answer = client.answer_with("GET", url, &[("range", "bytes=0-1")], b"");
    assert_eq!(answer, matched(1, How::Exact));
}

#[test]
fn the_most_similar_body_answers_a_post() {
    let url = "https://a.test/graphql";
    let mut exchanges = recording(&[("POST", url), ("POST", url)]);
    exchanges[0].request_body = Bytes::from_static(b"{\"query\":\"user\"}");
    exchanges[1].request_body = Bytes::from_static(b"{\"query\":\"feed\"}");
    let mut client = Client::new(exchanges, Rules::default());
    let answer = client.answer_with("POST", url, &[], b"{\"query\":\"feed\"}");
    assert_eq!(answer, matched(1, How::Exact));
    let answer = client.answer_with("POST", url, &[], b"{\"query\":\"user\",\"id\":1}");
    assert_eq!(answer, matched(0, How::Body));
}

#[test]
fn an_equal_meaning_precedes_the_most_similar_body() {
    let mut client = Client::new(
        recording(&[
            ("GET", "https://a.test/css?family=Lato%7CRoboto&x=1&y=2"),
            ("GET", "https://a.test/css?family=Lato%7CArvo"),
            ("GET", "https://a.test/%c3%bc?a%5b%5d=1"),
        ]),
        Rules::default(),
    );
    for (url, at) in [
        ("https://a.test/css?family=Lato|Arvo", 1),
        ("https://a.test/css?family=Lato|Roboto&x=1&y=2", 0),
        ("https://a.test/%C3%BC?a[]=1", 2),
    ] {
        assert_eq!(client.answer("GET", url), matched(at, How::Exact), "{url}");
    }
    let other = client.answer("GET", "https://a.test/css?family=Lato|Open");
    assert_eq!(other.how(), How::Query);
    let other = client.answer("GET", "https://a.test/css?cb=42&family=Lato|Arvo");
    assert_eq!(other, matched(1, How::CacheBuster));
}

#[test]
fn bodies_of_several_parts_are_compared_without_their_boundary() {
    let url = "https://a.test/form";
    let parts = |boundary: &str, value: &str| {
        format!("--{boundary}\r\nX: y\r\n\r\n{value}\r\n--{boundary}--\r\n")
    };
    let kind = |boundary: &str| format!("multipart/form-data; boundary={boundary}");
    let mut exchanges = recording(&[("POST", url), ("POST", url)]);
    for (exchange, (boundary, value)) in exchanges
        .iter_mut()
        .zip([("AAAA", "red"), ("BBBB", "blue")])
    {
        let header = Header::new("Content-Type", kind(boundary));
        exchange.request_headers.push(header);
        exchange.request_body = parts(boundary, value).into();
    }
    let mut client = Client::new(exchanges, Rules::default());
    for (boundary, value, at, how) in [
        ("BBBA", "red", 0, How::Exact),
        ("AAAB", "blue", 1, How::Exact),
        ("AAAB", "blues", 1, How::Body),
    ] {
        let kind = kind(boundary);
        let body = parts(boundary, value);
        let answer = client.answer_with("POST", url, &[("content-type", &kind)], body.as_bytes());
        assert_eq!(answer, matched(at, how), "{value}");
    }
}

/// Forms with reordered parameters are not equal, but precede forms with more equal letters.
#[test]
fn parameters_of_forms_are_similar_in_any_order() {
    let url = "https://a.test/form";
    let form = (
        "content-type",
        "Application/X-WWW-Form-Urlencoded; charset=UTF-8",
    );
    let bodies = [
        "a=1&b=x+y&c=3",
        "b=x+z&a=1&c=3",
        "b=x&b=y",
        "b=y&b=x",
        "n=1&_=1700000000",
    ];
    let mut exchanges = recording(&[("POST", url); 5]);
    for (exchange, body) in exchanges.iter_mut().zip(bodies) {
        exchange.request_headers.push(Header::new(form.0, form.1));
        exchange.request_body = body.into();
    }
    let mut client = Client::new(exchanges, Rules::default());
    for (body, at, how) in [
        ("a=1&b=x+y&c=3", 0, How::Exact),
        ("b=x%20y&a=1&c=3", 0, How::Body),
        ("c=3&b=x+z&a=1", 1, How::Body),
        ("b=y&b=x", 3, How::Exact),
        ("_=1700000007&n=1", 4, How::Body),
        ("b=x+q&a=1&c=3", 1, How::Body),
    ] {
        let answer = client.answer_with("POST", url, &[form], body.as_bytes());
        assert_eq!(answer, matched(at, how), "{body}");
    }
    // In another type letters are compared, as nothing is known of its syntax.
    let text = ("content-type", "text/plain");
    let answer = client.answer_with("POST", url, &[text], b"b=x+y&a=1&c=3");
    assert_eq!(answer, matched(1, How::Body));
}

#[test]
fn a_304_never_answers_a_client_without_a_copy() {
    let url = "https://a.test/x";
    let mut exchanges = recording(&[("GET", url)]);
    exchanges[0].status = 304;
    let mut client = Client::new(exchanges, Rules::default());
    let Answer::Miss(miss) = client.answer("GET", url) else {
        panic!("a 304")
    };
    assert_eq!(miss.difference, "condition");
    let answer = client.answer_with("GET", url, &[("if-none-match", "\"1\"")], b"");
    assert_eq!(answer, matched(0, How::Exact));
}

#[test]
fn the_default_ports_are_those_of_the_schemes() {
    assert_eq!(
        (Scheme::Http.default_port(), Scheme::Https.default_port()),
        (80, 443)
    );
}
