//! Certificates whose chains cannot have the requested size are refused when a server starts,
//! instead of failing in every handshake.

use crate::common::{Recorded, options, site, stack};
use eyelevel_archive::{Provenance, Site, SiteMetadata, write_wacz};
use eyelevel_replay::{
    CertificateKey, ChainBytes, HttpVersion, NamedChainBytes, Server, StackConfig,
};
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
