//! Ranges of bytes (RFC 9110, section 14): a player requests other ranges than recorded, and gets
//! the right bytes, or none.

use crate::common::recording::recording;
use crate::common::{Running, VERSIONS, pattern, stack};
use bytes::Bytes;
use eyelevel_archive::{Exchange, Header};
use eyelevel_replay::TlsVersion;
use eyelevel_replay::check::check;
use eyelevel_replay::matcher::{Answer, Matcher, Progress, Request, Rules};
use eyelevel_replay::response::Responses;
use http::HeaderMap;

const URL: &str = "https://www.example.test/film";
const LENGTH: usize = 1000;

type Fields<'a> = &'a [(&'a str, &'a str)];

fn headers(fields: Fields<'_>) -> Vec<Header> {
    let each = fields.iter();
    each.map(|&(name, value)| Header::new(name, value.to_owned()))
        .collect()
}

fn exchange(requested: Fields<'_>, status: u16, answered: Fields<'_>, body: Vec<u8>) -> Exchange {
    Exchange {
        index: 0,
        method: "GET".into(),
        url: URL.parse().unwrap(),
        request_headers: headers(requested),
        request_body: Bytes::new(),
        status,
        reason: String::new(),
        response_headers: headers(answered),
        body: body.into(),
        address: None,
        protocol: "http/1.1".into(),
        recorded_at_unix_ms: None,
        time_to_first_byte_ms: None,
        initiator: None,
    }
}

fn film() -> Vec<u8> {
    pattern(LENGTH, 8)
}

/// Returns the film's bytes from `first` to before `end`, recorded for the requested range.
fn partial(requested: &str, first: usize, end: usize) -> Exchange {
    let range = format!("bytes {first}-{}/{LENGTH}", end - 1);
    let answered = [("Content-Range", range.as_str()), ("ETag", "\"f\"")];
    let body = film()[first..end].to_vec();
    exchange(&[("Range", requested)], 206, &answered, body)
}

fn whole_film(requested: Fields<'_>) -> Exchange {
    exchange(requested, 200, &[("ETag", "\"f\"")], film())
}

/// Returns status, `Content-Range` and the received part of the film in one line; for a miss the
/// difference.
fn answer(exchanges: &[Exchange], method: &str, fields: Fields<'_>) -> String {
    let headers: HeaderMap = fields
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect();
    let url: eyelevel_archive::Url = URL.parse().unwrap();
    let request = Request {
        method,
        scheme: url.scheme,
        host: &url.host,
        port: url.port,
        path_and_query: &url.path_and_query,
        headers: &headers,
        body: b"",
    };
    let matcher = Matcher::new(exchanges, Rules::default());
    let answer = matcher.answer(exchanges, &request, &mut Progress::default());
    if let Answer::Miss(miss) = &answer {
        assert_eq!(miss.nearest_url.as_deref(), Some(URL));
        return format!("miss: {}", miss.difference);
    }
    let reply = Responses::new(exchanges.len()).reply(exchanges, &request, &answer, None);
    let text = |name: &str| Some(reply.headers.get(name)?.to_str().unwrap().to_owned());
    if let ("GET", Some(length)) = (method, text("content-length")) {
        assert_eq!(length, reply.body.len().to_string());
    }
    let film = film();
    let bytes = match (0..LENGTH).find(|&first| film[first..].starts_with(&reply.body)) {
        _ if reply.body.is_empty() => "nothing".to_owned(),
        Some(first) => format!("{first}..{}", first + reply.body.len()),
        None => "other bytes".to_owned(),
    };
    let range = text("content-range").unwrap_or_else(|| "no range".to_owned());
    format!("{} {range}: {bytes}", reply.status.as_u16())
}

fn get(exchanges: &[Exchange], range: &str) -> String {
    answer(exchanges, "GET", &[("range", range)])
}

