//! The exchange that each kind of record becomes.

use crate::support::{gzip, open, page, record, request, response};
use bytes::Bytes;
use eyelevel_archive::{Scheme, Site};

const OK: &str = "HTTP/1.1 200 OK\r\n\r\nbody";
const A: &str = "https://a.test/";

#[test]
fn requests_join_their_responses_by_id_then_by_nearness() {
    let get = |name: &str| format!("GET / HTTP/1.1\r\nX-Name: {name}\r\n\r\n");
    let site = open(&[
        request("r1", A, &[], &get("before, unnamed")),
        response("1", A, &[], OK),
        response("2", A, &["WARC-Concurrent-To: <urn:test:r2>"], OK),
        response("3", A, &[], OK),
        request(
            "r3",
            A,
            &["WARC-Concurrent-To: <urn:test:3>"],
            &get("names 3"),
        ),
        request("r2", A, &[], &get("named by 2")),
        response("4", A, &[], OK),
    ])
    .unwrap();
    let names: Vec<_> = site
        .exchanges()
        .iter()
        .map(|each| each.request_header("x-name"))
        .collect();
    assert_eq!(
        names,
        [
            Some("before, unnamed"),
            Some("named by 2"),
            Some("names 3"),
            None
        ]
    );
}

#[test]
fn posts_keep_their_method_and_body() {
    let message =
        "POST /p HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na=\r\n1\r\nb\r\n0\r\n\r\n";
    let site = open(&[
        response("1", "https://a.test/p", &[], OK),
        request(
            "2",
            "https://a.test/p",
            &["WARC-Concurrent-To: <urn:test:1>"],
            message,
        ),
    ])
    .unwrap();
    let exchange = &site.exchanges()[0];
    assert_eq!(
        (exchange.method.as_str(), &exchange.request_body[..]),
        ("POST", &b"a=b"[..])
    );
}

#[test]
fn protocol_and_address_come_from_the_record() {
    let fields = [
        "WARC-IP-Address: 2001:db8::7",
        "WARC-Protocol: tls/1.3",
        "WARC-Protocol: h3",
    ];
    let site = open(&[
        response("1", A, &fields, OK),
        response("2", A, &[], "HTTP/2 200\r\n\r\n"),
        response("3", A, &[], "HTTP/1.0 404 Not Found\r\n\r\n"),
    ])
    .unwrap();
    let protocols: Vec<_> = site
        .exchanges()
        .iter()
        .map(|each| each.protocol.as_str())
        .collect();
    assert_eq!(protocols, ["h3", "h2", "http/1.0"]);
    assert_eq!(
        site.exchanges()[0].address,
        Some("2001:db8::7".parse().unwrap())
    );
    assert_eq!(
        (site.exchanges()[2].status, &*site.exchanges()[2].reason),
        (404, "Not Found")
    );
}

#[test]
fn an_address_and_a_protocol_are_read_as_writers_have_them() {
    for address in ["[2001:db8::7]", "[2001:db8::7]:443", "2001:db8::7"] {
        let address = format!("WARC-IP-Address: {address}");
        let fields = [&address[..], "WARC-Protocol: h2,TLSv1.3"];
        let site = open(&[response("1", A, &fields, OK)]).unwrap();
        let exchange = &site.exchanges()[0];
        assert_eq!(exchange.address, Some("2001:db8::7".parse().unwrap()));
        assert_eq!(exchange.protocol, "h2");
    }
}

#[test]
fn drafts_of_the_format_are_read() {
    for version in ["WARC/0.17", "WARC/0.18", "WARC/1.0"] {
        let record = String::from_utf8(page("1", A)).unwrap();
        let record = record.replace("WARC/1.1", version).into_bytes();
        assert_eq!(open(&[record]).unwrap().main_url().to_string(), A);
    }
    let later = String::from_utf8(page("1", A)).unwrap();
    let later = later.replace("WARC/1.1", "WARC/2.0").into_bytes();
    let error = open(&[later]).unwrap_err().to_string();
    assert!(error.contains("no line with the version"), "{error}");
}

/// Returns the methods of the site's exchanges.
fn methods(records: &[Vec<u8>]) -> Vec<String> {
    let site = open(records).unwrap();
    let exchanges = site.exchanges().iter();
    exchanges.map(|exchange| exchange.method.clone()).collect()
}

