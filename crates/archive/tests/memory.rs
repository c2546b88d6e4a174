//! Small files whose records would take much memory are refused early.

#[path = "all/support/mod.rs"]
mod support;

use eyelevel_archive::{Damage, Error, Format, Site, import_content};
use support::{gzip, open, page, record, response};

const A: &str = "https://a.test/";

/// Builds a response with 2,000 fields of three bytes each, as many as a head may have.
fn response_of_many_fields(id: &str) -> Vec<u8> {
    let message = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a:\n".repeat(2_000));
    response(id, A, &[], &message)
}

/// Returns the record at which `opened` was refused for its memory.
fn refused_at(opened: Result<Site, Error>) -> u64 {
    match opened {
        Err(Error::Damaged {
            record,
            reason: Damage::TakesTooMuch { bytes_max },
            ..
        }) => {
            assert!(bytes_max < 100 << 20, "{bytes_max}");
            record
        }
        other => panic!("{:?}", other.map(|site| site.exchanges().len())),
    }
}

#[test]
fn many_fields_count_for_what_they_take() {
    let some: Vec<u8> = (0..100)
        .flat_map(|number| response_of_many_fields(&number.to_string()))
        .collect();
    let site = open(&[gzip(&some)]).unwrap();
    assert_eq!(site.exchanges().len(), 100);
    assert_eq!(site.exchanges()[99].response_headers.len(), 2_000);
    // 24 MB in the file, but 700 MB as lists of fields.
    let refused = refused_at(open(&[gzip(&some.repeat(40))]));
    assert!((300..700).contains(&refused), "{refused}");
}

#[test]
fn fields_of_records_count_too() {
    let fields = vec!["a:"; 1_900];
    let many = record("warcinfo", "0", &fields, b"").repeat(2_000);
    let refused = refused_at(open(&[gzip(&page("1", A)), gzip(&many)]));
    assert!((300..700).contains(&refused), "{refused}");
}

#[test]
fn fields_that_revisits_repeat_count_each_time() {
    let original = response_of_many_fields("1");
    let revisit = record(
        "revisit",
        "2",
        &[
            "WARC-Target-URI: https://a.test/again",
            "WARC-Refers-To: <urn:test:1>",
        ],
        b"",
    );
    let site = open(&[gzip(&original), gzip(&revisit.repeat(100))]).unwrap();
    assert_eq!(site.exchanges()[100].response_headers.len(), 2_000);
    let refused = refused_at(open(&[gzip(&original), gzip(&revisit.repeat(2_000))]));
    assert!((300..700).contains(&refused), "{refused}");
}

#[test]
fn an_initiator_that_many_responses_share_counts_each_time() {
    let said = format!("via: https://a.test/{}\r\n", "a".repeat(1 << 20));
    let concurrent = ["WARC-Concurrent-To: <urn:test:1>"];
    let metadata = record("metadata", "m", &concurrent, said.as_bytes());
    let shared = |responses: usize| {
        let responses = page("1", A).repeat(responses);
        open(&[gzip(&metadata), gzip(&responses)])
    };
    let site = shared(10).unwrap();
    assert!(site.exchanges()[9].initiator.is_some());
    let refused = refused_at(shared(300));
    assert!((70..100).contains(&refused), "{refused}");
}

