//! A 103 goes ahead of the page's response, at once, and of no other.

use crate::common::h3::{H3, SETTINGS};
use crate::common::{Recorded, Running, pattern, site, stack};
use bytes::Bytes;
use eyelevel_replay::tls::client_config;
use eyelevel_replay::{EarlyHints, Event, HttpVersion, StackConfig, ThinkTime, TlsVersion};
use http::{HeaderMap, HeaderValue, Method, Request};
use std::future::poll_fn;
use std::sync::Arc;
use tokio::net::TcpStream;

const HOST: &str = "www.example.test";
const PAGE: &str = "https://www.example.test/page?a=1";
const LARGE: &str = "https://www.example.test/large";
const LARGE_BYTES: usize = 300_000;
const THINK_MS: f64 = 30.0;

/// Returns a value of `Link` that is longer than one byte of HPACK's lengths can say.
fn link() -> String {
    let hint = |number: usize| format!("</style-{number}.css>; rel=preload; as=style");
    (0..20).map(hint).collect::<Vec<_>>().join(", ")
}

fn running(version: HttpVersion) -> Running {
    let recorded = [
        Recorded::new(PAGE, pattern(3000, 1)),
        Recorded::new(LARGE, pattern(LARGE_BYTES, 2)),
    ];
    let stack = StackConfig {
        think_time: ThinkTime::Ms(THINK_MS),
        ..stack(version)
    };
    Running::start_with(site(&recorded), stack, |options| {
        options.early_hints = Some(EarlyHints {
            page: PAGE.parse().unwrap(),
            link: HeaderValue::try_from(link()).unwrap(),
        });
    })
}

/// Requests both URLs at once, twice, over one HTTP/2 connection of h2; returns of each response
/// the `Link` fields before it, and the length of its body.
async fn fetch_h2(running: &Running) -> Vec<(Vec<String>, usize)> {
    let tls = client_config(&running.authority, HttpVersion::H2, TlsVersion::Tls13).unwrap();
    let stream = TcpStream::connect(running.address(&running.site.origins()[0]));
    let connector = tokio_rustls::TlsConnector::from(Arc::new(tls));
    let name = HOST.try_into().unwrap();
    let stream = connector
        .connect(name, stream.await.unwrap())
        .await
        .unwrap();
    let (mut client, connection) = h2::client::Builder::new()
        .initial_window_size(1 << 20)
        .initial_connection_window_size(1 << 22)
        .handshake::<_, Bytes>(stream)
        .await
        .unwrap();
    let driver = tokio::spawn(connection);
    let mut asked = Vec::new();
    for url in [LARGE, PAGE, LARGE, PAGE] {
        client = client.ready().await.unwrap();
        let request = Request::get(url).body(()).unwrap();
        asked.push(client.send_request(request, true).unwrap().0);
    }
    let mut found = Vec::new();
    for mut response in asked {
        let mut links = Vec::new();
        while let Some(interim) = poll_fn(|context| response.poll_informational(context)).await {
            let interim = interim.unwrap();
            assert_eq!(interim.status(), 103);
            links.push(interim.headers()["link"].to_str().unwrap().to_owned());
        }
        let response = response.await.unwrap();
        assert_eq!(response.status(), 200);
        let mut body = response.into_body();
        let mut bytes = 0;
        while let Some(data) = body.data().await {
            bytes += data.unwrap().len();
        }
        found.push((links, bytes));
    }
    driver.abort();
    found
}

#[tokio::test]
async fn the_page_alone_has_a_103_over_http2_beside_other_responses() {
    let running = running(HttpVersion::H2);
    let page = (vec![link()], 3000);
    let large = (Vec::new(), LARGE_BYTES);
    let expected = [large.clone(), page.clone(), large, page];
    assert_eq!(fetch_h2(&running).await, expected);
    check_events(&running.stop().await);
}

#[tokio::test]
async fn the_page_alone_has_a_103_over_http3() {
    let running = running(HttpVersion::H3);
    let mut client = H3::connect(&running, HOST, SETTINGS).await;
    for (url, bytes) in [(LARGE, LARGE_BYTES), (PAGE, 3000), (PAGE, 3000)] {
        let answer = client.get(url, &HeaderMap::new()).await;
        assert_eq!((answer.status, answer.body.len()), (200, bytes));
        let links: Vec<_> = answer
            .interim
            .iter()
            .map(|each| each["link"].clone())
            .collect();
        let expected = vec![link(); usize::from(url == PAGE)];
        assert_eq!(links, expected, "{url}");
    }
    drop(client);
    check_events(&running.stop().await);
}

#[tokio::test]
async fn http1_has_none() {
    let running = running(HttpVersion::H1);
    let mut client = running.client(HOST).await;
    let fetch = client.fetch(Method::GET, PAGE, HeaderMap::new(), Bytes::new());
    assert_eq!(fetch.await.unwrap().status, 200);
    drop(client);
    let events = running.stop().await;
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, Event::Request(each) if each.early_hints))
    );
}

/// Asserts that the events name the page's responses as those with a 103, which came before their
/// think time.
fn check_events(events: &[Event]) {
    let requests = events.iter().filter_map(|event| match event {
        Event::Request(request) => Some(request),
        Event::Connection(_) => None,
    });
    let seen: Vec<_> = requests.collect();
    assert!(seen.iter().any(|request| request.early_hints));
    for request in seen {
        assert_eq!(request.early_hints, request.url == PAGE, "{}", request.url);
        assert_eq!(request.think_ms, THINK_MS);
    }
}