#[test]
fn a_response_does_not_take_the_request_of_another() {
    let post = "POST / HTTP/1.1\r\nHost: a.test\r\n\r\n";
    let of_b = ["WARC-Concurrent-To: <urn:test:b>"];
    let linked = request("q", A, &of_b, post);
    let alone = page("a", A);
    assert_eq!(
        methods(&[alone.clone(), page("b", A), linked.clone()]),
        ["GET", "POST"]
    );
    let of_q = ["WARC-Concurrent-To: <urn:test:q>"];
    let answered = response("b", A, &of_q, OK);
    let unlinked = request("q", A, &[], post);
    assert_eq!(
        methods(&[alone.clone(), answered, unlinked.clone()]),
        ["GET", "POST"]
    );
    // Left out, with its request: by its id or, without ids, by its nearness.
    let cut = ["WARC-Truncated: length"];
    let in_segments = ["WARC-Segment-Number: 1"];
    for fields in [cut, in_segments] {
        let left_out = response("b", A, &fields, OK);
        for request in [&linked, &unlinked] {
            let records = [request.clone(), left_out.clone(), alone.clone()];
            assert_eq!(methods(&records), ["GET"], "{fields:?}");
        }
    }
    let target = format!("WARC-Target-URI: {A}");
    let broken = record("revisit", "b", &[&target], b"HTTP/1.1 x\r\n\r\n");
    assert_eq!(methods(&[unlinked, broken, alone]), ["GET"]);
}

#[test]
fn a_revisit_without_a_head_is_of_its_own_url_if_several_have_the_body() {
    let digest = ["WARC-Payload-Digest: md5:X"];
    let own = [digest[0], "WARC-Target-URI: https://a.test/odd"];
    let site = open(&[
        response("1", A, &digest, "HTTP/1.1 404 Not Found\r\n\r\n"),
        response("2", "https://a.test/odd", &digest, OK),
        record("revisit", "3", &own, b""),
    ]);
    let site = site.unwrap();
    let statuses: Vec<u16> = site.exchanges().iter().map(|each| each.status).collect();
    assert_eq!(statuses, [404, 200, 200]);
}

#[test]
fn resources_become_responses() {
    let fields = [
        "WARC-Target-URI: <https://a.test/i.png>",
        "Content-Type: image/png",
    ];
    let site = open(&[record("resource", "1", &fields, b"png")]).unwrap();
    let exchange = &site.exchanges()[0];
    assert_eq!((exchange.status, &exchange.body[..]), (200, &b"png"[..]));
    assert_eq!(exchange.response_header("content-type"), Some("image/png"));
    assert_eq!(exchange.url.to_string(), "https://a.test/i.png");
}

#[test]
fn revisits_bring_the_body_of_their_original() {
    let original = "HTTP/1.1 200 OK\r\nX: original\r\n\r\nbody";
    let by_uri = [
        "WARC-Target-URI: https://a.test/3",
        "WARC-Refers-To-Target-URI: https://a.test/",
        "WARC-Refers-To-Date: 2026-11-01T12:00:00Z",
    ];
    let by_digest = [
        "WARC-Target-URI: https://a.test/4",
        "WARC-Payload-Digest: sha1:X",
    ];
    let site = open(&[
        response("1", A, &["WARC-Payload-Digest: md5:X"], original),
        record(
            "revisit",
            "2",
            &[
                "WARC-Target-URI: https://a.test/2",
                "WARC-Refers-To: <urn:test:1>",
            ],
            b"HTTP/1.1 304 Not Modified\r\nX: revisit\r\n\r\n",
        ),
        record(
            "revisit",
            "3",
            &by_uri,
            b"HTTP/1.1 200 OK\r\nX: revisit\r\n\r\n",
        ),
        record("revisit", "4", &by_digest, b""),
    ])
    .unwrap();
    let seen: Vec<_> = site
        .exchanges()
        .iter()
        .map(|each| (each.status, each.response_header("x"), &each.body[..]))
        .collect();
    let body = &b"body"[..];
    let (first, second) = ((200, Some("original"), body), (200, Some("revisit"), body));
    assert_eq!(seen, [first, first, second]);
    assert!(
        site.notes()[0]
            .message
            .contains("https://a.test/4 is a revisit")
    );
}

#[test]
fn left_out_records_are_noted() {
    let site = open(&[
        record("warcinfo", "0", &[], b"software: test\r\n"),
        page("1", A),
        response("2", "https://a.test/cut", &["WARC-Truncated: length"], OK),
        response(
            "3",
            "https://a.test/early",
            &[],
            "HTTP/1.1 103 Early Hints\r\n\r\n",
        ),
        record("resource", "4", &["WARC-Target-URI: urn:pageinfo:x"], b"{}"),
        record(
            "conversion",
            "5",
            &["WARC-Target-URI: https://a.test/"],
            b"",
        ),
    ])
    .unwrap();
    assert_eq!(site.exchanges().len(), 1);
    let numbers: Vec<_> = site.notes().iter().map(|note| note.record).collect();
    assert_eq!(numbers, [2, 3, 4, 5], "{:?}", site.notes());
}

