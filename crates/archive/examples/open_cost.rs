//! Measures what opening and verifying a recorded site costs: 300 and 10,000 exchanges, packed
//! here, with bodies that do not compress.
//!
//!     cargo run --release -p eyelevel-archive --example open_cost

use std::time::Instant;

use bytes::Bytes;
use eyelevel_archive::{Exchange, Header, Provenance, Site, SiteMetadata, write_wacz};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

fn main() {
    for (exchanges, body_bytes) in [(300, 20_000), (10_000, 100_000)] {
        let file = std::env::temp_dir().join(format!("open_cost-{}.wacz", std::process::id()));
        let site: Vec<Exchange> = (0..exchanges).map(|at| exchange(at, body_bytes)).collect();
        let metadata = SiteMetadata {
            title: "cost".to_owned(),
            description: String::new(),
            main_url: site[0].url.clone(),
            created_at_unix_ms: 0,
            provenance: Provenance::default(),
            screenshot: None,
        };
        write_wacz(&file, &site, &metadata).expect("the temporary folder takes the file");
        drop(site);
        let size = std::fs::metadata(&file).map_or(0, |metadata| metadata.len());
        println!("{exchanges} exchanges, {:.1} MB", size as f64 / 1e6);
        for round in 0..3 {
            let start = Instant::now();
            let site = Site::open(&file).expect("it was just written");
            let open = start.elapsed();
            let start = Instant::now();
            let digest = &site.digest()[..8];
            let digested = start.elapsed();
            let start = Instant::now();
            let verification = site.verify().expect("it was just written");
            println!(
                "  round {round}: open {:.1} ms, digest {digest} {:.1} ms, verify {:.1} ms ({} digests)",
                open.as_secs_f64() * 1e3,
                digested.as_secs_f64() * 1e3,
                start.elapsed().as_secs_f64() * 1e3,
                verification.record_digests
            );
        }
        let _ = std::fs::remove_file(&file);
    }
}

fn exchange(index: usize, body_bytes: usize) -> Exchange {
    let mut body = vec![0; body_bytes];
    Pcg64::seed_from_u64(index as u64).fill_bytes(&mut body);
    let header =
        |number: usize| Header::new(format!("x-header-{number}"), "a value of some length");
    Exchange {
        index,
        method: "GET".to_owned(),
        url: format!("https://host-{}.test/{index}", index % 20)
            .parse()
            .expect("a URL"),
        request_headers: (0..10).map(header).collect(),
        request_body: Bytes::new(),
        status: 200,
        reason: "OK".to_owned(),
        response_headers: (0..15).map(header).collect(),
        body: Bytes::from(body),
        address: None,
        protocol: "h2".to_owned(),
        recorded_at_unix_ms: Some(0),
        time_to_first_byte_ms: Some(20.0),
        initiator: None,
    }
}
