//! Hostile files are refused with file, record, offset and reason, in bounded memory.

use std::io::{Cursor, Write};

use crate::support::{gzip, open, page, record, response};
use bytes::Bytes;
use eyelevel_archive::limits::RECORDS_MAX;
use eyelevel_archive::{Damage, Error, Format, Site, import_content};
use zip::write::SimpleFileOptions;

const A: &str = "https://a.test/";

fn damage(result: Result<Site, Error>) -> (u64, u64, Damage) {
    match result {
        Err(Error::Damaged {
            file,
            record,
            offset,
            reason,
        }) => {
            assert_eq!(file, "test.warc");
            (record, offset, reason)
        }
        other => panic!("{other:?}"),
    }
}

fn wacz(entries: &[(&str, &[u8])]) -> Result<Site, Error> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in entries {
        let deflated = stored.compression_method(zip::CompressionMethod::Deflated);
        zip.start_file(
            *name,
            if name.ends_with("bomb.warc") {
                deflated
            } else {
                stored
            },
        )
        .unwrap();
        zip.write_all(content).unwrap();
    }
    Site::from_bytes("test.wacz", Bytes::from(zip.finish().unwrap().into_inner()))
}

#[test]
fn damage_is_placed() {
    let first = page("1", A);
    let cut = page("2", A);
    let (record, offset, reason) = damage(open(&[first.clone(), cut[..cut.len() - 5].to_vec()]));
    assert_eq!((record, offset), (1, first.len() as u64));
    assert!(matches!(reason, Damage::Truncated { .. }), "{reason}");

    let first = gzip(&first);
    let cut = gzip(&cut);
    let (record, offset, reason) = damage(open(&[first.clone(), cut[..cut.len() - 5].to_vec()]));
    assert_eq!((record, offset), (1, first.len() as u64));
    assert!(matches!(reason, Damage::Gzip(_)), "{reason}");
}

#[test]
fn plain_files_are_checked_by_their_digests() {
    let message = "HTTP/1.1 200 OK\r\n\r\nabc";
    let right = "WARC-Payload-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5";
    assert!(open(&[response("1", A, &[right], message)]).is_ok());
    let (_, _, reason) = damage(open(&[response(
        "1",
        A,
        &[right],
        &message.replace('b', "B"),
    )]));
    assert!(
        matches!(
            reason,
            Damage::Digest {
                what: "payload",
                ..
            }
        ),
        "{reason}"
    );

    let file = gzip(&response("1", A, &[right], &message.replace('b', "B")));
    let site = open(&[file]).unwrap();
    let error = site.verify().unwrap_err().to_string();
    assert!(
        error.contains("record 0, byte 0: its payload digest is sha1:"),
        "{error}"
    );
}

#[test]
fn bombs_are_stopped_by_the_size_of_their_file() {
    let bomb = gzip(&vec![0; 300 << 20]);
    let (_, _, reason) = damage(open(&[bomb]));
    assert!(matches!(reason, Damage::InflatesTooFar { bytes_max } if bytes_max < 110 << 20));
    let package = ("datapackage.json", &b"{\"resources\": []}"[..]);
    let error = wacz(&[package, ("archive/bomb.warc", &vec![0; 300 << 20])]).unwrap_err();
    assert!(
        error.to_string().contains("inflates beyond the bound"),
        "{error}"
    );
}

#[test]
fn bombs_of_other_formats_are_stopped_by_the_size_of_their_file() {
    let bomb = gzip(&vec![b' '; 300 << 20]);
    let bytes_max = (80 << 20) + 64 * bomb.len();
    let error = import_content(Format::WebPageReplay, bomb.into()).unwrap_err();
    let expected = format!("inflates beyond {bytes_max} bytes");
    assert!(error.to_string().contains(&expected), "{error}");
}