#[test]
fn the_whole_in_one_206_is_cut_as_a_200_is() {
    let in_one = [partial("bytes=0-", 0, LENGTH)];
    let plain = [whole_film(&[])];
    for (range, expected) in [
        ("bytes=500-", "206 bytes 500-999/1000: 500..1000"),
        ("bytes=10-19", "206 bytes 10-19/1000: 10..20"),
        ("Bytes=10-19", "206 bytes 10-19/1000: 10..20"),
        ("bytes=-100", "206 bytes 900-999/1000: 900..1000"),
        ("bytes=-2000", "206 bytes 0-999/1000: 0..1000"),
        ("bytes=900-2000", "206 bytes 900-999/1000: 900..1000"),
        ("bytes=1000-", "416 bytes */1000: nothing"),
        ("bytes=-0", "416 bytes */1000: nothing"),
        ("bytes=0-1,5-6", "200 no range: 0..1000"),
        ("bytes=5-2", "200 no range: 0..1000"),
        ("bytes=2000-5", "200 no range: 0..1000"),
        ("bytes=a-b", "200 no range: 0..1000"),
        ("lines=0-1", "200 no range: 0..1000"),
    ] {
        assert_eq!(get(&in_one, range), expected, "{range} of a 206");
        assert_eq!(get(&plain, range), expected, "{range} of a 200");
    }
    let as_recorded = "206 bytes 0-999/1000: 0..1000";
    assert_eq!(get(&in_one, "bytes=0-"), as_recorded);
    assert_eq!(answer(&in_one, "GET", &[]), "200 no range: 0..1000");
    assert_eq!(answer(&in_one, "HEAD", &[]), "200 no range: nothing");
    let unchanged = answer(&in_one, "GET", &[("if-none-match", "\"f\"")]);
    assert_eq!(unchanged, "304 no range: nothing");
}

#[test]
fn of_a_part_the_known_bytes_are_sent_and_no_others() {
    let parts = [
        partial("bytes=0-", 0, 400),
        partial("bytes=300-599", 300, 600),
    ];
    for (range, expected) in [
        ("bytes=0-", "206 bytes 0-399/1000: 0..400"),
        ("bytes=300-599", "206 bytes 300-599/1000: 300..600"),
        ("bytes=100-199", "206 bytes 100-199/1000: 100..200"),
        // The one that holds the most of it.
        ("bytes=350-", "206 bytes 350-599/1000: 350..600"),
        ("bytes=200-450", "206 bytes 200-399/1000: 200..400"),
        ("bytes=-650", "206 bytes 350-599/1000: 350..600"),
        ("bytes=600-", "miss: range"),
        ("bytes=-100", "miss: range"),
        ("bytes=0-1,5-6", "miss: range"),
        ("bytes=1000-", "416 bytes */1000: nothing"),
    ] {
        assert_eq!(get(&parts, range), expected, "{range}");
    }
    assert_eq!(answer(&parts, "GET", &[]), "miss: range");
    assert_eq!(answer(&parts, "HEAD", &[]), "miss: range");
    assert_eq!(
        answer(&parts[1..], "GET", &[("range", "bytes=0-9")]),
        "miss: range"
    );
}

#[test]
fn a_part_of_unknown_length_has_no_end() {
    let answered = [("Content-Range", "bytes 100-199/*")];
    let body = film()[100..200].to_vec();
    let live = [exchange(
        &[("Range", "bytes=100-199")],
        206,
        &answered,
        body,
    )];
    for (range, expected) in [
        ("bytes=150-", "206 bytes 150-199/*: 150..200"),
        ("bytes=-10", "miss: range"),
        ("bytes=200-", "miss: range"),
    ] {
        assert_eq!(get(&live, range), expected, "{range}");
    }
}

#[test]
fn the_range_of_a_206_is_verified() {
    for (field, body, expected) in [
        // Broken off: the received part is known.
        ("bytes 0-999/1000", 0..50, "206 bytes 10-49/1000: 10..50"),
        ("bytes 0-49/1000", 0..60, "miss: range"),
        ("bytes 0-49/20", 0..50, "miss: range"),
        ("bytes 49-0/1000", 0..50, "miss: range"),
        ("lines 0-49/1000", 0..50, "miss: range"),
        ("bytes 0-18446744073709551615/*", 0..50, "miss: range"),
        ("", 0..50, "miss: range"),
    ] {
        let requested = [("Range", "bytes=0-")];
        let body = film()[body].to_vec();
        let recorded = [exchange(&requested, 206, &[("Content-Range", field)], body)];
        assert_eq!(get(&recorded, "bytes=10-"), expected, "{field}");
    }
}

