//! One listener serves every local address, and the resolver names them.

use crate::common::{Recorded, VERSIONS, now_ns, pattern, site, stack};
use eyelevel_archive::Scheme;
use eyelevel_replay::check::Client;
use eyelevel_replay::dns::{Responder, table};
use eyelevel_replay::matcher::Rules;
use eyelevel_replay::tls::client_config;
use eyelevel_replay::{Event, HttpVersion, Server, ServerOptions, TlsVersion};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::UdpSocket;

#[tokio::test]
async fn replies_leave_from_the_queried_address() {
    let hosts = ["a.test", "b.test", "c.test"];
    let recorded = hosts.map(|host| Recorded::new(&format!("https://{host}/"), pattern(50_000, 8)));
    let site = site(&recorded);
    for version in VERSIONS {
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let sink = events.clone();
        let options = ServerOptions {
            addresses: vec!["0.0.0.0".parse().unwrap()],
            ports_ephemeral: true,
            rules: Rules::default(),
            cache_age: None,
            early_hints: None,
            now_ns,
            logs: eyelevel_replay::ConnectionLogs::default(),
            live: None,
            events: Arc::new(move |event| sink.lock().unwrap().push(event)),
        };
        let server = Server::bind(site.clone(), stack(version), options).unwrap();
        let port = server.bound_address(Scheme::Https, 443).unwrap().port();
        let authority = server.authority();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let running = tokio::spawn(server.run(async move {
            let _ = stopped.await;
        }));
        for (last, host) in (7..).zip(hosts) {
            let address: SocketAddr = format!("127.0.3.{last}:{port}").parse().unwrap();
            let tls = client_config(&authority, version, TlsVersion::Tls13).unwrap();
            let mut client = Client::connect(address, host, version, tls).await.unwrap();
            let exchange = site
                .exchanges()
                .iter()
                .find(|one| one.url.host == host)
                .unwrap();
            assert_eq!(
                client.fetch_exchange(exchange).await.unwrap().body,
                exchange.body
            );
        }
        drop(stop);
        running.await.unwrap();
        let mut addresses: Vec<String> = events
            .lock()
            .unwrap()
            .iter()
            .filter_map(|event| match event {
                Event::Connection(connection) => Some(connection.address?.ip().to_string()),
                Event::Request(_) => None,
            })
            .collect();
        addresses.sort_unstable();
        assert_eq!(
            addresses,
            ["127.0.3.7", "127.0.3.8", "127.0.3.9"],
            "{version:?}"
        );
    }
}

#[tokio::test]
async fn a_leaf_is_refused_by_a_client_that_trusts_another_authority() {
    let site = site(&[Recorded::new("https://a.test/", b"x".to_vec())]);
    for version in VERSIONS {
        let ours = crate::common::Running::start(site.clone(), stack(version));
        let other = crate::common::Running::start(site.clone(), stack(version));
        let tls = client_config(&other.authority, version, TlsVersion::Tls13).unwrap();
        let address = ours.address(&site.origins()[0]);
        assert!(
            Client::connect(address, "a.test", version, tls)
                .await
                .is_err(),
            "{version:?}"
        );
        let tls = client_config(&ours.authority, version, TlsVersion::Tls13).unwrap();
        assert!(
            Client::connect(address, "a.test", version, tls)
                .await
                .is_ok(),
            "{version:?}"
        );
        other.stop().await;
        ours.stop().await;
    }
}

#[tokio::test]
async fn tls_1_2_is_served_if_the_stack_has_it() {
    let site = site(&[Recorded::new("https://a.test/", b"x".to_vec())]);
    let version = HttpVersion::H2;
    let mut stack = stack(version);
    stack.tls_version = TlsVersion::Tls12;
    let running = crate::common::Running::start(site.clone(), stack);
    let address = running.address(&site.origins()[0]);
    let newer = client_config(&running.authority, version, TlsVersion::Tls13).unwrap();
    assert!(
        Client::connect(address, "a.test", version, newer)
            .await
            .is_err()
    );
    let tls = client_config(&running.authority, version, TlsVersion::Tls12).unwrap();
    let mut client = Client::connect(address, "a.test", version, tls)
        .await
        .unwrap();
    assert_eq!(
        client
            .fetch_exchange(&site.exchanges()[0])
            .await
            .unwrap()
            .body,
        "x"
    );
    drop(client);
    let events = running.stop().await;
    let failures: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Connection(connection) => Some((
                connection.in_force.tls_version,
                connection.in_force.failure.is_some(),
            )),
            Event::Request(_) => None,
        })
        .collect();
    assert_eq!(failures, [(None, true), (Some("1.2"), false)]);
}

#[tokio::test]
async fn the_resolver_answers_over_udp_and_counts() {
    let names = [("www.a.test", "192.0.2.1".parse().unwrap())];
    let responder = Responder::bind("127.0.0.1:0".parse().unwrap(), table(names))
        .await
        .unwrap();
    let (address, counts) = (responder.local_address().unwrap(), responder.counts());
    let running = tokio::spawn(responder.run());
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let query = |label: &str| {
        let mut message = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3];
        message.extend_from_slice(label.as_bytes());
        message.extend_from_slice(b"\x01a\x04test\x00\x00\x01\x00\x01");
        message
    };
    let mut buffer = [0; 512];
    for (label, rcode, answers) in [("www", 0, 1), ("xyz", 3, 0)] {
        socket.send_to(&query(label), address).await.unwrap();
        let length = socket.recv(&mut buffer).await.unwrap();
        assert_eq!(
            (buffer[3] & 15, buffer[7]),
            (rcode, answers),
            "{length} bytes"
        );
    }
    let counts = counts();
    assert_eq!((counts.known, counts.unknown, counts.malformed), (1, 1, 0));
    assert_eq!(counts.unknown_names["xyz.a.test"], 1);
    running.abort();
}
