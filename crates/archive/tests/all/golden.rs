//! The golden archive of `vectors/golden`, which `scripts/golden.py` creates.

use std::path::PathBuf;

use eyelevel_archive::Site;

#[test]
fn the_golden_archive_reads_as_it_was_packed() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/golden/small.wacz");
    let site = Site::open(file).unwrap();
    assert_eq!((site.name(), site.notes()), ("small", &[][..]));
    assert_eq!(site.main_url().to_string(), "https://small.example/");
    let seen: Vec<_> = site
        .exchanges()
        .iter()
        .map(|each| (each.url.to_string(), each.status, each.body.len()))
        .collect();
    let expected = [("", PAGE), ("style.css", STYLE), ("picture.png", PICTURE)];
    let expected: Vec<_> = expected
        .map(|(path, bytes)| (format!("https://small.example/{path}"), 200, bytes))
        .into();
    assert_eq!(seen, expected);
}

/// The sizes of the bodies, bytes.
const PAGE: usize = 160;
const STYLE: usize = 50;
const PICTURE: usize = 342;
