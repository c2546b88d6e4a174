//! Measures what a match costs with 10,000 exchanges: exact, with a changed query, and a miss.
//! Prints one line of JSON for each; `benchmarks/replay/archive.py` reads them.
//!
//! `cargo run --release -p eyelevel-replay --example matching`

#[path = "../tests/all/common/mod.rs"]
mod common;

use common::{Recorded, site};
use eyelevel_archive::Scheme;
use eyelevel_replay::matcher::{Matcher, Progress, Request, Rules};
use http::HeaderMap;
use std::time::Instant;

const EXCHANGES: usize = 10_000;
const HOSTS: usize = 50;
const ROUNDS: usize = 5;

fn main() {
    // Fifty hosts, each with two hundred URLs: ten scripts with twenty queries each.
    let target = |index: usize| {
        let (script, page) = (index / HOSTS % 10, index / HOSTS / 10);
        format!("/assets/folder/script{script}.js?page={page}&lang=en&version=1.2.3&theme=dark")
    };
    let host = |index: usize| format!("host{}.example.test", index % HOSTS);
    let recorded: Vec<Recorded> = (0..EXCHANGES)
        .map(|at| Recorded::new(&format!("https://{}{}", host(at), target(at)), Vec::new()))
        .collect();
    let site = site(&recorded);
    let matcher = Matcher::new(site.exchanges(), Rules::default());
    let headers = HeaderMap::new();
    let mut progress = Progress::default();
    for (name, change) in [
        ("exact", ""),
        ("query", "&_=1767225600000"),
        ("miss", "/none"),
    ] {
        let mut percentiles: [Vec<f64>; 2] = Default::default();
        for _ in 0..ROUNDS {
            let mut times: Vec<u128> = (0..EXCHANGES)
                .map(|at| {
                    let (host, target) = (host(at), target(at));
                    let target = match name {
                        "miss" => target.replace(".js", change),
                        _ => format!("{target}{change}"),
                    };
                    let request = Request {
                        method: "GET",
                        scheme: Scheme::Https,
                        host: &host,
                        port: 443,
                        path_and_query: &target,
                        headers: &headers,
                        body: b"",
                    };
                    let start = Instant::now();
                    let answer = matcher.answer(site.exchanges(), &request, &mut progress);
                    std::hint::black_box(answer);
                    start.elapsed().as_nanos()
                })
                .collect();
            times.sort_unstable();
            for (all, share) in percentiles.iter_mut().zip([50, 99]) {
                all.push(times[EXCHANGES * share / 100] as f64 / 1e3);
            }
        }
        let [p50_us, p99_us] = percentiles;
        println!(
            r#"{{"request": "{name}", "exchanges": {EXCHANGES}, "p50_us": {p50_us:?}, "p99_us": {p99_us:?}}}"#
        );
    }
}
