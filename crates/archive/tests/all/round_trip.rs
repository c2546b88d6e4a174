//! What is written reads back unchanged.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bytes::Bytes;
use eyelevel_archive::limits::EXCHANGES_MAX;
use eyelevel_archive::{Exchange, Header, Provenance, Screenshot, Site, SiteMetadata, write_wacz};
use proptest::prelude::*;

/// A file name that is unique to each test process and use, removed at the end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let file_name = format!("eyelevel-archive-{}-{name}.wacz", std::process::id());
        Temporary(std::env::temp_dir().join(file_name))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn metadata(exchanges: &[Exchange]) -> SiteMetadata {
    let names = vec!["a.test".to_owned(), "*.a.test".to_owned()];
    SiteMetadata {
        title: "Round trip".to_owned(),
        description: String::new(),
        main_url: exchanges[0].url.clone(),
        created_at_unix_ms: 1_793_534_400_000,
        provenance: Provenance {
            certificate_names: BTreeMap::from([("a.test".to_owned(), names)]),
            altered: vec!["http origins became https".to_owned()],
            ..Provenance::default()
        },
        screenshot: Some(Screenshot {
            media_type: "image/png".to_owned(),
            image: Bytes::from_static(b"a picture"),
        }),
    }
}

fn header() -> impl Strategy<Value = Header> {
    let names = prop_oneof![
        Just("Transfer-Encoding".to_owned()),
        Just("Content-Length".to_owned()),
        Just("Content-Encoding".to_owned()),
        "[A-Za-z][A-Za-z0-9-]{0,20}",
        "[!-9;-~]{1,10}",
    ];
    let values = prop_oneof![
        Just("chunked".to_owned().into_bytes()),
        Just(Vec::new()),
        "[!-~][ -~]{0,30}[!-~]".prop_map(String::into_bytes),
        prop::collection::vec(0x80u8..=0xff, 1..10),
    ];
    (names, values).prop_map(|(name, value)| Header::new(name, value))
}

fn body() -> impl Strategy<Value = Bytes> {
    prop_oneof![
        Just(Bytes::new()),
        prop::collection::vec(any::<u8>(), 0..2000).prop_map(Bytes::from),
        // Bodies that look chunked, complete and cut off.
        Just(Bytes::from_static(b"3\r\nabc\r\n0\r\n\r\n")),
        Just(Bytes::from_static(b"ff\r\nabc")),
    ]
}

