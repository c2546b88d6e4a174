//! Measures the cost of opening and verifying a recorded site: 300 and 10,000 exchanges, packed
//! here, with incompressible bodies. Prints one line of JSON per size;
//! `benchmarks/replay/archive.py` reads them.
//!
//!     cargo run --release -p eyelevel-archive --example open_cost

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use bytes::Bytes;
use eyelevel_archive::{Exchange, Header, Provenance, Site, SiteMetadata, write_wacz};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [file, exchanges, body_bytes] = &arguments[..] {
        let number = |text: &str| text.parse().expect("a number");
        return write(Path::new(file), number(exchanges), number(body_bytes));
    }
    let at_start_mb = anonymous_mb();
    for (exchanges, body_bytes) in [(300, 20_000), (10_000, 100_000)] {
        let file = std::env::temp_dir().join(format!("open_cost-{}.wacz", std::process::id()));
        // Written by a separate process: memory that writing frees here would hide what opening
        // takes.
        let written = Command::new(std::env::current_exe().expect("it runs"))
            .arg(&file)
            .args([exchanges, body_bytes].map(|number| number.to_string()))
            .status();
        assert!(written.expect("it starts").success());
        let size = std::fs::metadata(&file).map_or(0, |metadata| metadata.len());
        let mut rounds: [Vec<f64>; 4] = Default::default();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let site = Site::open(&file).expect("it was just written");
            rounds[0].push(start.elapsed().as_secs_f64() * 1e3);
            // Mapped pages belong to the kernel's cache and are evicted when memory is short.
            rounds[1].push(anonymous_mb() - at_start_mb);
            let start = Instant::now();
            std::hint::black_box(site.digest());
            rounds[2].push(start.elapsed().as_secs_f64() * 1e3);
            let start = Instant::now();
            site.verify().expect("it was just written");
            rounds[3].push(start.elapsed().as_secs_f64() * 1e3);
        }
        let [open_ms, resident_mb, digest_ms, verify_ms] = rounds;
        let said = serde_json::json!({
            "exchanges": exchanges, "bytes": size, "open_ms": open_ms,
            "resident_mb": resident_mb, "digest_ms": digest_ms, "verify_ms": verify_ms,
        });
        println!("{said}");
        let _ = std::fs::remove_file(&file);
    }
}

/// Returns this process's anonymous memory, MB (`RssAnon` of proc_pid_status(5)).
fn anonymous_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    kilobytes.unwrap_or(f64::NAN) / 1e3
}

fn write(file: &Path, exchanges: usize, body_bytes: usize) {
    let site: Vec<Exchange> = (0..exchanges).map(|at| exchange(at, body_bytes)).collect();
    let metadata = SiteMetadata {
        title: "cost".to_owned(),
        description: String::new(),
        main_url: site[0].url.clone(),
        created_at_unix_ms: 0,
        provenance: Provenance::default(),
        screenshot: None,
    };
    write_wacz(file, &site, &metadata).expect("the temporary folder takes the file");
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