#[test]
fn endless_heads_are_refused() {
    let mut endless = b"WARC/1.1\r\nWARC-Type: ".to_vec();
    endless.resize(10 << 20, b'a');
    assert!(matches!(
        damage(open(&[endless])).2,
        Damage::HeadTooLong { .. }
    ));
    let folded = format!(
        "HTTP/1.1 200 OK\r\nA: b\r\n{}\r\n",
        " c\r\n".repeat(100_000)
    );
    let error = open(&[response("1", A, &[], &folded)]).unwrap_err();
    let expected = "no recorded HTTP response (left out: https://a.test/: its header has more than";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn containers_that_lie_are_refused() {
    let package = (
        "datapackage.json",
        &b"{\"resources\": [{\"path\": \"archive/x.warc\"}]}"[..],
    );
    let warc = page("1", A);
    let sound = [package, ("archive/x.warc", &warc[..])];
    assert_eq!(wacz(&sound).unwrap().exchanges().len(), 1);
    for (entries, expected) in [
        (vec![sound[1]], "which has a datapackage.json; unzip it"),
        (vec![package], "datapackage.json lists it"),
        (
            vec![sound[0], sound[1], ("archive/../../x.warc", &warc)],
            "archive/../../x.warc, byte ",
        ),
        (
            vec![sound[0], sound[1], ("/x.warc", &warc)],
            "leads out of the archive",
        ),
        (
            vec![("datapackage.json", &b"{"[..]), sound[1]],
            "datapackage.json, byte 0: EOF",
        ),
    ] {
        let error = wacz(&entries).unwrap_err().to_string();
        assert!(error.contains(expected), "{error} lacks {expected}");
    }
}

/// Returns the bytes of a zip file.
fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in entries {
        zip.start_file(*name, stored).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn containers_of_containers_are_read_and_checked_alike() {
    let package = (
        "datapackage.json",
        &br#"{"resources": null, "mainPageUrl": 5}"#[..],
    );
    let warcs = [page("1", A), page("2", "https://b.test/")];
    let inner = warcs
        .each_ref()
        .map(|warc| zip(&[package, ("archive/x.warc", warc)]));
    let outer = [
        package,
        ("crawl-0.wacz", &inner[0]),
        ("crawls/crawl-1.wacz", &inner[1]),
    ];
    let site = wacz(&outer).unwrap();
    let urls: Vec<String> = site
        .exchanges()
        .iter()
        .map(|each| each.url.to_string())
        .collect();
    assert_eq!(urls, [A, "https://b.test/"]);
    // Damage in a nested container refuses the file, at any depth.
    let mut damaged = inner[1].clone();
    let at = damaged
        .windows(3)
        .position(|bytes| bytes == b"<p>")
        .unwrap();
    damaged[at] ^= 1;
    let broken = [outer[0], outer[1], ("crawl-1.wacz", &damaged)];
    let expected = "crawl-1.wacz is not a sound WACZ at archive/x.warc";
    let error = wacz(&broken).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
    let error = wacz(&[package, ("all.wacz", &zip(&broken))]).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
    let mut deep = zip(&outer);
    for level in 2..6 {
        let entries = [package, ("ALL.WACZ", &deep[..])];
        match wacz(&entries) {
            Ok(site) => assert_eq!((site.exchanges().len(), level < 5), (2, true)),
            Err(error) => {
                assert_eq!(level, 5, "{error}");
                let expected = "WACZ files in WACZ files are read 4 levels deep";
                assert!(error.to_string().contains(expected), "{error}");
            }
        }
        deep = zip(&entries);
    }
}

#[test]
fn names_are_read_in_any_case() {
    let package = ("datapackage.json", &b"{}"[..]);
    let warc = gzip(&page("1", A));
    let inner = zip(&[package, ("Archive/a.WARC.GZ", &warc)]);
    let site = wacz(&[package, ("1.WACZ", &inner)]).unwrap();
    assert_eq!(site.main_url().to_string(), A);
}

#[test]
fn members_of_a_package_that_are_of_another_kind_are_passed_over() {
    let warc = page("1", A);
    for (resources, is_sound) in [
        (r#"[{"name": "x"}, 5, null, [], {"path": 5}]"#, true),
        (r#"{"path": "x"}"#, true),
        (
            r#"[{"path": "archive/x.warc", "bytes": "12", "hash": 5}]"#,
            false,
        ),
        (
            r#"[{"path": "archive/x.warc", "bytes": [], "hash": 5}]"#,
            true,
        ),
        (r#"[{"path": "archive/x.warc", "bytes": "SIZE"}]"#, true),
        (
            r#"[{"path": "archive/x.warc", "bytes": SIZE, "hash": "sha256:00"}]"#,
            false,
        ),
    ] {
        let resources = resources.replace("SIZE", &warc.len().to_string());
        let json = format!(r#"{{"resources": {resources}}}"#);
        let package = ("datapackage.json", json.as_bytes());
        let site = wacz(&[package, ("archive/x.warc", &warc)]).unwrap();
        assert_eq!(site.exchanges().len(), 1, "{json}");
        let verified = site.verify();
        assert_eq!(verified.is_ok(), is_sound, "{json}: {verified:?}");
    }
    let package = (
        "datapackage.json",
        &br#"{"resources": [{"path": "missing"}, 5]}"#[..],
    );
    let error = wacz(&[package, ("archive/x.warc", &warc)]).unwrap_err();
    assert!(
        error.to_string().contains("lists it, but it lacks"),
        "{error}"
    );
}

#[test]
fn a_package_is_read_as_writers_have_it() {
    let warc = page("1", A);
    for json in [
        "\u{feff}{}",
        r#"{"mainPageURL": "https://b.test/", "mainPageUrl": "https://a.test/"}"#,
        r#"{"eyelevel": null, "mainPageUrl": "https://b.test/", "mainPageUrl": 5}"#,
        r#"{"resources": [{"path": "./archive/x.warc"}]}"#,
    ] {
        let package = ("datapackage.json", json.as_bytes());
        let site = wacz(&[package, ("archive/x.warc", &warc)]).unwrap();
        assert_eq!(site.main_url().to_string(), A, "{json}");
    }
}

#[test]
fn archives_that_are_not_read_are_noted_and_what_macos_adds_is_not() {
    let package = ("datapackage.json", &b"{}"[..]);
    let warc = page("1", A);
    let (other, stub) = ("archive/b.warc.zst", &b"\0\x05\x16\x07"[..]);
    let site = wacz(&[
        package,
        ("archive/x.warc", &warc),
        ("archive/._x.warc", stub),
        ("__MACOSX/._x.wacz", stub),
        ("archive/.DS_Store", stub),
        (other, b"x"),
    ]);
    let site = site.unwrap();
    let sentence =
        "archive/b.warc.zst: only .warc and .warc.gz are read; recompress it with `gzip`";
    assert_eq!(site.provenance().left_out, [sentence]);
    let error = wacz(&[package, (other, b"x")]).unwrap_err().to_string();
    assert!(error.contains(sentence), "{error}");
}

#[test]
fn a_har_in_a_zip_file_is_named() {
    for (entries, expected) in [
        (
            &[("har.har", &b"{}"[..]), ("abc.js", b"x")][..],
            "(content: \"embed\")",
        ),
        (&[("a/x.HAR", b"{}")], "unzip it and import the .har file"),
        (
            &[("x.har", b"{}"), ("a.warc", b"")],
            "import its WARC files",
        ),
    ] {
        let error = wacz(entries).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        let is_of_playwright = error.contains("as Playwright writes it");
        assert_eq!(is_of_playwright, expected.contains("embed"), "{error}");
    }
}

#[test]
fn entries_that_share_bytes_are_refused() {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    zip.start_file("datapackage.json", stored).unwrap();
    zip.write_all(b"{}").unwrap();
    zip.start_file("archive/0.warc", stored).unwrap();
    zip.write_all(&page("1", A)).unwrap();
    for number in 1..3 {
        let name = format!("archive/{number}.warc");
        zip.shallow_copy_file("archive/0.warc", &name).unwrap();
    }
    let file = Bytes::from(zip.finish().unwrap().into_inner());
    let error = Site::from_bytes("test.wacz", file).unwrap_err().to_string();
    assert!(error.contains("entries overlap"), "{error}");
}

#[test]
fn records_are_counted_over_all_files_of_a_container() {
    let package = ("datapackage.json", &b"{}"[..]);
    let (warc, half) = (page("1", A), RECORDS_MAX / 2);
    let many = record("warcinfo", "0", &[], b"").repeat(half as usize);
    let all = [
        package,
        ("archive/0.warc", &many),
        ("archive/1.warc", &many),
    ];
    let error = wacz(&[&all[..], &[("archive/2.warc", &warc)]].concat()).unwrap_err();
    let expected = format!(
        "archive/2.warc is damaged at record 0, byte 0: the file has more than {RECORDS_MAX} records"
    );
    assert!(error.to_string().contains(&expected), "{error}");
}

#[test]
fn names_that_go_on_and_resources_listed_twice_are_refused() {
    let warc = page("1", A);
    let long = "a".repeat(2_000);
    let package = ("datapackage.json", &b"{}"[..]);
    let error = wacz(&[package, ("archive/x.warc", &warc), (&long, b"")]).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("its name has more than 1024 bytes"),
        "{error}"
    );
    assert!(!error.contains(&long), "{error}");
    let listed = "{\"path\": \"archive/x.warc\"}";
    let twice = format!("{{\"resources\": [{listed}, {listed}]}}");
    let package = ("datapackage.json", twice.as_bytes());
    let error = wacz(&[package, ("archive/x.warc", &warc)]).unwrap_err();
    assert!(error.to_string().contains("lists it twice"), "{error}");
}

#[test]
fn files_with_nothing_to_replay_are_refused() {
    let empty = open(&[record("warcinfo", "1", &[], b"")]);
    assert!(
        matches!(empty, Err(Error::Empty { records: 1, .. })),
        "{empty:?}"
    );
    for content in [&b""[..], b"<html>", b"\x7fELF"] {
        let site = Site::from_bytes("x", Bytes::from_static(content));
        assert!(matches!(site, Err(Error::Unrecognised { .. })), "{site:?}");
    }
    let arc = b"filedesc://IA-2001.arc 0.0.0.0 20010202030405 text/plain 76\n1 0 InternetArchive\n";
    for content in [arc.to_vec(), gzip(arc)] {
        let error = Site::from_bytes("old.arc.gz", Bytes::from(content)).unwrap_err();
        assert!(error.to_string().contains("warcio recompress"), "{error}");
    }
    let missing = Site::open("/nonexistent/site.wacz")
        .unwrap_err()
        .to_string();
    assert!(
        missing.starts_with("cannot open /nonexistent/site.wacz: "),
        "{missing}"
    );
}
