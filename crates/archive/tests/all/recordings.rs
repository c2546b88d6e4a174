//! The four real recordings of the data folder are readable; skipped if absent.

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

/// The licences of the packages in the shipped sites; all allow redistribution.
const LICENCES: [&str; 4] = [
    "MIT",
    "Apache-2.0",
    "OFL-1.1",
    "CC-BY-4.0 AND OFL-1.1 AND MIT",
];

#[test]
fn shipped_sites_are_sound_and_have_their_licences() {
    let corpus =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../python/eyelevel/sites/shipped");
    let files = std::fs::read_dir(&corpus)
        .unwrap()
        .map(|each| each.unwrap().path());
    let mut sites: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|kind| kind == "wacz"))
        .collect();
    sites.sort();
    assert!(sites.len() >= 12, "{sites:?}");
    for path in sites {
        let site = Site::open(&path).unwrap();
        assert_eq!(site.notes(), [], "{}", path.display());
        assert_eq!(site.verify().unwrap().resource_digests, 3);
        let info = site.info();
        assert_eq!(info.provenance.source.as_deref(), Some("record"));
        assert!(info.provenance.altered.is_empty());
        assert!(info.origins.iter().all(|origin| origin.address_recorded));
        let beside = std::fs::read(path.with_extension("info.json")).unwrap();
        let said: serde_json::Value = serde_json::from_slice(&beside).unwrap();
        assert_eq!(said, serde_json::to_value(&info).unwrap());
        let licences = std::fs::read_to_string(path.with_extension("LICENSES.md")).unwrap();
        let packages: Vec<&str> = licences
            .lines()
            .filter(|line| line.starts_with("## "))
            .collect();
        assert!(!packages.is_empty(), "{}", path.display());
        for package in packages {
            let licence = package.rsplit(": ").next().unwrap_or_default();
            assert!(LICENCES.contains(&licence), "{}: {package}", path.display());
        }
    }
}
