//! The four real recordings of the data folder, read whole; skipped where they are absent.

use std::collections::BTreeSet;
use std::path::PathBuf;

use eyelevel_archive::Site;

fn recording(name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/sites/warc");
    let path = folder.join(name);
    if !path.exists() {
        println!("skipped: ../shared/data/sites/warc/{name} is absent");
        return None;
    }
    Some(path)
}

#[test]
fn real_recordings_open_with_their_origins() {
    for (name, exchanges, origins, main_url) in [
        ("wikipedia-2018", 6, 1, "https://www.wikipedia.org/"),
        ("baidu-2018", 15, 2, "https://www.baidu.com/"),
        ("youtube-2018", 62, 8, "https://www.youtube.com/"),
        ("reddit-2018", 69, 19, "https://www.reddit.com/"),
    ] {
        let Some(path) = recording(&format!("{name}.warc.gz")) else {
            continue;
        };
        let site = Site::open(&path).unwrap();
        assert_eq!(site.name(), name);
        assert_eq!(site.exchanges().len(), exchanges, "{name}");
        let hosts: BTreeSet<_> = site.origins().iter().map(|origin| &origin.host).collect();
        assert_eq!(hosts.len(), origins, "{name}: {hosts:?}");
        assert_eq!(site.main_url().to_string(), main_url);
        assert_eq!(site.notes(), [], "{name}");
        for exchange in site.exchanges() {
            assert!(
                !exchange.request_headers.is_empty(),
                "{} has no request",
                exchange.url
            );
        }
    }
}

#[test]
fn shipped_sites_are_sound_and_have_their_licences() {
    let corpus = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    for (name, objects, origins, main_url) in [
        ("agency", 36, 6, "https://agency.example/"),
        ("creative", 27, 5, "https://creative.example/"),
        (
            "dashboard",
            29,
            3,
            "https://dashboard.example/pages/notifications.html",
        ),
    ] {
        let site = Site::open(corpus.join(format!("{name}.wacz"))).unwrap();
        assert_eq!(site.main_url().to_string(), main_url);
        assert_eq!(site.notes(), []);
        let verification = site.verify().unwrap();
        assert_eq!(verification.resource_digests, 3);
        let info = site.info();
        assert_eq!((info.objects, info.origins.len()), (objects, origins));
        assert_eq!(info.server_addresses, origins);
        assert!(info.origins.iter().all(|origin| origin.address_recorded));
        let licences = std::fs::read_to_string(corpus.join(format!("{name}.LICENSES.md"))).unwrap();
        assert!(licences.contains("MIT"), "{name}");
    }
}
