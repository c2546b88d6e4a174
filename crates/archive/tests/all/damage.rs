//! Damaged files are refused; none makes the reader panic or return other content than was
//! recorded.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use eyelevel_archive::{Exchange, Site};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

const SEED: u64 = 20_261_121;

/// Returns the shipped sites, and the real recordings if present.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("python/eyelevel/sites/shipped/dashboard.wacz")];
    for name in ["wikipedia-2018", "baidu-2018"] {
        let file = root.join(format!("../shared/data/sites/warc/{name}.warc.gz"));
        if file.exists() {
            files.push(file);
        } else {
            println!("skipped: ../shared/data/sites/warc/{name}.warc.gz is absent");
        }
    }
    files
}

/// Returns what a replay sends of an exchange.
fn serve(exchange: &Exchange) -> (String, u16, &Bytes) {
    (exchange.url.to_string(), exchange.status, &exchange.body)
}

/// Whether every exchange that opens equals one of the undamaged file.
fn is_sound(sound: &Site, content: Vec<u8>) -> bool {
    match Site::from_bytes("damaged", Bytes::from(content)) {
        Err(_) => true,
        Ok(site) => {
            site.exchanges().len() == sound.exchanges().len()
                && site
                    .exchanges()
                    .iter()
                    .map(serve)
                    .eq(sound.exchanges().iter().map(serve))
        }
    }
}

#[test]
fn flipped_bits_give_the_same_content_or_an_error() {
    for file in files() {
        let sound = Site::open(&file).unwrap();
        let content = std::fs::read(&file).unwrap();
        let mut random = Pcg64::seed_from_u64(SEED);
        for _ in 0..300 {
            let position = random.next_u64() as usize % content.len();
            let bit = random.next_u32() % 8;
            let mut damaged = content.clone();
            damaged[position] ^= 1 << bit;
            let message = format!("{}: byte {position}, bit {bit}", file.display());
            assert!(is_sound(&sound, damaged), "{message}");
        }
    }
}

#[test]
fn cut_files_are_refused_or_hold_whole_exchanges() {
    for file in files() {
        let sound = Site::open(&file).unwrap();
        let content = std::fs::read(&file).unwrap();
        let mut random = Pcg64::seed_from_u64(SEED);
        for _ in 0..100 {
            let length = random.next_u64() as usize % content.len();
            // A cut between two records of a WARC leaves a valid, shorter file.
            if let Ok(site) = Site::from_bytes("cut", Bytes::copy_from_slice(&content[..length])) {
                let whole = site.exchanges().iter().map(serve);
                let all = sound
                    .exchanges()
                    .iter()
                    .map(serve)
                    .take(site.exchanges().len());
                assert!(whole.eq(all), "{}: {length} bytes", file.display());
            }
        }
    }
}

#[test]
fn noise_is_refused() {
    let mut random = Pcg64::seed_from_u64(SEED);
    let heads: [&[u8]; 5] = [
        b"",
        b"WARC/1.1\r\n",
        b"\x1f\x8b\x08\0\0\0\0\0\0\xff",
        b"PK\x03\x04",
        b"PK",
    ];
    for round in 0..2000 {
        let mut content = heads[round % heads.len()].to_vec();
        let length = random.next_u32() as usize % 200;
        content.extend((0..length).map(|_| random.next_u32() as u8));
        assert!(
            Site::from_bytes("noise", Bytes::from(content)).is_err(),
            "round {round}"
        );
    }
}
