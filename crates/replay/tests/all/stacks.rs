//! A stack's settings beyond the protocol are in force on its connections.

use crate::common::{Recorded, Running, pattern, site, stack};
use bytes::Bytes;
use eyelevel_replay::check::Client;
use eyelevel_replay::tls::client_config;
use eyelevel_replay::{
    CertificateKey, ChainBytes, Discovery, Event, HttpVersion, InForce, STACK_LIMITS,
    SproutHorizon, StackConfig, ThinkTime, TlsVersion,
};
use http::{HeaderMap, Method};
use std::collections::BTreeMap;

type Change = fn(&mut StackConfig);

const HOST: &str = "www.example.test";
const URL: &str = "https://www.example.test/";

fn in_force(events: &[Event]) -> Vec<&InForce> {
    let connections = events.iter().filter_map(|event| match event {
        Event::Connection(connection) => Some(&connection.in_force),
        Event::Request(_) => None,
    });
    connections.collect()
}

/// Returns the servers' reports of two visits on tickets and early data, the second with what the
/// first left in `tls`: resumed, offered, accepted.
async fn visit_twice(
    version: HttpVersion,
    change: Change,
) -> Vec<(Option<bool>, Option<bool>, Option<bool>)> {
    let site = site(&[Recorded::new(URL, pattern(20_000, 1))]);
    let mut stack = stack(version);
    change(&mut stack);
    let running = Running::start(site.clone(), stack);
    let address = running.address(&site.origins()[0]);
    let mut tls = client_config(&running.authority, version, TlsVersion::Tls13).unwrap();
    tls.enable_early_data = true;
    for _ in 0..2 {
        let mut client = Client::connect(address, HOST, version, tls.clone())
            .await
            .unwrap();
        let fetched = client
            .fetch(Method::GET, URL, HeaderMap::new(), Bytes::new())
            .await
            .unwrap();
        assert_eq!(fetched.body.len(), 20_000);
    }
    let events = running.stop().await;
    let seen = in_force(&events).into_iter();
    seen.map(|seen| {
        (
            seen.resumed,
            seen.early_data_offered,
            seen.early_data_accepted,
        )
    })
    .collect()
}

const YES: Option<bool> = Some(true);
const NO: Option<bool> = Some(false);

#[tokio::test]
async fn responses_over_http3_name_their_service_and_no_others_do() {
    let plain = format!("{URL}plain");
    let mut recorded = Recorded::new(&plain, pattern(100, 1));
    recorded.fields += "alt-svc: h3=\":8443\"\r\n";
    let site = site(&[recorded]);
    let cases: [(HttpVersion, Option<bool>, Option<&str>); 5] = [
        (HttpVersion::H3, None, Some("h3=\":443\"")),
        (HttpVersion::H3, Some(true), Some("h3=\":443\"")),
        (HttpVersion::H3, Some(false), None),
        (HttpVersion::H2, None, None),
        (HttpVersion::H1, None, None),
    ];
    for (version, alt_svc, reported) in cases {
        let mut stack = stack(version);
        stack.alt_svc = alt_svc;
        let running = Running::start(site.clone(), stack);
        for url in [plain.clone(), format!("{URL}missing")] {
            let mut client = running.client(HOST).await;
            let fetched = client
                .fetch(Method::GET, &url, HeaderMap::new(), Bytes::new())
                .await
                .unwrap();
            let named = fetched.headers.get("alt-svc");
            let named = named.map(|value| value.to_str().unwrap());
            assert_eq!(named, reported, "{version:?}, {alt_svc:?}, {url}");
        }
        running.stop().await;
    }
}

#[tokio::test]
async fn a_host_on_anothers_connection_does_not_name_its_service() {
    let other = "https://other.example.test/";
    let site = site(&[
        Recorded::new(URL, pattern(100, 1)),
        Recorded::new(other, pattern(100, 2)),
    ]);
    let running = Running::start(site, stack(HttpVersion::H3));
    let mut client = running.client(HOST).await;
    for (url, reported) in [(URL, true), (other, false), (URL, true)] {
        let fetched = client
            .fetch(Method::GET, url, HeaderMap::new(), Bytes::new())
            .await
            .unwrap();
        assert_eq!(fetched.headers.contains_key("alt-svc"), reported, "{url}");
    }
    running.stop().await;
}

