//! Plain http sites are converted to https.

use crate::support::{open, request, response};
use eyelevel_archive::{Imported, Site, secure};

const BEACON: &str = "'https:'==location.protocol?'https://ssl':'http://www'";

fn script(id: &str, url: &str, page: &str) -> [Vec<u8>; 2] {
    let asked = format!("GET / HTTP/1.1\r\nReferer: {page}\r\n\r\n");
    let concurrent = format!("WARC-Concurrent-To: <urn:test:{id}>");
    let message = format!("HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\n\r\n{BEACON}");
    [
        response(id, url, &[], &message),
        request(&format!("{id}r"), url, &[&concurrent], &asked),
    ]
}

fn bodies(site: &Site) -> Vec<(String, Vec<u8>)> {
    let mut imported = Imported {
        exchanges: site.exchanges().to_vec(),
        ..Imported::default()
    };
    secure(&mut imported);
    let all = imported.exchanges.into_iter();
    all.map(|each| (each.url.to_string(), each.body.to_vec()))
        .collect()
}

#[test]
fn scripts_of_plain_pages_compare_the_other_scheme() {
    let frame =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<script>{BEACON}</script>");
    let site = open(&[
        script("1", "http://a.test/plain.js", "http://a.test/").concat(),
        script(
            "2",
            "https://tags.test/of-a-plain-page.js",
            "http://a.test/",
        )
        .concat(),
        script(
            "3",
            "https://tags.test/of-a-secure-frame.js",
            "https://b.test/",
        )
        .concat(),
        response("4", "https://b.test/", &[], &frame),
    ])
    .unwrap();
    for (url, body) in bodies(&site) {
        let compares_plain = body.windows(7).any(|part| part == b"'http:'");
        let was_plain_page = url.ends_with("plain.js") || url.ends_with("plain-page.js");
        assert_eq!(compares_plain, was_plain_page, "{url}");
    }
}
