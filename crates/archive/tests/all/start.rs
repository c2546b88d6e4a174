//! The start page of recordings whose file does not name it.

use std::io::{Cursor, Write};

use bytes::Bytes;
use eyelevel_archive::{Provenance, Site, SiteMetadata, write_wacz};
use zip::write::SimpleFileOptions;

use crate::support::{open, page, request, response};

/// Returns the records of an exchange of `url` with this content type and these request fields.
fn exchange(id: &str, url: &str, content_type: &str, fields: &str) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n");
    let concurrent = format!("WARC-Concurrent-To: <urn:test:{id}>");
    let message = format!("GET / HTTP/1.1\r\n{fields}\r\n");
    [
        response(id, url, &[], &head),
        request(&format!("{id}-request"), url, &[&concurrent], &message),
    ]
    .concat()
}

fn referer_field(url: &str) -> String {
    format!("Referer: {url}\r\n")
}

fn find_start(records: &[Vec<u8>]) -> String {
    open(records).unwrap().main_url().to_string()
}

/// Returns the start page of a WACZ with the pages `/a` and `/b`, these lines of pages, and these
/// members of its description.
fn find_named(pages: &str, members: &str) -> String {
    let records = ["a", "b"].map(|name| page(name, &format!("https://a.test/{name}")));
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in [
        ("archive/data.warc", &records.concat()[..]),
        ("pages/pages.jsonl", pages.as_bytes()),
        ("datapackage.json", format!("{{{members}}}").as_bytes()),
    ] {
        zip.start_file(name, stored).unwrap();
        zip.write_all(content).unwrap();
    }
    let file = Bytes::from(zip.finish().unwrap().into_inner());
    let site = Site::from_bytes("test.wacz", file).unwrap();
    site.main_url().path_and_query.clone()
}