#[tokio::test]
async fn where_http3_is_found_both_listeners_answer_and_name_it_even_for_others() {
    let other = "https://other.example.test/";
    let site = site(&[
        Recorded::new(URL, pattern(100, 1)),
        Recorded::new(other, pattern(100, 2)),
    ]);
    let mut found = stack(HttpVersion::H3);
    found.discovery = Discovery::AltSvc;
    found.congestion_control = "cubic-hystart++".into();
    let running = Running::start(site, found);
    for version in [HttpVersion::H2, HttpVersion::H3] {
        let mut client = running.client_over(HOST, version).await;
        for url in [URL, other] {
            let fetched = client
                .fetch(Method::GET, url, HeaderMap::new(), Bytes::new())
                .await
                .unwrap();
            assert_eq!(fetched.status, 200);
            assert_eq!(
                fetched.headers["alt-svc"], "h3=\":443\"",
                "{version:?}, {url}"
            );
        }
    }
    let events = running.stop().await;
    let over = events.iter().filter_map(|event| match event {
        Event::Connection(connection) => Some((
            connection.protocol,
            connection
                .in_force
                .congestion_control
                .clone()
                .unwrap_or_default(),
        )),
        Event::Request(_) => None,
    });
    let over: BTreeMap<_, _> = over.collect();
    let expected = [("h2", "cubic"), ("h3", "cubic-hystart++")];
    assert_eq!(over, expected.map(|(a, b)| (a, b.to_owned())).into());
}

#[test]
fn http3_is_found_by_alt_svc_alone_and_over_http3_alone() {
    let refused = |version, alt_svc| {
        let mut stack = stack(version);
        (stack.discovery, stack.alt_svc) = (Discovery::AltSvc, alt_svc);
        stack.validate().unwrap_err().to_string()
    };
    assert!(refused(HttpVersion::H2, None).contains("discovery is HTTP/3's"));
    assert!(refused(HttpVersion::H3, Some(false)).contains("set alt_svc to true"));
}

#[tokio::test]
async fn alt_svc_over_tcp_is_refused() {
    for version in [HttpVersion::H1, HttpVersion::H2] {
        let mut stack = stack(version);
        stack.alt_svc = Some(true);
        let refused = stack.validate().unwrap_err().to_string();
        assert!(refused.contains("alt_svc is HTTP/3's"), "{refused}");
    }
}

#[tokio::test]
async fn a_second_visit_sends_requests_in_its_first_flight_if_the_stack_allows_it() {
    for version in crate::common::VERSIONS {
        let seen = visit_twice(version, |stack| stack.early_data = true).await;
        assert_eq!(seen, [(NO, NO, NO), (YES, YES, YES)], "{version:?}");
    }
}

#[tokio::test]
async fn without_early_data_a_second_visit_waits_for_its_handshake() {
    for version in crate::common::VERSIONS {
        let seen = visit_twice(version, |_| ()).await;
        // Tickets that do not allow early data cause none.
        assert_eq!(seen, [(NO, NO, None), (YES, NO, None)], "{version:?}");
    }
}

#[tokio::test]
async fn without_tickets_no_connection_is_resumed() {
    let change: Change = |stack| {
        stack.early_data = true;
        stack.session_tickets = false;
    };
    for version in crate::common::VERSIONS {
        let seen = visit_twice(version, change).await;
        assert_eq!(seen, [(NO, NO, NO), (NO, NO, NO)], "{version:?}");
    }
}

#[tokio::test]
async fn chains_reach_their_size_on_the_wire_with_either_key() {
    let site = site(&[Recorded::new(URL, pattern(100, 2))]);
    for version in [HttpVersion::H2, HttpVersion::H3] {
        for key in [CertificateKey::Ecdsa, CertificateKey::Rsa] {
            let stack = StackConfig {
                certificate_key: key,
                certificate_chain_bytes: Some(ChainBytes::Given(10_000)),
                ..stack(version)
            };
            let running = Running::start(site.clone(), stack);
            let mut client = running.client(HOST).await;
            let fetch = client.fetch(Method::GET, URL, HeaderMap::new(), Bytes::new());
            assert_eq!(fetch.await.unwrap().status, 200);
            drop(client);
            let events = running.stop().await;
            let sent = in_force(&events)[0].handshake_sent_bytes.unwrap();
            assert!(
                (11_000..16_000).contains(&sent),
                "{version:?} {key:?}: {sent}"
            );
        }
    }
}

#[tokio::test]
async fn think_time_is_reported_and_kept() {
    let site = site(&[Recorded::new(URL, pattern(100, 3))]);
    for version in crate::common::VERSIONS {
        let stack = StackConfig {
            think_time: ThinkTime::Ms(20.0),
            ..stack(version)
        };
        let running = Running::start(site.clone(), stack);
        let mut client = running.client(HOST).await;
        let before = crate::common::now_ns();
        let fetch = client.fetch(Method::GET, URL, HeaderMap::new(), Bytes::new());
        assert_eq!(fetch.await.unwrap().status, 200);
        assert!(
            crate::common::now_ns() - before >= 20_000_000,
            "{version:?}"
        );
        drop(client);
        let events = running.stop().await;
        let told = events.iter().find_map(|event| match event {
            Event::Request(request) => Some(request.think_ms),
            Event::Connection(_) => None,
        });
        assert_eq!(told, Some(20.0), "{version:?}");
    }
}