#[test]
fn fields_of_web_page_replay_count_too() {
    // `GET / HTTP/1.1`, and `HTTP/1.1 200 OK` with a line `ba:` and many `a:`, as base64.
    let request = "R0VUIC8gSFRUUC8xLjENCg0K";
    let response = format!("SFRUUC8xLjEgMjAwIE9LDQpi{}DQo=", "YToK".repeat(1_990));
    let archived =
        format!(r#"{{"SerializedRequest": "{request}", "SerializedResponse": "{response}"}}"#);
    let archive = |exchanges: usize| {
        let all = vec![archived.as_str(); exchanges].join(",");
        let json = format!(r#"{{"Requests": {{"a.test": {{"https://a.test/": [{all}]}}}}}}"#);
        import_content(Format::WebPageReplay, gzip(json.as_bytes()).into())
    };
    assert_eq!(archive(100).unwrap().exchanges.len(), 100);
    let many = archive(2_000).map(|imported| imported.exchanges.len());
    let error = many.unwrap_err().to_string();
    assert!(error.contains("bytes of memory, the bound"), "{error}");
}

/// Returns the number of imported exchanges, or the message of a refused file.
fn import_count(format: Format, content: Vec<u8>) -> Result<usize, String> {
    let imported = import_content(format, content.into());
    imported
        .map(|imported| imported.exchanges.len())
        .map_err(|error| error.to_string())
}

/// Encodes a typed netstring.
fn netstring(kind: char, payload: &str) -> String {
    format!("{}:{payload}{kind}", payload.len())
}

fn dictionary(entries: &[(&str, String)]) -> String {
    let entries = entries
        .iter()
        .map(|(key, value)| netstring(',', key) + value);
    netstring('}', &entries.collect::<String>())
}

/// Builds a mitmproxy flow for `https://a.test/PATH`, with `headers` as its response's list.
fn flow(path: &str, headers: &str) -> String {
    let text = |text: &str| netstring(',', text);
    let request = dictionary(&[
        ("scheme", text("https")),
        ("host", text("a.test")),
        ("port", netstring('#', "443")),
        ("path", text(path)),
        ("method", text("GET")),
    ]);
    let response = dictionary(&[
        ("status_code", netstring('#', "200")),
        ("http_version", text("HTTP/2.0")),
        ("headers", netstring(']', headers)),
        ("content", text("x")),
    ]);
    dictionary(&[
        ("type", text("http")),
        ("request", request),
        ("response", response),
    ])
}

#[test]
fn flows_of_mitmproxy_are_read_in_place() {
    let field = netstring(']', &(netstring(',', "a") + &netstring(',', "")));
    assert_eq!(
        import_count(Format::Mitmproxy, flow("/", &field.repeat(2_000)).into()),
        Ok(1)
    );
    // More fields than a head may have, in a flow that is left out.
    let long = flow("/", &field.repeat(2_001)) + &flow("/", "");
    assert_eq!(import_count(Format::Mitmproxy, long.into()), Ok(1));
    let ignored = netstring(']', &netstring('~', "").repeat(1 << 20));
    assert_eq!(
        import_count(Format::Mitmproxy, (ignored + &flow("/", "")).into()),
        Ok(1)
    );
}

#[test]
fn exchanges_are_counted_while_a_file_is_read() {
    let flows = flow("/", "").repeat(100_001);
    let error = import_count(Format::Mitmproxy, flows.into()).unwrap_err();
    assert!(error.contains("more than 100000 exchanges"), "{error}");
    let entry = r#"{"request":{"method":"GET","url":"https://a.test/"},"response":{"status":200}}"#;
    let entries = vec![entry; 100_001].join(",");
    let har = format!(r#"{{"log":{{"entries":[{entries}]}}}}"#);
    let error = import_count(Format::Har, har.into()).unwrap_err();
    assert!(
        error.contains("entry 100000, https://a.test/: it has more than 100000"),
        "{error}"
    );
}

#[test]
fn fields_of_a_har_are_counted_while_it_is_read() {
    let har = |headers: &str| {
        let entry = format!(
            r#"{{"request":{{"method":"GET","url":"https://a.test/"}},
             "response":{{"status":200,"headers":[{headers}]}}}}"#
        );
        import_count(
            Format::Har,
            format!(r#"{{"log":{{"entries":[{entry}]}}}}"#).into(),
        )
    };
    let fields = |count: usize| vec![r#"{"name":"a","value":""}"#; count].join(",");
    assert_eq!(har(&fields(1_999)), Ok(1));
    // More fields than a head may have: the exchange is left out.
    assert_eq!(har(&fields(2_001)), Ok(0));
    // One field of many lines becomes many fields: the exchange is left out.
    let lines = format!(r#"{{"name":"a","value":"{}"}}"#, r"\nb".repeat(100_000));
    assert_eq!(har(&lines), Ok(0));
}

#[test]
fn initiators_of_any_kind_are_read_and_not_stored() {
    let deep = "[".repeat(100) + &"]".repeat(100);
    for initiator in ["[0,0]", r#"{"url":[[]]}"#, r#""x""#, &deep] {
        let har = format!(
            r#"{{"log":{{"entries":[{{"request":{{"method":"GET","url":"https://a.test/"}},
             "response":{{"status":200}},"_initiator":{initiator}}}]}}}}"#
        );
        assert_eq!(import_count(Format::Har, har.into()), Ok(1), "{initiator}");
    }
}

/// Encodes a field of a protobuf message, of wire type 2.
fn protobuf(number: u8, content: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = content.len();
    while length >= 0x80 {
        field.push(length as u8 | 0x80);
        length >>= 7;
    }
    field.push(length as u8);
    [&field, content].concat()
}

#[test]
fn fields_of_mahimahi_are_counted_and_unknown_ones_not_kept() {
    let host = protobuf(2, &[protobuf(1, b"Host"), protobuf(2, b"a.test")].concat());
    let line = |text: &[u8]| protobuf(1, text);
    let request = protobuf(4, &[line(b"GET / HTTP/1.1"), host].concat());
    let with_fields = |count: usize| {
        let field = protobuf(2, &[protobuf(1, b"a"), protobuf(2, b"")].concat());
        let response = [line(b"HTTP/1.1 200 OK"), field.repeat(count)].concat();
        [request.clone(), protobuf(5, &response)].concat()
    };
    let unknown = [0x48, 0].repeat(1 << 20);
    let file = [unknown, with_fields(2_000)].concat();
    assert_eq!(import_count(Format::Mahimahi, file), Ok(1));
    let error = import_count(Format::Mahimahi, with_fields(2_001)).unwrap_err();
    assert!(error.contains("more than 2000 fields"), "{error}");
    let endless = protobuf(5, &line(&[b'a'; 2 << 20]));
    let error = import_count(Format::Mahimahi, [request.clone(), endless].concat()).unwrap_err();
    assert!(error.contains("its first line has more than"), "{error}");
}

#[test]
fn small_chunks_are_joined_without_a_list_of_them() {
    let chunks = "1\r\na\r\n".repeat(500_000);
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let message = format!("{head}{chunks}0\r\n\r\n");
    let site = open(&[gzip(&response("1", A, &[], &message))]).unwrap();
    assert_eq!(site.exchanges()[0].body.len(), 500_000);
    // A body of 24 MB, inflated and joined twice, exceeds the budget of a small file.
    let chunk = format!("100000\r\n{}\r\n", "a".repeat(1 << 20));
    let message = format!("{head}{}0\r\n\r\n", chunk.repeat(24));
    let record = gzip(&response("1", A, &[], &message));
    assert!(open(std::slice::from_ref(&record)).is_ok());
    assert_eq!(refused_at(open(&[record.clone(), record])), 1);
}

#[test]
fn a_pipe_is_refused_without_blocking() {
    let pipe = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("pipe-{}", std::process::id()));
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let opened = Site::open(&pipe);
    std::fs::remove_file(&pipe).unwrap();
    assert!(opened.unwrap_err().to_string().contains("regular file"));
}