#[test]
fn the_start_page_is_where_the_redirects_began() {
    let moved = |to: &str| format!("HTTP/1.1 301 Moved\r\nLocation: {to}\r\n\r\n");
    let referer = "GET / HTTP/1.1\r\nReferer: https://a.test/\r\n\r\n";
    let site = open(&[
        response("1", "http://a.test/", &[], &moved("https://a.test/")),
        response("2", A, &[], &moved("/en")),
        page("3", "https://frame.test/"),
        request(
            "4",
            "https://frame.test/",
            &["WARC-Concurrent-To: <urn:test:3>"],
            referer,
        ),
        page("5", "https://a.test/en"),
        response("6", "https://loop.test/", &[], &moved("https://loop.test/")),
    ])
    .unwrap();
    assert_eq!(site.main_url().to_string(), "http://a.test/");
}

#[test]
fn redirects_in_a_circle_end() {
    let moved = |to: &str| format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\n\r\n");
    let site = open(&[
        response("1", "https://a.test/x", &[], &moved("/y")),
        response("2", "https://a.test/y", &[], &moved("/x")),
        response(
            "3",
            "https://a.test/y",
            &[],
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
        ),
    ])
    .unwrap();
    assert_eq!(site.main_url().to_string(), "https://a.test/x");
}

#[test]
fn addresses_that_a_lab_cannot_route_are_replaced() {
    let at = |id: &str, url: &str, address: &str| {
        response(id, url, &[&format!("WARC-IP-Address: {address}")], OK)
    };
    let site = open(&[
        at("1", "https://public.test/", "192.0.2.7"),
        at("2", "https://shared.test/", "192.0.2.7"),
        at("3", "https://proxied-1.test/", "127.0.0.1"),
        at("4", "https://proxied-2.test/", "127.0.0.1"),
        at("5", "https://private-1.test/", "10.0.0.1"),
        at("6", "https://private-2.test:8443/", "10.0.0.1"),
        at("7", "https://later.test/", "127.0.0.1"),
        at("8", "https://later.test/", "198.18.1.0"),
        response("9", "http://unknown.test/", &[], OK),
        response("10", "https://unknown.test/", &[], OK),
    ])
    .unwrap();
    let address = |host: &str| {
        let origin = site
            .origins()
            .iter()
            .find(|origin| origin.host == host)
            .unwrap();
        (origin.address.to_string(), origin.address_recorded)
    };
    assert_eq!(address("public.test"), ("192.0.2.7".to_owned(), true));
    assert_eq!(address("shared.test"), ("192.0.2.7".to_owned(), true));
    assert_eq!(address("later.test"), ("198.18.1.0".to_owned(), true));
    // Assigned in the order of names, and never an address that was recorded for another host.
    assert_eq!(address("private-1.test"), ("198.18.1.1".to_owned(), false));
    assert_eq!(address("private-2.test"), ("198.18.1.1".to_owned(), false));
    assert_eq!(address("proxied-1.test"), ("198.18.1.2".to_owned(), false));
    assert_eq!(address("proxied-2.test"), ("198.18.1.3".to_owned(), false));
    assert_eq!(address("unknown.test"), ("198.18.1.4".to_owned(), false));
    let unknown = site
        .origins()
        .iter()
        .filter(|origin| origin.host == "unknown.test");
    let unknown: Vec<_> = unknown.map(|origin| (origin.scheme, origin.port)).collect();
    assert_eq!(unknown, [(Scheme::Http, 80), (Scheme::Https, 443)]);
}

#[test]
fn plain_and_both_kinds_of_gzip_files_read_alike() {
    let records = [page("1", A), page("2", "https://b.test/")];
    let plain = open(&records).unwrap();
    let whole = open(&[gzip(&records.concat())]).unwrap();
    let each: Vec<_> = records.iter().map(|record| gzip(record)).collect();
    let each = open(&each).unwrap();
    assert_eq!(plain.exchanges(), whole.exchanges());
    assert_eq!(plain.exchanges(), each.exchanges());
}

#[test]
fn lines_that_are_no_fields_are_passed_over() {
    let message = "HTTP/1.1 200 OK\r\nno colon\r\n:status: 200\r\nA: b\0c\r\n  folded\r\n\r\nx";
    let site = Site::from_bytes("x", Bytes::from(response("1", A, &[], message))).unwrap();
    let exchange = &site.exchanges()[0];
    assert_eq!(exchange.response_headers.len(), 1);
    assert_eq!(exchange.response_header("a"), Some("b c folded"));
    assert_eq!(&exchange.body[..], b"x");
}