/// tokio's timers end up to 2 ms late; without them, using one panics.
#[test]
fn a_short_think_time_is_exact() {
    const CLEARTEXT: &str = "http://plain.example.test/";
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .unwrap();
    runtime.block_on(async {
        let stack = StackConfig {
            think_time: ThinkTime::Ms(2.0),
            tls_version: TlsVersion::None,
            ..stack(HttpVersion::H1)
        };
        let running = Running::start(site(&[Recorded::new(CLEARTEXT, pattern(100, 3))]), stack);
        let address = running.address(&running.site.origins()[0]);
        let mut client = Client::connect_cleartext(address).await.unwrap();
        let fetch = client.fetch(Method::GET, CLEARTEXT, HeaderMap::new(), Bytes::new());
        assert_eq!(fetch.await.unwrap().status, 200);
    });
}

#[test]
fn an_invalid_stack_is_refused_with_the_reason() {
    let refusal = |change: Change, version| {
        let mut changed = stack(version);
        change(&mut changed);
        changed.validate().unwrap_err().to_string()
    };
    let cases: [(Change, HttpVersion, &str); 11] = [
        (
            |s| s.tls_version = TlsVersion::None,
            HttpVersion::H2,
            "HTTP/2 over TLS",
        ),
        (
            |s| s.tls_version = TlsVersion::Tls12,
            HttpVersion::H3,
            "TLS 1.3 only",
        ),
        (
            |s| {
                s.early_data = true;
                s.tls_version = TlsVersion::Tls12;
            },
            HttpVersion::H2,
            "TLS 1.3",
        ),
        (
            |s| s.header_table_bytes = Some(0),
            HttpVersion::H1,
            "compresses no header",
        ),
        (
            |s| s.header_table_bytes = Some(4097),
            HttpVersion::H2,
            "over h2 it must be at most 4096",
        ),
        (
            |s| s.header_table_bytes = Some(65_537),
            HttpVersion::H3,
            "over h3 it must be at most 65536",
        ),
        (
            |s| s.blocked_streams_max = Some(0),
            HttpVersion::H2,
            "QPACK's",
        ),
        (
            |s| s.blocked_streams_max = Some(101),
            HttpVersion::H3,
            "at most 100",
        ),
        (
            |s| s.congestion_control = "sprout_ewma".into(),
            HttpVersion::H2,
            "kernel's TCP",
        ),
        (|s| s.probe_gain = Some(1.25), HttpVersion::H3, "Sprout"),
        (
            |s| s.sprout_horizon = SproutHorizon::Min,
            HttpVersion::H3,
            "Sprout",
        ),
    ];
    for (change, version, reason) in cases {
        let reported = refusal(change, version);
        assert!(reported.contains(reason), "{reported}");
    }
}

#[test]
fn every_bound_of_the_table_holds() {
    let refused = |setting: &str, value: f64| {
        let mut json = serde_json::to_value(stack(HttpVersion::H3)).unwrap();
        json["congestion_control"] = "sprout_ewma".into();
        json["pacing"] = false.into();
        json[setting] = if value.fract() == 0.0 {
            (value as u64).into()
        } else {
            value.into()
        };
        let changed: StackConfig = serde_json::from_value(json).unwrap();
        changed.validate().err().map(|error| error.to_string())
    };
    for limit in STACK_LIMITS {
        let setting = limit.setting;
        for within in [limit.min, limit.max] {
            assert_eq!(refused(setting, within), None, "{setting} {within}");
        }
        let below = (limit.min >= 1.0).then_some(limit.min - 1.0);
        for beyond in below.into_iter().chain([limit.max + 1.0]) {
            let reported = refused(setting, beyond).unwrap_or_default();
            assert!(reported.contains(setting), "{setting} {beyond}: {reported}");
        }
    }
}

#[tokio::test]
async fn a_site_with_secure_origins_is_not_served_without_tls() {
    let stack = StackConfig {
        tls_version: TlsVersion::None,
        ..stack(HttpVersion::H1)
    };
    let secure = site(&[Recorded::new(URL, pattern(100, 4))]);
    let refused = eyelevel_replay::Server::bind(secure, stack.clone(), crate::common::options());
    let reported = refused.err().map(|error| error.to_string()).unwrap();
    assert!(reported.contains("https://www.example.test"), "{reported}");
    let plain = site(&[Recorded::new("http://www.example.test/", pattern(100, 4))]);
    assert!(eyelevel_replay::Server::bind(plain, stack, crate::common::options()).is_ok());
}