#[test]
fn a_server_without_ranges_sends_the_whole() {
    let everything = "200 no range: 0..1000";
    let ignored = [whole_film(&[("Range", "bytes=0-99")])];
    assert_eq!(get(&ignored, "bytes=0-99"), everything);
    assert_eq!(get(&ignored, "bytes=5-"), everything);
    let refused = [exchange(&[], 200, &[("Accept-Ranges", "none")], film())];
    assert_eq!(get(&refused, "bytes=5-"), everything);
    // The condition had failed.
    let stale = [whole_film(&[
        ("Range", "bytes=5-"),
        ("If-Range", "\"old\""),
    ])];
    assert_eq!(get(&stale, "bytes=5-"), "206 bytes 5-999/1000: 5..1000");
}

#[test]
fn if_range_decides_between_a_part_and_the_whole() {
    let in_one = [partial("bytes=0-", 0, LENGTH)];
    let part = [partial("bytes=0-", 0, 400)];
    let with = |exchanges: &[Exchange], condition| {
        let fields = [("range", "bytes=5-9"), ("if-range", condition)];
        answer(exchanges, "GET", &fields)
    };
    assert_eq!(with(&in_one, "\"f\""), "206 bytes 5-9/1000: 5..10");
    assert_eq!(with(&part, "\"f\""), "206 bytes 5-9/1000: 5..10");
    assert_eq!(with(&in_one, "\"old\""), "200 no range: 0..1000");
    assert_eq!(with(&part, "\"old\""), "miss: range");
    // A 206 need not repeat the date of its condition (RFC 9110, section 15.3.7).
    let date = "Thu, 01 Jan 2026 00:00:00 GMT";
    let requested = [("Range", "bytes=0-"), ("If-Range", date)];
    let answered = [("Content-Range", "bytes 0-399/1000")];
    let dated = [exchange(&requested, 206, &answered, film()[..400].to_vec())];
    assert_eq!(with(&dated, date), "206 bytes 5-9/1000: 5..10");
}

#[test]
fn a_recorded_416_answers_ranges_beyond_its_end() {
    let requested = [("Range", "bytes=1000-")];
    let answered = [("Content-Range", "bytes */1000")];
    let beyond = [exchange(&requested, 416, &answered, Vec::new())];
    let expected = "416 bytes */1000: nothing";
    assert_eq!(get(&beyond, "bytes=1000-"), expected);
    assert_eq!(get(&beyond, "bytes=2000-"), expected);
    assert_eq!(get(&beyond, "bytes=10-"), "miss: range");
    assert_eq!(answer(&beyond, "GET", &[]), "miss: range");
}

#[tokio::test]
async fn a_check_finds_every_recorded_range_as_it_was() {
    let beyond = [("Content-Range", "bytes */1000")];
    let many = [("Content-Type", "multipart/byteranges; boundary=x")];
    let parts = b"--x\r\n".to_vec();
    let recordings = [
        vec![
            partial("bytes=0-", 0, LENGTH),
            partial("bytes=500-", 500, LENGTH),
            exchange(&[("Range", "bytes=0-1,5-6")], 206, &many, parts),
            exchange(&[("Range", "bytes=1000-")], 416, &beyond, Vec::new()),
            whole_film(&[]),
        ],
        vec![
            whole_film(&[("Range", "bytes=0-99")]),
            exchange(&[], 200, &[], film()),
            partial("bytes=100-199", 100, 200),
        ],
    ];
    for exchanges in recordings {
        let site = recording(&exchanges);
        assert_eq!(site.exchanges().len(), exchanges.len());
        for version in VERSIONS {
            let running = Running::start(site.clone(), stack(version));
            let connect = |origin: &eyelevel_archive::Origin| running.address(origin);
            let authority = &running.authority;
            let report = check(&site, authority, version, TlsVersion::Tls13, connect).await;
            assert_eq!(report.unwrap().differences, [], "{version:?}");
            running.stop().await;
        }
    }
}
