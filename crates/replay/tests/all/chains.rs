//! Certificates whose chains cannot have the requested size are refused when a server starts,
//! instead of failing in every handshake.

use crate::common::{Recorded, Running, VERSIONS, options, site, stack};
use bytes::Bytes;
use eyelevel_archive::{Provenance, Site, SiteMetadata, write_wacz};
use eyelevel_replay::check::Client;
use eyelevel_replay::tls::client_config;
use eyelevel_replay::{
    CertificateCompression, CertificateKey, ChainBytes, Event, HttpVersion, NamedChainBytes,
    Server, StackConfig, TlsVersion,
};
use http::{HeaderMap, Method};
use rustls::CertificateCompressionAlgorithm;
use rustls::compress::{CertDecompressor, DecompressionFailed};
use std::collections::BTreeMap;
use std::sync::Arc;

const PAGE: &str = "https://www.example.test/";
const SHARED: &str = "https://cdn.example.test/script.js";

/// Returns a page with a third party whose certificate has that many names.
fn recorded(scheme: &str, names: usize) -> Arc<Site> {
    let urls = [PAGE, SHARED].map(|url| url.replace("https", scheme));
    let exchanges = site(&urls.map(|url| Recorded::new(&url, b"body".to_vec())));
    let names = (0..names).map(|each| format!("customer-{each}.example.test"));
    let certificate_names = BTreeMap::from([("cdn.example.test".to_owned(), names.collect())]);
    let metadata = SiteMetadata {
        title: String::new(),
        description: String::new(),
        main_url: exchanges.main_url().clone(),
        created_at_unix_ms: 0,
        provenance: Provenance {
            certificate_names,
            ..Provenance::default()
        },
        screenshot: None,
    };
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let file = format!("eyelevel-chains-{}-{number}.wacz", std::process::id());
    let file = std::env::temp_dir().join(file);
    write_wacz(&file, exchanges.exchanges(), &metadata).unwrap();
    let read = Site::from_bytes("chains.wacz", std::fs::read(&file).unwrap().into());
    std::fs::remove_file(file).unwrap();
    Arc::new(read.unwrap())
}

/// Returns the error of binding; empty if it succeeds.
fn refusal(site: &Arc<Site>, stack: StackConfig) -> String {
    let bound = Server::bind(site.clone(), stack, options());
    bound.err().map_or(String::new(), |error| error.to_string())
}

#[tokio::test]
async fn a_chain_too_long_by_its_names_is_refused_before_any_client_connects() {
    let many = recorded("https", 100);
    let cases = [
        (HttpVersion::H2, CertificateKey::Ecdsa),
        (HttpVersion::H3, CertificateKey::Rsa),
    ];
    for (version, key) in cases {
        let wanted = |bytes| StackConfig {
            certificate_key: key,
            certificate_chain_bytes: Some(bytes),
            ..stack(version)
        };
        let error = refusal(&many, wanted(ChainBytes::Given(3000)));
        assert!(error.contains("cdn.example.test"), "{error}");
        let (_, least) = error
            .split_once("certificate_chain_bytes to at least ")
            .unwrap();
        let digits = least.find(|letter: char| !letter.is_ascii_digit());
        let least = ChainBytes::Given(least[..digits.unwrap_or(least.len())].parse().unwrap());
        // Enough whatever the length of the next signatures.
        for _ in 0..5 {
            assert_eq!(refusal(&many, wanted(least)), "");
        }
        let named = ChainBytes::Named(NamedChainBytes::Recorded);
        assert_eq!(refusal(&many, wanted(named)), "");
    }
}

/// Decompresses certificates as Chromium does.
#[derive(Debug)]
struct Brotli;

impl CertDecompressor for Brotli {
    fn decompress(&self, mut input: &[u8], output: &mut [u8]) -> Result<(), DecompressionFailed> {
        let mut whole = Vec::new();
        brotli::BrotliDecompress(&mut input, &mut whole).map_err(|_| DecompressionFailed)?;
        output.copy_from_slice(&whole);
        Ok(())
    }

    fn algorithm(&self) -> CertificateCompressionAlgorithm {
        CertificateCompressionAlgorithm::Brotli
    }
}

#[tokio::test]
async fn certificates_are_compressed_for_clients_that_offer_it_as_real_chains_are() {
    const CHAIN_BYTES: u32 = 4000;
    let site = site(&[Recorded::new(PAGE, b"body".to_vec())]);
    for version in VERSIONS {
        let mut sent = Vec::new();
        for (offered, certificate_compression) in [
            (true, CertificateCompression::None),
            (false, CertificateCompression::Brotli),
            (true, CertificateCompression::Brotli),
        ] {
            let stack = StackConfig {
                certificate_chain_bytes: Some(ChainBytes::Given(CHAIN_BYTES)),
                certificate_compression,
                ..stack(version)
            };
            let running = Running::start(site.clone(), stack);
            let mut tls = client_config(&running.authority, version, TlsVersion::Tls13).unwrap();
            if offered {
                tls.cert_decompressors = vec![&Brotli];
            }
            let origin = &site.origins()[0];
            let connected = Client::connect(running.address(origin), &origin.host, version, tls);
            let mut client = connected.await.unwrap();
            // The certificates that the client has are whole.
            assert!(client.certificate_bytes().abs_diff(CHAIN_BYTES.into()) <= 8);
            let fetched = client.fetch(Method::GET, PAGE, HeaderMap::new(), Bytes::new());
            assert_eq!(fetched.await.unwrap().body, "body");
            drop(client);
            let events = running.stop().await;
            let Some(Event::Connection(connection)) = events.last() else {
                panic!("{version:?}: no connection was reported: {events:?}");
            };
            sent.push(connection.in_force.handshake_sent_bytes.unwrap());
        }
        assert!(sent[0].abs_diff(sent[1]) < 100, "{version:?}: {sent:?}");
        let saved = sent[0].saturating_sub(sent[2]) as f64 / f64::from(CHAIN_BYTES);
        assert!(
            (0.15..0.40).contains(&saved),
            "{version:?}: {saved} of {sent:?}"
        );
    }
}

#[tokio::test]
async fn names_that_no_certificate_will_have_do_not_count() {
    let wanted = StackConfig {
        certificate_chain_bytes: Some(ChainBytes::Given(3000)),
        ..stack(HttpVersion::H2)
    };
    assert_eq!(refusal(&recorded("https", 10), wanted.clone()), "");
    assert_eq!(refusal(&recorded("http", 100), wanted.clone()), "");
    let alone = StackConfig {
        coalescing: false,
        ..wanted
    };
    assert_eq!(refusal(&recorded("https", 100), alone), "");
}
