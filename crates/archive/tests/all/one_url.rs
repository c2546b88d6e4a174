//! Recordings in which everything has one URL are joined correctly and in linear time.

use crate::support::{open, record, request, response};

const A: &str = "https://a.test/";
const OK: &str = "HTTP/1.1 200 OK\r\n\r\n";
const MANY: usize = 75_000;

#[test]
fn each_response_takes_the_nearest_request_that_is_left() {
    let named = |name: usize| format!("GET / HTTP/1.1\r\nX-Name: {name}\r\n\r\n");
    let names = ["WARC-Concurrent-To: <urn:test:r1>"];
    let site = open(&[
        request("r0", A, &[], &named(0)),
        request("r1", A, &[], &named(1)),
        request("r2", A, &[], &named(2)),
        response("named", A, &names, OK),
        // The request before is as near as the one after, and wins.
        response("before", A, &[], OK),
        response("behind", A, &[], OK),
        request("r3", A, &[], &named(3)),
        response("what is left", A, &[], OK),
        response("nothing", A, &[], OK),
    ])
    .unwrap();
    let found = site.exchanges().iter();
    let found: Vec<_> = found.map(|each| each.request_header("x-name")).collect();
    assert_eq!(found, [Some("1"), Some("2"), Some("3"), Some("0"), None]);
}

#[test]
fn many_requests_join_many_responses() {
    let mut records: Vec<_> = (0..MANY).map(|_| response("1", A, &[], OK)).collect();
    records.extend((0..MANY).map(|name| {
        let message = format!("GET / HTTP/1.1\r\nX-Name: {name}\r\n\r\n");
        request("2", A, &[], &message)
    }));
    let site = open(&records).unwrap();
    for (name, exchange) in site.exchanges().iter().enumerate() {
        assert_eq!(exchange.request_header("x-name"), Some(&*name.to_string()));
    }
}

#[test]
fn many_revisits_find_the_last_of_many_responses() {
    let last = "WARC-Date: 2026-11-02T12:00:00Z";
    let mut records: Vec<_> = (1..MANY).map(|_| response("1", A, &[], OK)).collect();
    let message = "HTTP/1.1 200 OK\r\n\r\nthe last";
    records.push(response("2", A, &[last], message));
    let refers = [
        "WARC-Target-URI: https://a.test/again",
        "WARC-Refers-To-Target-URI: https://a.test/",
        "WARC-Refers-To-Date: 2026-11-02T12:00:00Z",
    ];
    records.extend((0..MANY).map(|_| record("revisit", "3", &refers, b"")));
    let site = open(&records).unwrap();
    let revisits = &site.exchanges()[MANY..];
    assert_eq!(revisits.len(), MANY);
    assert!(revisits.iter().all(|each| each.body == "the last"));
}
