//! A recorded https site as its cleartext twin.

use std::path::Path;

use eyelevel_archive::{Scheme, Site};

#[test]
fn every_origin_and_link_is_moved_and_every_exchange_is_kept() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/dashboard.wacz");
    let site = Site::open(corpus).unwrap();
    let plain = site.in_cleartext();
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
        let text = site.exchanges()[0].response_header("content-encoding");
        assert!(text.is_none(), "the page is stored as it is read");
        String::from_utf8(site.exchanges()[0].body.to_vec()).unwrap()
    };
    assert!(page(&site).contains("https://"));
    let hosts = site.origins().iter().map(|each| &each.host);
    for host in hosts {
        assert!(!page(&plain).contains(&format!("https://{host}")));
    }
}
