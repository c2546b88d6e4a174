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
