//! Small files whose records would take much memory are refused before they do.

#[path = "all/support/mod.rs"]
mod support;

use eyelevel_archive::{Damage, Error, Format, Site, import_content};
use support::{gzip, open, page, record, response};

const A: &str = "https://a.test/";

/// 2,000 fields of three bytes each, as many as a head may have.
fn response_of_many_fields(id: &str) -> Vec<u8> {
    let message = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a:\n".repeat(2_000));
    response(id, A, &[], &message)
}

/// The record at which `opened` was refused for its memory.
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
    // 24 MB, but 700 as lists of fields.
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
