//! The servers' behaviour over each protocol.

use crate::common::{Recorded, Running, VERSIONS, pattern, site, stack};
use bytes::Bytes;
use eyelevel_archive::Scheme;
use eyelevel_replay::check::Client;
use eyelevel_replay::tls::client_config;
use eyelevel_replay::{Event, HttpVersion, KeyExchange, TlsVersion};
use http::{HeaderMap, Method};
use tokio::task::JoinSet;

const HOST: &str = "www.example.test";

fn url(path: &str) -> String {
    format!("https://{HOST}{path}")
}

async fn get(
    client: &mut eyelevel_replay::check::Client,
    path: &str,
) -> eyelevel_replay::check::Fetched {
    client
        .fetch(Method::GET, &url(path), HeaderMap::new(), Bytes::new())
        .await
        .unwrap()
}

#[tokio::test]
async fn a_large_body_is_returned_intact() {
    let body = pattern(10_000_000, 1);
    let site = site(&[Recorded::new(&url("/large"), body.clone())]);
    for version in VERSIONS {
        let running = Running::start(site.clone(), stack(version));
        let fetched = get(&mut running.client(HOST).await, "/large").await;
        assert_eq!(fetched.status, 200);
        assert!(
            fetched.body == body,
            "{version:?}: {} bytes",
            fetched.body.len()
        );
        running.stop().await;
    }
}

/// Content security policies of 20 kB are common; hyper's own bounds are 100 fields and 16 kB.
#[tokio::test]
async fn a_head_that_a_browser_accepts_is_returned_intact() {
    let many: String = (0..1_000).map(|n| format!("x-f{n}: v\r\n")).collect();
    let large: String = (0..4)
        .map(|n| format!("x-f{n}: {}\r\n", "a".repeat(60_000)))
        .collect();
    for (fields, count) in [(many, 1_000), (large, 4)] {
        let mut recorded = Recorded::new(&url("/"), pattern(10, 1));
        recorded.fields.push_str(&fields);
        let site = site(&[recorded]);
        for version in VERSIONS {
            let running = Running::start(site.clone(), stack(version));
            let fetched = get(&mut running.client(HOST).await, "/").await;
            let names = fetched.headers.keys();
            let came = names
                .filter(|name| name.as_str().starts_with("x-f"))
                .count();
            assert_eq!(came, count, "{version:?}");
            running.stop().await;
        }
    }
}

/// A server that redirects cleartext to https is recorded like this: one host, one port, both
/// schemes.
#[tokio::test]
async fn origins_of_both_schemes_share_a_port() {
    let plain = format!("http://{HOST}:8443/");
    let site = site(&[
        Recorded::new(&format!("https://{HOST}:8443/"), pattern(1_000, 1)),
        Recorded::new(&plain, pattern(2_000, 2)),
    ]);
    for version in VERSIONS {
        let running = Running::start(site.clone(), stack(version));
        let of = |scheme| {
            let origins = running.site.origins().iter();
            let mut of_scheme = origins.filter(|origin| origin.scheme == scheme);
            running.address(of_scheme.next().unwrap())
        };
        let is_one = of(Scheme::Http) == of(Scheme::Https);
        assert_eq!(
            is_one,
            version != HttpVersion::H3,
            "QUIC has a port of its own"
        );
        let mut secure = Client::connect(
            of(Scheme::Https),
            HOST,
            version,
            client_config(&running.authority, version, TlsVersion::Tls13).unwrap(),
        )
        .await
        .unwrap();
        // A client that sends nothing delays no other.
        let _silent = tokio::net::TcpStream::connect(of(Scheme::Http))
            .await
            .unwrap();
        let mut cleartext = Client::connect_cleartext(of(Scheme::Http)).await.unwrap();
        for (client, url, bytes) in [
            (&mut secure, format!("https://{HOST}:8443/"), 1_000),
            (&mut cleartext, plain.clone(), 2_000),
        ] {
            let asked = client.fetch(Method::GET, &url, HeaderMap::new(), Bytes::new());
            let fetched = asked.await.unwrap();
            assert_eq!((fetched.status, fetched.body.len()), (200, bytes), "{url}");
        }
        running.stop().await;
    }
}

