//! A recorded https site converted to cleartext.

use std::io::Read;
use std::path::Path;

use eyelevel_archive::{Scheme, Site};
use flate2::read::MultiGzDecoder;

#[test]
fn every_origin_and_link_is_moved_and_every_exchange_is_kept() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../python/eyelevel/sites/shipped/dashboard.wacz");
    let site = Site::open(corpus).unwrap();
    let plain = site.to_cleartext();
    assert_eq!(plain.exchanges().len(), site.exchanges().len());
    assert_eq!(plain.digest(), site.digest());
    assert_eq!(plain.main_url().scheme, Scheme::Http);
    assert!(plain.exchanges().iter().all(|each| each.url.port == 80));
    let addresses = |site: &Site| -> Vec<_> {
        let of = site.origins().iter();
        of.map(|each| (each.host.clone(), each.address)).collect()
    };
    assert_eq!(addresses(&plain), addresses(&site));
    let page = |site: &Site| {
        let page = &site.exchanges()[0];
        assert_eq!(page.response_header("content-encoding"), Some("gzip"));
        let mut text = String::new();
        let mut decoder = MultiGzDecoder::new(&page.body[..]);
        decoder.read_to_string(&mut text).unwrap();
        text
    };
    assert!(page(&site).contains("https://"));
    let hosts = site.origins().iter().map(|each| &each.host);
    for host in hosts {
        assert!(!page(&plain).contains(&format!("https://{host}")));
    }
}
