//! Measures requests per second and bulk rates over loopback, with one thread each for server and
//! client.
//!
//! `cargo run --release -p eyelevel-replay --example throughput`

#[path = "../tests/all/common/mod.rs"]
mod common;

use bytes::Bytes;
use common::{Recorded, Running, VERSIONS, pattern, site, stack};
use eyelevel_replay::tls::client_config;
use eyelevel_replay::{Event, HttpVersion, TlsVersion, check::Client};
use http::{HeaderMap, Method};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const HOST: &str = "www.example.test";
const SMALL: &str = "https://www.example.test/small";
const BULK: &str = "https://www.example.test/bulk";
const BULK_BYTES: usize = 200_000_000;
const PARALLEL: usize = 50;
const TIME: Duration = Duration::from_secs(3);

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

fn main() {
    let recorded = [
        Recorded::new(SMALL, pattern(3000, 1)),
        Recorded::new(BULK, pattern(BULK_BYTES, 2)),
    ];
    let site = site(&recorded);
    for version in VERSIONS {
        let (to_client, from_server) = mpsc::channel();
        let (to_server, from_client) = tokio::sync::oneshot::channel::<()>();
        let site = site.clone();
        let server = std::thread::spawn(move || {
            runtime().block_on(async {
                let running = Running::start(site, stack(version));
                let origin = running.site.origins()[0].clone();
                let _ = to_client.send((running.address(&origin), running.authority.clone()));
                let _ = from_client.await;
                running.stop().await
            })
        });
        let (address, authority) = from_server.recv().expect("the server started");
        runtime().block_on(async {
            let connect = async || {
                let tls = client_config(&authority, version, TlsVersion::Tls13).expect("TLS");
                Client::connect(address, HOST, version, tls)
                    .await
                    .expect("a connection")
            };
            let shared = connect().await;
            let mut workers = JoinSet::new();
            let end = Instant::now() + TIME;
            for _ in 0..PARALLEL {
                let mut client = match shared.share() {
                    Some(client) => client,
                    None => connect().await,
                };
                workers.spawn(async move {
                    let mut count = 0_u64;
                    while Instant::now() < end {
                        let fetch =
                            client.fetch(Method::GET, SMALL, HeaderMap::new(), Bytes::new());
                        fetch.await.expect("an answer");
                        count += 1;
                    }
                    count
                });
            }
            let requests: u64 = workers.join_all().await.into_iter().sum();
            let mut client = shared;
            let start = Instant::now();
            let fetch = client.fetch(Method::GET, BULK, HeaderMap::new(), Bytes::new());
            let length = fetch.await.expect("an answer").body.len();
            let gbit_s = length as f64 * 8e-9 / start.elapsed().as_secs_f64();
            let rate = requests as f64 / TIME.as_secs_f64();
            println!("{version:?}: {rate:.0} requests/s of 3 kB, bulk {gbit_s:.2} Gbit/s");
        });
        drop(to_server);
        let events = server.join().expect("the server ended");
        let mut times: Vec<u64> = events
            .iter()
            .filter_map(|event| match event {
                Event::Request(request) => Some(request.server_us),
                Event::Connection(_) => None,
            })
            .collect();
        times.sort_unstable();
        let p99 = times[times.len() * 99 / 100];
        println!(
            "    in the server: p50 {} us, p99 {p99} us",
            times[times.len() / 2]
        );
        if version == HttpVersion::H3 {
            println!("    {:?}", events.last());
        }
    }
}