#[tokio::test]
async fn fifty_parallel_requests_share_one_connection() {
    let bodies: Vec<Vec<u8>> = (0..50)
        .map(|index| pattern(20_000 + index, index as u64))
        .collect();
    let recorded: Vec<Recorded> = bodies
        .iter()
        .enumerate()
        .map(|(index, body)| Recorded::new(&url(&format!("/{index}")), body.clone()))
        .collect();
    let site = site(&recorded);
    for version in [HttpVersion::H2, HttpVersion::H3] {
        let running = Running::start(site.clone(), stack(version));
        let client = running.client(HOST).await;
        let mut requests = JoinSet::new();
        for index in 0..50 {
            let mut shared = client.share().unwrap();
            requests.spawn(async move { (index, get(&mut shared, &format!("/{index}")).await) });
        }
        for (index, fetched) in requests.join_all().await {
            assert!(fetched.body == bodies[index], "{version:?}: /{index}");
        }
        drop(client);
        let events = running.stop().await;
        let connections = |event: &Event| match event {
            Event::Request(request) => Some(request.connection),
            Event::Connection(_) => None,
        };
        let used: Vec<u64> = events.iter().filter_map(connections).collect();
        assert_eq!(used, [0; 50], "{version:?}");
    }
}

#[tokio::test]
async fn a_client_that_cancels_disturbs_no_other() {
    let large = pattern(5_000_000, 3);
    let site = site(&[
        Recorded::new(&url("/large"), large.clone()),
        Recorded::new(&url("/small"), pattern(3000, 4)),
    ]);
    for version in [HttpVersion::H2, HttpVersion::H3] {
        let running = Running::start(site.clone(), stack(version));
        let client = running.client(HOST).await;
        for round in 1..=20 {
            let mut shared = client.share().unwrap();
            let mut giving_up = Box::pin(async move { get(&mut shared, "/large").await });
            // Cancelled as soon as the server has begun to answer.
            while running.events.lock().unwrap().len() < round {
                assert!(
                    poll_once(&mut giving_up).await.is_none(),
                    "too fast to give up"
                );
                tokio::task::yield_now().await;
            }
        }
        let mut shared = client.share().unwrap();
        assert_eq!(get(&mut shared, "/small").await.body.len(), 3000);
        assert!(get(&mut shared, "/large").await.body == large);
        drop((client, shared));
        running.stop().await;
    }
}

async fn poll_once<T>(future: &mut std::pin::Pin<Box<impl Future<Output = T>>>) -> Option<T> {
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        std::task::Poll::Ready(value) => std::task::Poll::Ready(Some(value)),
        std::task::Poll::Pending => std::task::Poll::Ready(None),
    })
    .await
}

/// Method, path, fields, and the response: status, rule, bytes.
type Case = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);

#[tokio::test]
async fn responses_are_equal_over_all_protocols_and_name_their_rule() {
    let mut tagged = Recorded::new(&url("/tagged?a=1"), pattern(1000, 5));
    tagged
        .fields
        .push_str("etag: \"t\"\r\nlast-modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n");
    let site = site(&[
        tagged,
        Recorded::new(&url("/poll"), b"one".to_vec()),
        Recorded::new(&url("/poll"), b"two".to_vec()),
    ]);
    let cases: [Case; 10] = [
        ("GET", "/tagged?a=1", &[], "200 exact 1000"),
        ("HEAD", "/tagged?a=1", &[], "200 head 0"),
        (
            "GET",
            "/tagged?a=1&_=1767225600000",
            &[],
            "200 cache-buster 1000",
        ),
        ("GET", "/tagged?a=2", &[], "200 query 1000"),
        (
            "GET",
            "/tagged?a=1",
            &[("if-none-match", "W/\"t\"")],
            "304 exact 0",
        ),
        (
            "GET",
            "/tagged?a=1",
            &[("range", "bytes=10-19")],
            "206 exact 10",
        ),
        (
            "GET",
            "/tagged?a=1",
            &[("range", "bytes=1000-")],
            "416 exact 0",
        ),
        ("GET", "/none", &[], "404 miss 13"),
        ("POST", "/tagged?a=1", &[], "404 miss 13"),
        (
            "OPTIONS",
            "/tagged?a=1",
            &[
                ("origin", "https://o.test"),
                ("access-control-request-method", "PUT"),
            ],
            "204 preflight 0",
        ),
    ];
    for version in VERSIONS {
        let running = Running::start(site.clone(), stack(version));
        let mut client = running.client(HOST).await;
        for (method, path, fields, expected) in cases {
            let headers = fields
                .iter()
                .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
                .collect();
            let method = method.parse().unwrap();
            let body = if method == Method::POST {
                Bytes::from_static(b"posted")
            } else {
                Bytes::new()
            };
            let fetched = client
                .fetch(method, &url(path), headers, body)
                .await
                .unwrap();
            let how = fetched.headers["x-eyelevel-match"].to_str().unwrap();
            let got = format!("{} {how} {}", fetched.status, fetched.body.len());
            assert_eq!(got, expected, "{version:?} {path} {fields:?}");
        }
        for expected in ["one", "two", "two"] {
            assert_eq!(get(&mut client, "/poll").await.body, expected);
        }
        drop(client);
        running.stop().await;
    }
}