#[test]
fn the_page_is_the_first_named_one_that_was_recorded() {
    let head = r#"{"format":"json-pages-1.0","id":"pages"}"#;
    let line = |name: &str, more: &str| format!(r#"{{"url":"https://a.test/{name}"{more}}}"#);
    let [a, b, lost] = ["a", "b", "lost"].map(|name| line(name, ""));
    let seed = line("b", r#","seed":true"#);
    let lost_seed = line("lost", r#","seed":true"#);
    for (lines, page) in [
        (vec![head, &b], "/b"),
        (vec![head, &lost, &b, &a], "/b"),
        (vec![head, "broken", r#"{"url":null}"#, &b], "/b"),
        (vec![head, &a, &seed], "/b"),
        (vec![head, &b, &lost_seed, &a], "/b"),
        (vec![head, &lost], "/a"),
        (vec![head], "/a"),
        (vec![&b], "/b"),
    ] {
        for mark in ["", "\u{feff}"] {
            for end in ["\n", "\r\n"] {
                let pages = format!("{mark}{}{end}", lines.join(end));
                assert_eq!(find_named(&pages, ""), page, "{pages:?}");
            }
        }
    }
    let main = |name: &str| format!(r#""mainPageUrl":"https://a.test/{name}""#);
    assert_eq!(find_named(&a, &main("b")), "/b");
    assert_eq!(find_named(&b, &main("lost")), "/b");
}

/// Returns a page whose images name it in `Referer`, with a beacon that names nothing and answers
/// HTML.
fn page_and_beacon(page_url: &str, beacon_url: &str) -> Vec<Vec<u8>> {
    let html = "text/html; charset=utf-8";
    let mut records = vec![
        // The page was reached from a search engine or a link that is not in the recording.
        exchange(
            "page",
            page_url,
            html,
            &referer_field("http://search.test/?q=a"),
        ),
        exchange("beacon", beacon_url, html, ""),
    ];
    for number in 0..30 {
        let url = format!("{page_url}image-{number}.png");
        records.push(exchange(
            &format!("image-{number}"),
            &url,
            "image/png",
            &referer_field(page_url),
        ));
    }
    records
}

#[test]
fn a_beacon_that_answers_html_is_not_a_page() {
    for (page_url, beacon_url) in [
        (
            "https://www.portal.test/",
            "https://s.portal.test/qdas/s.htm?p=a",
        ),
        ("http://www.news.test/", "http://i.go.news.test/count/v?a=b"),
    ] {
        let mut records = page_and_beacon(page_url, beacon_url);
        assert_eq!(find_start(&records), page_url);
        records.reverse(); // a folder's files have no order
        assert_eq!(find_start(&records), page_url);
    }
}

#[test]
fn indirect_requests_count_for_the_page() {
    let (sheet, script) = ("https://c.test/a.css", "https://c.test/a.js");
    let mut records = vec![
        // If only objects that name it themselves counted, the frame would be the page.
        exchange(
            "frame",
            "https://f.test/",
            "text/html",
            &referer_field("https://a.test/"),
        ),
        exchange(
            "sheet",
            sheet,
            "text/css",
            &referer_field("https://a.test/"),
        ),
        exchange("script", script, "text/javascript", &referer_field(sheet)),
        exchange(
            "page",
            "https://a.test/",
            "text/html",
            &referer_field("https://b.test/"),
        ),
    ];
    for number in 0..3 {
        let by = ["https://f.test/", script, sheet][number % 3];
        let url = format!("https://a.test/{number}.png");
        records.push(exchange(
            &format!("i{number}"),
            &url,
            "image/png",
            &referer_field(by),
        ));
        let url = format!("https://f.test/{number}.png");
        records.push(exchange(
            &format!("f{number}"),
            &url,
            "image/png",
            &referer_field("https://f.test/"),
        ));
    }
    assert_eq!(find_start(&records), "https://a.test/");
}

#[test]
fn redirected_requests_count_for_the_first_page() {
    let moved = |to: &str| format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\n\r\n");
    let mut records = vec![
        page("beacon", "https://beacon.test/"),
        response("1", "http://a.test/", &[], &moved("https://a.test/")),
        response("2", "https://a.test/", &[], &moved("/home")),
        page("page", "https://a.test/home"),
    ];
    let image = "https://a.test/1.png";
    records.push(exchange(
        "3",
        image,
        "image/png",
        &referer_field("https://a.test/home"),
    ));
    assert_eq!(find_start(&records), "http://a.test/");
    // The page's own beacon that is redirected to it is not its start.
    let by_page = "WARC-Concurrent-To: <urn:test:4>";
    let message = "GET / HTTP/1.1\r\nReferer: https://a.test/home\r\n\r\n";
    let back = moved("http://a.test/");
    records.push(response("4", "https://count.test/", &[], &back));
    records.push(request("5", "https://count.test/", &[by_page], message));
    assert_eq!(find_start(&records), "http://a.test/");
}

#[test]
fn a_referer_of_an_origin_alone_stands_for_its_page() {
    // What browsers send to other origins since 2020.
    let mut records = vec![
        page("beacon", "https://beacon.test/"),
        page("page", "https://a.test/news?id=1"),
    ];
    records.push(exchange(
        "1",
        "https://b.test/1.png",
        "image/png",
        &referer_field("https://a.test/"),
    ));
    assert_eq!(find_start(&records), "https://a.test/news?id=1");
}

#[test]
fn a_frame_is_not_a_page() {
    let as_document = "Sec-Fetch-Dest: document\r\n";
    let as_frame = "Sec-Fetch-Dest: iframe\r\n";
    let mut records = vec![
        exchange("frame", "https://f.test/", "text/html", as_frame),
        exchange("page", "https://a.test/", "text/html", as_document),
    ];
    for number in 0..3 {
        let url = format!("https://f.test/{number}.png");
        records.push(exchange(
            &format!("{number}"),
            &url,
            "image/png",
            &referer_field("https://f.test/"),
        ));
    }
    assert_eq!(find_start(&records), "https://a.test/");
}

#[test]
fn among_equal_pages_the_first_unrequested_one_wins() {
    let circle = [
        exchange(
            "1",
            "https://a.test/1",
            "text/html",
            &referer_field("https://a.test/2"),
        ),
        exchange(
            "2",
            "https://a.test/2",
            "text/html",
            &referer_field("https://a.test/1"),
        ),
        exchange(
            "self",
            "https://a.test/3",
            "text/html",
            &referer_field("https://a.test/3"),
        ),
    ];
    assert_eq!(find_start(&circle), "https://a.test/1");
    let strangers = [
        exchange(
            "1",
            "https://a.test/1",
            "text/html",
            &referer_field("https://b.test/"),
        ),
        page("2", "https://a.test/2"),
        page("3", "https://a.test/3"),
    ];
    assert_eq!(find_start(&strangers), "https://a.test/2");
}

#[test]
fn the_page_that_a_recording_names_is_the_page() {
    let site = open(&page_and_beacon("https://a.test/", "https://b.test/v?a=b")).unwrap();
    let named = site.exchanges()[1].url.clone();
    let metadata = SiteMetadata {
        title: "a beacon".to_owned(),
        description: String::new(),
        main_url: named.clone(),
        created_at_unix_ms: 0,
        provenance: Provenance::default(),
        screenshot: None,
    };
    let name = format!("eyelevel-archive-{}-named.wacz", std::process::id());
    let file = std::env::temp_dir().join(name);
    write_wacz(&file, site.exchanges(), &metadata).unwrap();
    let opened = Site::open(&file);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(*opened.unwrap().main_url(), named);
}

#[test]
fn a_long_chain_is_followed_whole() {
    let records: Vec<Vec<u8>> = (0..20_000)
        .map(|number| {
            let by = referer_field(&format!("https://a.test/{}", number + 1));
            let url = format!("https://a.test/{number}");
            exchange(&number.to_string(), &url, "text/html", &by)
        })
        .collect();
    assert_eq!(find_start(&records), "https://a.test/19999");
}
