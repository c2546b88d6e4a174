//! Content codings are decoded wherever bodies are inspected, within bounds, and otherwise kept as
//! recorded.

use std::io::Write;
use std::path::PathBuf;

use crate::support::{gzip, open, record};
use eyelevel_archive::{
    Exchange, Imported, Site, export_answers, export_files, export_har, import, secure, write_wacz,
};

/// Four lines of links, compressed by the reference encoders of both codings.
const BROTLI: &str = "1b1301002c0aecb6603f122c8d436f75175d19e6e3023760f3865b83bc90d1698532b739052202\
                      cd38f7bf2e95329dc88c0742838db1ed578856f3a47d773914e45edbe59a21c40dea169303";
const ZSTD: &str = "28b52ffd040045020002030b10b03d709a20ce99d214047bb29db77202694c298400b58a20f75dae\
                    b6a9c2d047be58d5f3fe0e8931ec5c140a2030c38d032142189c02393c191081a87ac5facab4d4b5\
                    31af327c5d";

fn unhex(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

fn links() -> String {
    let line =
        |n| format!("<a href=\"http://a.test/{n}\">http://a.test/{n} and http://other.test/</a>\n");
    (0..4).map(line).collect()
}

/// Returns a page over http whose body is `body` in the coding `coding`.
fn page(coding: &str, body: &[u8]) -> Site {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {coding}\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    let fields = [
        "WARC-Target-URI: http://a.test/",
        "Content-Type: application/http; msgtype=response",
    ];
    let block = [head.as_bytes(), body].concat();
    open(&[record("response", "1", &fields, &block)]).unwrap()
}

/// Exports the site as a HAR; returns its import and the HAR's comment on the body.
fn export_to_har(site: &Site) -> (Imported, String) {
    let har = temporary("har");
    export_har(site, &har).unwrap();
    let text = std::fs::read_to_string(&har).unwrap();
    let imported = import(std::slice::from_ref(&har)).unwrap();
    std::fs::remove_file(har).unwrap();
    (imported, text)
}

fn write_and_open(imported: &Imported) -> Site {
    let file = temporary("wacz");
    let page = "http://a.test/".parse().unwrap();
    let metadata = imported.metadata(Some(page), "a").unwrap();
    write_wacz(&file, &imported.exchanges, &metadata).unwrap();
    let site = Site::open(&file).unwrap();
    std::fs::remove_file(file).unwrap();
    site
}

fn export_to_file(site: &Site) -> Vec<u8> {
    let folder = temporary("files");
    export_files(site, &folder).unwrap();
    let body = std::fs::read(folder.join("a.test/index.html")).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    body
}

fn temporary(name: &str) -> PathBuf {
    static NUMBER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("codings-{}-{number}-{name}", std::process::id());
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn secure_exchange(site: &Site) -> (Exchange, Vec<String>) {
    let mut imported = Imported {
        exchanges: site.exchanges().to_vec(),
        ..Imported::default()
    };
    secure(&mut imported);
    (imported.exchanges.remove(0), imported.provenance.altered)
}

/// Returns the body of `exchange` as the export decodes it.
fn decode(exchange: &Exchange) -> String {
    let coding = exchange.response_header("content-encoding").unwrap_or("");
    String::from_utf8(export_to_file(&page(coding, &exchange.body))).unwrap()
}

#[test]
fn real_bodies_are_decoded_rewritten_and_otherwise_kept() {
    let zlib = |text: &str| {
        let mut coder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        coder.write_all(text.as_bytes()).unwrap();
        coder.finish().unwrap()
    };
    let deflate = |text: &str| zlib(text)[2..].to_vec();
    let frames = [unhex(ZSTD), unhex("502a4d1803000000010203"), unhex(ZSTD)].concat();
    let once = links();
    for (coding, body, text, coded_as) in [
        ("br", unhex(BROTLI), once.clone(), "br"),
        ("BR", unhex(BROTLI), once.clone(), "br"),
        ("zstd", unhex(ZSTD), once.clone(), "gzip"),
        ("zstd", frames, once.repeat(2), "gzip"),
        ("gzip", gzip(once.as_bytes()), once.clone(), "gzip"),
        ("deflate", zlib(&once), once.clone(), "gzip"),
        ("deflate", deflate(&once), once.clone(), "gzip"),
        ("br, gzip", gzip(&unhex(BROTLI)), once.clone(), "gzip"),
        (
            "br\r\nContent-Encoding: gzip",
            gzip(&unhex(BROTLI)),
            once.clone(),
            "gzip",
        ),
        (
            "gzip\r\ncontent-encoding: gzip",
            gzip(&gzip(once.as_bytes())),
            once.clone(),
            "gzip",
        ),
        (
            "gzip",
            [gzip(once.as_bytes()), gzip(b"a"), b"junk".to_vec()].concat(),
            once.clone() + "a",
            "gzip",
        ),
    ] {
        let site = page(coding, &body);
        assert_eq!(site.exchanges()[0].body, body, "{coding}: replayed as sent");
        assert_eq!(export_to_file(&site), text.as_bytes(), "{coding}");
        let (imported, har) = export_to_har(&site);
        assert!(har.contains(r#""comment":"""#), "{coding}");
        assert_eq!(decode(&imported.exchanges[0]), text, "{coding}");
        let (moved, altered) = secure_exchange(&site);
        assert_eq!(moved.response_header("content-encoding"), Some(coded_as));
        let expected = text.replace("http://a.test", "https://a.test");
        assert_eq!(decode(&moved), expected, "{coding}");
        assert!(!altered[0].contains("not searched"), "{altered:?}");
        assert_eq!(altered.len(), 1, "{altered:?}");
    }
}

#[test]
fn bodies_in_another_coding_are_left_and_noted() {
    let mut checksum = unhex(ZSTD);
    *checksum.last_mut().unwrap() ^= 1;
    for (coding, body) in [
        ("br", unhex(BROTLI)[..60].to_vec()),
        // A large window of 2^30 bytes (the pattern that RFC 7932 reserves).
        ("br", unhex("111e8b0100000003")),
        ("zstd", unhex(ZSTD)[..60].to_vec()),
        ("zstd", checksum),
        // A window of 16 MiB, where browsers accept 8 (RFC 9659).
        ("zstd", unhex("28b52ffd007009000061")),
        ("compress", b"\x1f\x9d\x90".to_vec()),
    ] {
        let site = page(coding, &body);
        assert_eq!(export_to_file(&site), body, "{coding}");
        let (imported, har) = export_to_har(&site);
        assert!(har.contains("as sent, content coding kept"), "{coding}");
        assert_eq!(imported.exchanges[0].body, body, "{coding}");
        let (moved, altered) = secure_exchange(&site);
        assert_eq!(moved.body, body, "{coding}");
        assert!(altered[1].contains("not searched"), "{altered:?}");
    }
}

#[test]
fn bombs_are_not_inflated() {
    let zeros = vec![0; 1 << 20];
    let mut brotli_bomb = Vec::new();
    let mut coder = brotli::CompressorWriter::new(&mut brotli_bomb, 4096, 2, 22);
    (0..128).for_each(|_| coder.write_all(&zeros).unwrap());
    drop(coder);
    // A thousand blocks that repeat one byte 128 Ki times (RFC 8878, section 3.1.1.2.2).
    let repeated = |is_last: u32| ((128 << 10) << 3 | 1 << 1 | is_last).to_le_bytes();
    let mut zstd_bomb = unhex("28b52ffd0050");
    for number in 0..1000 {
        zstd_bomb.extend(&repeated(u32::from(number == 999))[..3]);
        zstd_bomb.push(0);
    }
    for (coding, bomb) in [("br", brotli_bomb), ("zstd", zstd_bomb)] {
        assert!(bomb.len() < 5000);
        let site = page(coding, &bomb);
        assert_eq!(export_to_file(&site), bomb, "{coding}");
        assert!(export_to_har(&site).1.len() < 20_000, "{coding}");
        let (moved, altered) = secure_exchange(&site);
        assert_eq!(moved.body, bomb, "{coding}");
        assert!(altered[1].contains("too large"), "{altered:?}");
    }
}

#[test]
fn many_bodies_share_one_bound() {
    // Each is within what a site of this size may inflate to, but not all of them together.
    let mut body = Vec::new();
    let mut coder = brotli::CompressorWriter::new(&mut body, 4096, 2, 22);
    coder.write_all(&vec![b'a'; 30 << 20]).unwrap();
    drop(coder);
    let records: Vec<_> = (0..4)
        .map(|number| {
            let target = format!("WARC-Target-URI: http://a.test/{number}");
            let kind = "Content-Type: application/http; msgtype=response";
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n";
            let block = [head.as_bytes(), &body].concat();
            record("response", &number.to_string(), &[&target, kind], &block)
        })
        .collect();
    let folder = temporary("shared");
    export_files(&open(&records).unwrap(), &folder).unwrap();
    let files = std::fs::read_dir(folder.join("a.test")).unwrap();
    let sizes = files.map(|file| file.unwrap().metadata().unwrap().len());
    let (large, small): (Vec<u64>, Vec<u64>) = sizes.partition(|size| *size == 30 << 20);
    assert_eq!((large.len(), small), (2, vec![body.len() as u64; 2]));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn another_server_gets_what_was_recorded() {
    let body = gzip(b"<p>".repeat(99).as_slice());
    let answers = [
        (
            "a?x=1",
            "200 OK\r\nContent-Encoding: gzip\r\nServer: x\r\nX-A: 1\t2",
            &body[..],
        ),
        ("gone", "404 Not Found\r\nContent-Type: text/plain", b"none"),
        ("part", "206 Partial Content", b"p"),
        ("gone", "200 OK", b"came back"),
        ("empty", "200 OK", b""),
    ];
    let records: Vec<_> = answers
        .iter()
        .enumerate()
        .map(|(number, (path, head, body))| {
            let target = format!("WARC-Target-URI: https://a.test/{path}");
            let kind = "Content-Type: application/http; msgtype=response";
            let head = format!("HTTP/1.1 {head}\r\n\r\n");
            let block = [head.as_bytes(), body].concat();
            record("response", &number.to_string(), &[&target, kind], &block)
        })
        .collect();
    let folder = temporary("answers");
    export_answers(&open(&records).unwrap(), &folder).unwrap();
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let table = String::from_utf8(read("answers.tsv")).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    let (size, coded) = (body.len().to_string(), rows[0][2]);
    assert_eq!(rows[0], ["a.test", "/a?x=1", coded, "", "200", &size]);
    assert_eq!(
        rows[1],
        ["a.test", "/gone", "a.test/gone", "text/plain", "404", "4"]
    );
    assert_eq!(
        rows[2],
        ["a.test", "/empty", "a.test/empty", "", "200", "0"]
    );
    assert_eq!(rows.len(), 3);
    assert_eq!(read(&format!("files/{coded}")), body);
    assert_eq!(read("files/a.test/gone"), b"none");
    assert_eq!(read("files/a.test/empty"), b"");
    let fields = String::from_utf8(read("fields.tsv")).unwrap();
    let kept = format!(
        "{coded}\tContent-Encoding\tgzip\n{coded}\tX-A\t1 2\na.test/gone\tContent-Type\ttext/plain\n"
    );
    assert_eq!(fields, kept);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn request_bodies_survive_a_har() {
    let all: Vec<u8> = (0..=255).collect();
    for body in [&all[..], b"a=1&b=%FF", "ü".as_bytes(), b"\xef\xbb\xbf", b""] {
        let site = page("identity", b"<p>");
        let mut imported = export_to_har(&site).0;
        imported.exchanges[0].method = "POST".to_owned();
        imported.exchanges[0].request_body = body.to_vec().into();
        let posted = write_and_open(&imported);
        assert_eq!(posted.exchanges()[0].request_body, body);
        assert_eq!(export_to_har(&posted).0.exchanges[0].request_body, body);
    }
}