/// Chromium's offer of both groups is that of rustls's client: a share of the hybrid one and of its
/// classical part.
#[tokio::test]
async fn servers_without_the_hybrid_group_answer_with_the_classical_one_at_once() {
    let site = site(&[Recorded::new(&url("/"), pattern(2000, 6))]);
    for version in VERSIONS {
        let mut sent = Vec::new();
        for (key_exchange, expected) in [
            (KeyExchange::Hybrid, "X25519MLKEM768"),
            (KeyExchange::Classical, "X25519"),
        ] {
            let stack = eyelevel_replay::StackConfig {
                key_exchange,
                ..stack(version)
            };
            let running = Running::start(site.clone(), stack);
            let mut client = running.client(HOST).await;
            get(&mut client, "/").await;
            drop(client);
            let events = running.stop().await;
            let Some(Event::Connection(connection)) = events.last() else {
                panic!("{version:?}: no connection was reported: {events:?}");
            };
            assert_eq!(connection.in_force.key_exchange.as_deref(), Some(expected));
            sent.push(connection.in_force.handshake_sent_bytes.unwrap());
        }
        // The server's part of ML-KEM-768 has 1,088 bytes (FIPS 203); QUIC pads datagrams.
        assert!((700..1500).contains(&(sent[0] - sent[1])), "{sent:?}");
    }
}

#[tokio::test]
async fn connections_report_what_was_in_force() {
    let site = site(&[Recorded::new(&url("/"), pattern(200_000, 6))]);
    for version in VERSIONS {
        for pacing in [true, false] {
            let stack = eyelevel_replay::StackConfig {
                pacing,
                ..stack(version)
            };
            let running = Running::start(site.clone(), stack);
            let mut client = running.client(HOST).await;
            get(&mut client, "/").await;
            let client_closes_first = pacing;
            let events = if client_closes_first {
                drop(client);
                running.stop().await
            } else {
                let events = running.stop().await;
                drop(client);
                events
            };
            let Some(Event::Connection(connection)) = events.last() else {
                panic!("{version:?}: no connection was reported: {events:?}");
            };
            let in_force = &connection.in_force;
            assert_eq!(connection.protocol, version.protocol());
            assert_eq!(in_force.congestion_control.as_deref(), Some("cubic"));
            assert_eq!(
                in_force.pacing_rate_bytes_s_max.is_some(),
                pacing,
                "{version:?}"
            );
            assert_eq!(in_force.tls_version, Some("1.3"));
            assert_eq!(in_force.key_exchange.as_deref(), Some("X25519MLKEM768"));
            assert!(
                in_force.rtt_ms_min.is_some_and(|rtt| rtt > 0.0),
                "{version:?}"
            );
            let window = in_force.initial_window_packets.unwrap();
            // Over TCP it is the route's, and loopback has the kernel's own.
            assert_eq!(
                window,
                if version == HttpVersion::H3 { 32 } else { 10 },
                "{version:?}"
            );
            assert_eq!(in_force.cipher.as_deref(), Some("TLS13_AES_128_GCM_SHA256"));
            assert!(
                in_force
                    .handshake_sent_bytes
                    .is_some_and(|bytes| (1000..6000).contains(&bytes)),
                "{version:?}: {:?}",
                in_force.handshake_sent_bytes
            );
            assert!(in_force.sent_bytes.unwrap() > 200_000, "{version:?}");
            assert!(in_force.sent_packets.unwrap() > 3, "{version:?}");
            assert_eq!(in_force.early_data_accepted, None);
            assert_eq!(in_force.failure, None);
            assert_eq!(
                in_force.packet_bytes,
                (version == HttpVersion::H3).then_some(1452)
            );
        }
    }
}

#[tokio::test]
async fn the_urgent_response_overtakes_on_the_wire() {
    const BODY: usize = 400_000;
    let paths = ["/first", "/second", "/urgent"];
    let recorded = paths.map(|path| Recorded::new(&url(path), pattern(BODY, 7)));
    let site = site(&recorded);
    for version in [HttpVersion::H2, HttpVersion::H3] {
        let running = Running::start(site.clone(), stack(version));
        let client = running.client(HOST).await;
        let mut requests = JoinSet::new();
        for (path, priority) in paths.into_iter().zip(["u=5", "u=5", "u=0"]) {
            let mut shared = client.share().unwrap();
            requests.spawn(async move {
                let headers = [("priority".parse().unwrap(), priority.parse().unwrap())];
                let headers: HeaderMap = headers.into_iter().collect();
                let fetched = shared
                    .fetch(Method::GET, &url(path), headers, Bytes::new())
                    .await
                    .unwrap();
                assert_eq!(fetched.body.len(), BODY);
                path
            });
        }
        let mut order = Vec::new();
        while let Some(path) = requests.join_next().await {
            order.push(path.unwrap());
        }
        assert_eq!(order, ["/urgent", "/first", "/second"], "{version:?}");
        drop(client);
        running.stop().await;
    }
}