prop_compose! {
    fn exchange()(
        method in prop_oneof![Just("GET"), Just("POST"), Just("HEAD"), Just("OPTIONS")],
        url in "https?://[a-d]\\.test(:[1-9][0-9]{0,3})?/[a-z0-9%|\"é ]{0,10}(\\?[a-z0-9=&'é]{0,10})?",
        request_headers in prop::collection::vec(header(), 0..4),
        request_body in body(),
        status in 200u16..=999,
        reason in "([!-~]([ -~]{0,10}[!-~])?)?",
        response_headers in prop::collection::vec(header(), 0..6),
        body in body(),
        address in prop::option::of(any::<std::net::IpAddr>()),
        protocol in prop_oneof![Just("http/1.0"), Just("http/1.1"), Just("h2"), Just("h3")],
        recorded_at_unix_ms in 0i64..4_102_444_800_000,
        time_to_first_byte_ms in prop::option::of(0.0f64..1e6),
        initiator in prop::option::of("https://a\\.test/[a-z:]{0,9}"),
    ) -> Exchange {
        Exchange {
            index: 0,
            method: method.to_owned(),
            url: url.parse().expect("the pattern gives URLs"),
            request_headers,
            request_body,
            status,
            reason,
            response_headers,
            body,
            address,
            protocol: protocol.to_owned(),
            recorded_at_unix_ms: Some(recorded_at_unix_ms),
            time_to_first_byte_ms,
            initiator,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_exchange_reads_back_the_same(
        mut exchanges in prop::collection::vec(exchange(), 1..8),
    ) {
        for (index, exchange) in exchanges.iter_mut().enumerate() {
            exchange.index = index;
        }
        let file = Temporary::new("property");
        write_wacz(&file.0, &exchanges, &metadata(&exchanges)).unwrap();
        let site = Site::open(&file.0).unwrap();
        prop_assert_eq!(site.exchanges(), &exchanges[..]);
        prop_assert_eq!(site.main_url(), &exchanges[0].url);
        let expected = metadata(&exchanges).screenshot;
        prop_assert_eq!(site.screenshot(), expected.as_ref());
        prop_assert_eq!(site.notes(), &[]);
        site.verify().unwrap();
        for origin in site.origins() {
            let names = if origin.host == "a.test" { 2 } else { 0 };
            prop_assert_eq!(origin.certificate_names.len(), names);
        }
    }
}

fn example() -> Exchange {
    let corpus = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../python/eyelevel/sites/shipped/agency.wacz");
    Site::open(corpus).unwrap().exchanges()[0].clone()
}

#[test]
fn writing_twice_gives_the_same_bytes() {
    let exchanges = [example()];
    let (first, second) = (Temporary::new("first"), Temporary::new("second"));
    write_wacz(&first.0, &exchanges, &metadata(&exchanges)).unwrap();
    write_wacz(&second.0, &exchanges, &metadata(&exchanges)).unwrap();
    assert_eq!(
        std::fs::read(&first.0).unwrap(),
        std::fs::read(&second.0).unwrap()
    );
}

#[test]
fn unwritable_exchanges_are_refused_and_leave_no_file() {
    let broken: [fn(&mut Exchange); 6] = [
        |exchange| exchange.status = 103,
        |exchange| exchange.method = "GET /".to_owned(),
        |exchange| exchange.reason = "O\r\nK".to_owned(),
        |exchange| {
            exchange
                .response_headers
                .push(Header::new("a", "b\r\nc: d"))
        },
        |exchange| exchange.request_headers.push(Header::new("a:b", "")),
        |exchange| exchange.url.host = "A.test".to_owned(),
    ];
    let file = Temporary::new("refused");
    for (number, break_it) in broken.iter().enumerate() {
        let mut exchanges = [example(), example()];
        break_it(&mut exchanges[1]);
        let error = write_wacz(&file.0, &exchanges, &metadata(&exchanges)).unwrap_err();
        assert!(
            error.to_string().starts_with("cannot write exchange 1"),
            "{number}: {error}"
        );
    }
    let name = file.0.file_name().unwrap().to_string_lossy().into_owned();
    let left = std::fs::read_dir(file.0.parent().unwrap()).unwrap();
    let left: Vec<_> = left.flatten().map(|entry| entry.file_name()).collect();
    assert!(
        !left
            .iter()
            .any(|entry| entry.to_string_lossy().starts_with(&name))
    );
}

/// Returns as many exchanges as a recording may have, with three records each.
fn full_recording() -> Vec<Exchange> {
    let small = Exchange {
        request_headers: vec![Header::new("accept", "*/*")],
        response_headers: vec![Header::new("content-length", "0")],
        initiator: Some("https://a.test/".to_owned()),
        body: Bytes::new(),
        ..example()
    };
    let numbered = |index| {
        let mut exchange = small.clone();
        exchange.index = index;
        exchange.url.path_and_query = format!("/{index}");
        exchange
    };
    (0..EXCHANGES_MAX).map(numbered).collect()
}

#[test]
fn a_full_recording_reads_back_and_a_longer_one_is_not_written() {
    let mut exchanges = full_recording();
    let file = Temporary::new("full");
    write_wacz(&file.0, &exchanges, &metadata(&exchanges)).unwrap();
    let site = Site::open(&file.0).unwrap();
    assert_eq!(site.exchanges().len(), EXCHANGES_MAX);
    assert_eq!(site.exchanges().last(), exchanges.last());
    drop(site);
    exchanges.push(exchanges[0].clone());
    let error = write_wacz(&file.0, &exchanges, &metadata(&exchanges)).unwrap_err();
    let expected = "cannot write exchange 100000: a recorded site holds at most 100000 exchanges";
    assert!(error.to_string().starts_with(expected), "{error}");
}
