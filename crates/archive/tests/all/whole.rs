//! Bodies and responses that differ from what they declare, in every format.

use std::io::{Read, Write};

use crate::support::{gzip, open, page, record, response};
use eyelevel_archive::{Exchange, Format, Imported, Site, import_content, write_wacz};
use proptest::prelude::*;

const PAGE: &str = "https://a.test/";
const ODD: &str = "https://a.test/odd";

/// Opens a page along with the message in a record of its own.
fn open_with(message: &[u8]) -> Site {
    let fields = [
        "WARC-Target-URI: https://a.test/odd",
        "Content-Type: application/http",
    ];
    open(&[
        gzip(&page("page", PAGE)),
        gzip(&record("response", "1", &fields, message)),
    ])
    .unwrap()
}

fn message(fields: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\n{fields}\r\n").as_bytes(), body].concat()
}

fn odd(site: &Site) -> &Exchange {
    assert!(site.notes().is_empty(), "{:?}", site.notes());
    &site.exchanges()[1]
}

fn assert_left_out(site: &Site, reason: &str) {
    assert_eq!(site.exchanges().len(), 1);
    let note = &site.notes()[0].message;
    assert!(note.starts_with(ODD) && note.contains(reason), "{note}");
}

#[test]
fn a_body_is_as_long_as_its_message_declares() {
    let whole = open_with(&message("Content-Length: 3\r\n", b"abc"));
    assert_eq!(odd(&whole).body, "abc");
    assert!(whole.provenance().altered.is_empty());
    assert_left_out(
        &open_with(&message("Content-Length: 4\r\n", b"abc")),
        "its body has 3 of 4 bytes",
    );
    let longer = open_with(&message(
        "Content-Length: 3\r\n",
        b"abcHTTP/1.1 200 OK\r\n\r\nnext",
    ));
    assert_eq!(odd(&longer).body, "abc");
    let altered = &longer.provenance().altered[0];
    assert!(
        altered.starts_with("https://a.test/odd: its body has 3 bytes"),
        "{altered}"
    );
    for fields in [
        "Content-Length: 3\r\nContent-Length: 4\r\n",
        "Content-Length: many\r\n",
        "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 2\r\nx-orig-content-encoding: br\r\n",
    ] {
        assert_eq!(
            odd(&open_with(&message(fields, b"abc"))).body,
            "abc",
            "{fields}"
        );
    }
    let not_modified = b"HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n";
    assert_eq!(odd(&open_with(not_modified)).status, 204);
}

#[test]
fn a_length_that_was_sent_several_times_is_one() {
    for fields in [
        "Content-Length: 4, 4\r\n",
        "Content-Length: 4\r\ncontent-length: 4,4\r\n",
    ] {
        let cut = open_with(&message(fields, b"abc"));
        assert_left_out(&cut, "its body has 3 of 4 bytes");
        assert_eq!(
            odd(&open_with(&message(fields, b"abcd, next"))).body,
            "abcd"
        );
    }
    assert_eq!(
        odd(&open_with(&message("Content-Length: 3, 4\r\n", b"abc"))).body,
        "abc"
    );
}

#[test]
fn a_range_is_as_long_as_it_declares() {
    let with = |fields: &str| {
        let head = format!("HTTP/1.1 206 Partial Content\r\n{fields}\r\nabc");
        open_with(head.as_bytes())
    };
    for range in ["bytes 0-3/9", "bytes 5-8/*", "Bytes  5-8/9"] {
        let chunked = format!("Transfer-Encoding: chunked\r\nContent-Range: {range}\r\n");
        for fields in [&chunked, &format!("Content-Range: {range}\r\n")] {
            assert_left_out(&with(fields), "its body has 3 of the 4 bytes of its range");
        }
    }
    for fields in [
        "Content-Range: bytes 0-2/9\r\n",
        "Content-Range: bytes */9\r\n",
        "Content-Range: items 0-8/9\r\n",
        "Content-Range: bytes 3-0/9\r\n",
        "Content-Range: bytes 0-18446744073709551615/*\r\n",
        "Content-Range: bytes 0-8/9\r\nContent-Length: 3\r\n",
        "Content-Range: bytes 0-8/9\r\nx-orig-content-encoding: br\r\n",
        "Content-Type: multipart/byteranges; boundary=x\r\n",
    ] {
        assert_eq!(odd(&with(fields)).body, "abc", "{fields}");
    }
}

#[test]
fn a_tunnel_through_a_proxy_is_no_exchange() {
    let entry = |method: &str, url: &str| {
        format!(
            r#"{{"request":{{"method":"{method}","url":"{url}"}},
             "response":{{"status":200,"content":{{"size":0}}}}}}"#
        )
    };
    let entries = [entry("CONNECT", "https://a.test:443"), entry("GET", PAGE)].join(",");
    let har = format!(r#"{{"log":{{"entries":[{entries}]}}}}"#);
    let imported = import_content(Format::Har, har.into()).unwrap();
    assert_eq!(imported.exchanges.len(), 1);
    assert_eq!(imported.exchanges[0].method, "GET");
    let left_out = &imported.provenance.left_out[0];
    assert!(
        left_out.starts_with("https://a.test/: it opened a tunnel"),
        "{left_out}"
    );
}

fn brotli(body: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    let mut encoder = brotli::CompressorWriter::new(&mut coded, 4096, 5, 22);
    encoder.write_all(body).unwrap();
    drop(encoder);
    coded
}

fn deflate(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn encode(coding: &str, body: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" => gzip(body),
        "br" => brotli(body),
        _ => deflate(body),
    }
}

#[test]
fn a_coding_that_the_body_does_not_have_goes() {
    let text = b"<!doctype html><p>decoded before it was stored";
    for coding in ["gzip", "x-gzip", "br", "deflate", "zstd", "GZIP"] {
        let fields = format!("Content-Encoding: {coding}\r\nContent-Length: 33\r\n");
        let site = open_with(&message(&fields, text));
        assert_eq!(odd(&site).body, &text[..], "{coding}");
        assert_eq!(odd(&site).response_header("content-encoding"), None);
        let length = odd(&site).response_header("content-length");
        assert_eq!(length, Some(&*text.len().to_string()));
        let altered = &site.provenance().altered[0];
        let expected = format!("{ODD}: its fields say `{coding}`, which its body does not have");
        assert!(altered.starts_with(&expected), "{altered}");
    }
    for coding in ["utf-8", "dcb", "identity"] {
        let site = open_with(&message(&format!("Content-Encoding: {coding}\r\n"), text));
        assert_eq!(odd(&site).response_header("content-encoding"), Some(coding));
    }
    // Declared twice and applied once.
    let once = gzip(text);
    let site = open_with(&message(
        "Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n",
        &once,
    ));
    assert_eq!(odd(&site).response_header("content-encoding"), Some("gzip"));
    assert_eq!(&*odd(&site).decoded_body(1000).unwrap(), text);
    let twice = gzip(&once);
    let site = open_with(&message("Content-Encoding: gzip, gzip\r\n", &twice));
    assert_eq!(&*odd(&site).decoded_body(1000).unwrap(), text);
    assert!(site.provenance().altered.is_empty());
}

/// Returns the coding and body that are left of `body` under `coding`, and the notes.
fn import_coded(
    coding: &str,
    media_type: &str,
    body: &[u8],
) -> (Option<String>, Vec<u8>, Vec<String>) {
    let fields = format!("Content-Type: {media_type}\r\nContent-Encoding: {coding}\r\n");
    let site = open_with(&message(&fields, body));
    let coding = odd(&site).response_header("content-encoding");
    let (coding, body) = (coding.map(str::to_owned), odd(&site).body.to_vec());
    (coding, body, site.provenance().altered.clone())
}

fn assert_plain(coding: &str, body: &[u8]) {
    let (left, same, altered) = import_coded(coding, "text/javascript", body);
    let shown = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
    assert_eq!(left, None, "{coding}: {shown}");
    assert_eq!(same, body, "{coding}: {shown}");
    let expected = format!("{ODD}: its fields say `{coding}`, which its body does not have");
    assert!(altered[0].starts_with(&expected), "{altered:?}");
}

#[test]
fn no_text_passes_for_a_coded_one_by_its_first_letter() {
    for first in b' '..=b'~' {
        for rest in ["\"a\":1,\"b\":2}", " text here", "function(){}"] {
            for count in [1, 400] {
                let text = [&[first][..], rest.repeat(count).as_bytes()].concat();
                ["br", "deflate", "gzip, br"]
                    .iter()
                    .for_each(|coding| assert_plain(coding, &text));
            }
        }
    }
    assert_plain("gzip", b"\x1f\x8bnot gzip at all");
}

/// Returns pseudo-random bytes, like those of an image, the same in every run.
fn noise(count: u32) -> Vec<u8> {
    let bytes = (0..count).map(|n| n.wrapping_mul(2_654_435_761).rotate_left(n) >> 13);
    bytes.map(|byte| byte as u8).collect()
}

#[test]
fn decoded_bodies_that_are_no_utf_8_are_not_coded() {
    let latin_1 = b"// \xe9\nvar a=1;";
    let page = b"<!DOCTYPE html><meta charset=iso-8859-1><p>\xe9</p>";
    let shift_jis = b"\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd".repeat(90);
    for coding in ["br", "deflate", "gzip"] {
        for text in [&latin_1[..], &latin_1.repeat(600), page, &shift_jis] {
            assert_plain(coding, text);
        }
        for mark in [
            &b"\x89PNG\r\n\x1a\n"[..],
            b"wOF2",
            b"\xff\xd8\xff\xe0",
            b"GIF89a",
        ] {
            for count in [40, 600, 5000] {
                assert_plain(coding, &[mark, &noise(count)].concat());
            }
        }
    }
}

#[test]
fn a_body_in_another_coding_than_declared_keeps_the_one_that_it_has() {
    let text = b"<!doctype html><p>coded otherwise";
    let zlib = {
        let level = flate2::Compression::default();
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    for (declared, body, coding) in [
        ("br", gzip(text), "gzip"),
        ("gzip, br", gzip(text), "gzip"),
        ("zstd", gzip(text), "gzip"),
        ("gzip", zlib, "deflate"),
    ] {
        let (left, same, altered) = import_coded(declared, "text/html", &body);
        assert_eq!(
            (left.as_deref(), &same),
            (Some(coding), &body),
            "{declared}"
        );
        let expected = format!(
            "{ODD}: its fields say `{declared}`, which its body does not have, and say `{coding}`"
        );
        assert!(altered[0].starts_with(&expected), "{altered:?}");
    }
    // If the body decodes, it is a file in that format.
    let (left, same, _) = import_coded("br", "application/gzip", &gzip(text));
    assert_eq!((left, same), (None, gzip(text)));
}

#[test]
fn gzip_that_is_cut_or_damaged_is_not_whole_without_a_length() {
    let coded = gzip(&noise(3000));
    let mut damaged = coded.clone();
    damaged[50] ^= 0xff;
    let chunked = |body: &[u8]| {
        [
            format!("{:x}\r\n", body.len()).as_bytes(),
            body,
            b"\r\n0\r\n\r\n",
        ]
        .concat()
    };
    let fields = "Content-Encoding: gzip\r\n";
    let in_chunks = "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n";
    for end in [1, 2, 5, 10, 1000, coded.len() - 8, coded.len() - 1] {
        let site = open_with(&message(fields, &coded[..end]));
        if end > 1 {
            assert_left_out(
                &site,
                &format!("its gzip body is cut off after {end} bytes"),
            );
        }
    }
    assert_left_out(
        &open_with(&message(in_chunks, &chunked(&coded[..1000]))),
        "is cut off",
    );
    assert_left_out(&open_with(&message(fields, &damaged)), "bytes is damaged");
    // If its length is declared, it is what the server sent, including trailing bytes that browsers
    // skip.
    let exact = format!("{fields}Content-Length: 1000\r\n");
    assert_eq!(
        odd(&open_with(&message(&exact, &coded[..1000]))).body,
        coded[..1000]
    );
    let followed = [&coded[..], b"\r\n"].concat();
    assert_eq!(odd(&open_with(&message(fields, &followed))).body, followed);
    for range in [&coded[..1000], &coded[1000..]] {
        let partial = [
            b"HTTP/1.1 206 Partial Content\r\nContent-Encoding: gzip\r\n\r\n",
            range,
        ];
        let site = open_with(&partial.concat());
        assert_eq!(odd(&site).body, range);
        assert_eq!(odd(&site).response_header("content-encoding"), Some("gzip"));
    }
}

/// Builds zstd frames with `blocks` and their lengths.
fn zstd(blocks: &[&[u8]]) -> Vec<u8> {
    let mut frame = b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec();
    frame.extend(ruzstd::encoding::compress_to_vec(
        &b"a first frame"[..],
        ruzstd::encoding::CompressionLevel::Fastest,
    ));
    frame.extend(b"\x28\xb5\x2f\xfd\0\x58");
    for (index, block) in blocks.iter().enumerate() {
        let is_last = u32::from(index + 1 == blocks.len());
        let head = (block.len() as u32) << 3 | is_last;
        frame.extend(&head.to_le_bytes()[..3]);
        frame.extend(*block);
    }
    frame
}

#[test]
fn no_coding_is_whole_without_its_end() {
    let text = noise(3000);
    let level = flate2::Compression::best();
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), level);
    zlib.write_all(&text).unwrap();
    for (coding, coded) in [
        ("br", brotli(&text)),
        ("deflate", deflate(&text)),
        ("deflate", zlib.finish().unwrap()),
        ("zstd", zstd(&[&text[..1000], &text[1000..]])),
    ] {
        let fields = format!("Content-Encoding: {coding}\r\n");
        assert_eq!(odd(&open_with(&message(&fields, &coded))).body, coded);
        for end in [300, 1000, coded.len() - 1] {
            let site = open_with(&message(&fields, &coded[..end]));
            assert_left_out(
                &site,
                &format!("its {coding} body is cut off after {end} bytes"),
            );
        }
        let exact = format!("{fields}Content-Length: 1000\r\n");
        assert_eq!(
            odd(&open_with(&message(&exact, &coded[..1000]))).body,
            coded[..1000]
        );
        let head = b"HTTP/1.1 206 Partial Content\r\nContent-Encoding: ";
        let partial = [head, coding.as_bytes(), b"\r\n\r\n", &coded[..1000]].concat();
        assert_eq!(odd(&open_with(&partial)).body, coded[..1000]);
        let followed = [&coded[..], b"\r\n"].concat();
        assert_eq!(odd(&open_with(&message(&fields, &followed))).body, followed);
    }
    let mut damaged = zstd(&[&text]);
    let at = damaged.len() - text.len() - 3;
    damaged[at] |= 6;
    let fields = "Content-Encoding: zstd\r\n";
    assert_left_out(&open_with(&message(fields, &damaged)), "is damaged");
    // The lengths are valid and the content is not: only decoding shows it.
    let text: String = (0..400).map(|n| format!("<li>{}", n * n)).collect();
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let coded = ruzstd::encoding::compress_to_vec(text.as_bytes(), level);
    assert_eq!(odd(&open_with(&message(fields, &coded))).body, coded);
    for at in (40..coded.len()).step_by(97).chain([coded.len() - 1]) {
        let mut damaged = coded.clone();
        damaged[at] ^= 0x55;
        let site = open_with(&message(fields, &damaged));
        assert_left_out(&site, "is damaged");
    }
    // A failing decoder holds back output until a window is full.
    let script: String = (0..400)
        .map(|n| format!("var a{n} = 'text {}'; function f{n}(){{}}\n", n * 7))
        .collect();
    let mut damaged = brotli(script.as_bytes());
    let middle = damaged.len() / 2;
    damaged[middle..middle + 40].fill(0x55);
    let fields = "Content-Encoding: br\r\n";
    assert_left_out(&open_with(&message(fields, &damaged)), "body");
}

#[test]
fn a_coded_body_that_was_cut_off_is_not_whole() {
    let text: Vec<u8> = (0..2000_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
    for coding in ["gzip", "br", "deflate"] {
        let coded = encode(coding, &text);
        let fields = format!(
            "Content-Encoding: {coding}\r\nContent-Length: {}\r\n",
            coded.len()
        );
        assert_eq!(odd(&open_with(&message(&fields, &coded))).body, coded);
        let site = open_with(&message(&fields, &coded[..coded.len() - 9]));
        assert_left_out(&site, "bytes");
    }
}

#[test]
fn a_lone_304_is_left_out() {
    let not_modified = b"HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n";
    assert_left_out(
        &open_with(not_modified),
        "it has the status 304 and no body",
    );
    let both = [
        response("1", ODD, &[], "HTTP/1.1 304 Not Modified\r\n\r\n"),
        response("2", ODD, &[], "HTTP/1.1 200 OK\r\n\r\nx"),
    ];
    let site = open(&both).unwrap();
    let found: Vec<_> = site
        .exchanges()
        .iter()
        .map(|each| (each.index, each.status))
        .collect();
    assert_eq!(found, [(0, 304), (1, 200)]);
    let request = "R0VUIC8gSFRUUC8xLjENCg0K"; // GET / HTTP/1.1
    let answer = "SFRUUC8xLjEgMzA0IE5vdCBNb2RpZmllZA0KDQo="; // HTTP/1.1 304 Not Modified
    let json = format!(
        r#"{{"Requests": {{"a.test": {{"{ODD}": [{{"SerializedRequest": "{request}",
         "SerializedResponse": "{answer}"}}]}}}}}}"#
    );
    let imported = import_content(Format::WebPageReplay, gzip(json.as_bytes()).into()).unwrap();
    assert_eq!(imported.exchanges.len(), 0);
    let sentence = &imported.provenance.left_out[0];
    assert!(
        sentence.starts_with(ODD) && sentence.contains("304"),
        "{sentence}"
    );
}

#[test]
fn chunks_with_bare_line_feeds_are_joined_and_segments_left_out() {
    let chunked = "Transfer-Encoding: chunked\r\n";
    let site = open_with(&message(chunked, b"3\nabc\n2;x\r\nde\n0\n\n"));
    assert_eq!(odd(&site).body, "abcde");
    // A body that was already decoded may begin like a chunk.
    let numbers = b"3\nabc\n4\nde\n";
    assert_eq!(
        odd(&open_with(&message(chunked, numbers))).body,
        &numbers[..]
    );
    let fields = [
        "WARC-Target-URI: https://a.test/odd",
        "WARC-Segment-Number: 1",
    ];
    let segment = record("response", "1", &fields, &message("", b"the first"));
    assert_left_out(
        &open(&[page("0", PAGE), segment]).unwrap(),
        "it is in segments",
    );
}

#[test]
fn chunks_are_joined_whichever_field_declares_them() {
    for fields in [
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
        "transfer-encoding: Chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: identity, chunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
    ] {
        let site = open_with(&message(fields, b"3\r\nabc\r\n0\r\n\r\n"));
        assert_eq!(odd(&site).body, "abc", "{fields}");
    }
}

#[test]
fn what_a_converter_stored_without_a_protocol_can_be_written() {
    let fields = [
        "WARC-Target-URI: https://a.test/odd",
        "Content-Type: text/css",
    ];
    let refers = [fields[0], "WARC-Refers-To-Target-URI: https://a.test/"];
    for odd in [
        record("resource", "1", &fields, b"a{}"),
        record("revisit", "1", &refers, b""),
    ] {
        let site = open(&[page("page", PAGE), odd]).unwrap();
        assert_eq!(site.exchanges()[1].protocol, "http/1.1");
    }
}

#[test]
fn responses_made_by_the_browser_are_left_out() {
    for reason in ["HSTS", "HttpsUpgrades", "WebRequest API"] {
        let message = format!(
            "HTTP/1.1 307 Internal Redirect\r\nLocation: https://a.test/\r\n\
             Non-Authoritative-Reason: {reason}\r\n\r\n"
        );
        assert_left_out(&open_with(message.as_bytes()), reason);
    }
    let entry = |url: &str, status: u16, fields: &str| {
        format!(
            r#"{{"request": {{"method": "GET", "url": "{url}"}}, "response": {{"status": {status},
             "headers": [{fields}], "content": {{"size": 0, "text": ""}}}}}}"#
        )
    };
    let typed = r#"{"name": "Content-Type", "value": "text/html"}"#;
    let made = r#"{"name": "Non-Authoritative-Reason", "value": "HSTS"},
         {"name": "Location", "value": "https://a.test/"}"#;
    let entries = [entry("http://a.test/", 307, made), entry(PAGE, 200, typed)];
    let har = format!(r#"{{"log": {{"entries": [{}]}}}}"#, entries.join(","));
    let imported = import_content(Format::Har, har.into()).unwrap();
    let [exchange] = &imported.exchanges[..] else {
        panic!("{:?}", imported.provenance)
    };
    assert_eq!(exchange.url.to_string(), PAGE);
    let sentence = &imported.provenance.left_out[0];
    assert!(
        sentence.starts_with("http://a.test/: the browser made this"),
        "{sentence}"
    );
}

#[test]
fn revisits_have_the_body_of_an_original_wherever_it_stands() {
    let digest = "WARC-Payload-Digest: sha1:AAAA";
    let url = format!("WARC-Target-URI: {ODD}");
    let revisit = |fields: &[&str], block: &[u8]| {
        record("revisit", "r", &[&[url.as_str()], fields].concat(), block)
    };
    let original = response(
        "o",
        "https://a.test/o",
        &[digest],
        "HTTP/1.1 200 OK\r\nA: o\r\n\r\nbody",
    );
    let head = b"HTTP/1.1 200 OK\r\nA: r\r\nContent-Length: 4\r\n\r\n";
    for fields in [
        &[digest][..],
        &["WARC-Refers-To: <urn:test:o>"],
        &[
            "WARC-Refers-To-Target-URI: https://a.test/o",
            "WARC-Refers-To-Date: 2026-11-01T12:00:00Z",
        ],
    ] {
        let site = open(&[gzip(&revisit(fields, head)), gzip(&original)]).unwrap();
        let found: Vec<_> = site
            .exchanges()
            .iter()
            .map(|each| (each.index, each.url.path(), &each.body[..]))
            .collect();
        assert_eq!(
            found,
            [(0, "/odd", &b"body"[..]), (1, "/o", b"body")],
            "{fields:?}"
        );
        assert_eq!(site.exchanges()[0].response_header("a"), Some("r"));
    }
    // A "not modified" revisit names only its URL.
    let unchanged = revisit(
        &["WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified"],
        b"HTTP/1.1 304 Not Modified\r\n\r\n",
    );
    let site = open(&[
        response("1", ODD, &[], "HTTP/1.1 200 OK\r\n\r\nx"),
        unchanged.clone(),
    ])
    .unwrap();
    assert_eq!(
        (site.exchanges()[1].status, &site.exchanges()[1].body[..]),
        (200, &b"x"[..])
    );
    let site = open(&[page("0", PAGE), unchanged, revisit(&[digest], head)]).unwrap();
    assert_eq!(site.exchanges().len(), 1);
    assert_eq!(site.notes().len(), 2);
    for note in site.notes() {
        assert!(
            note.message
                .contains("a revisit of a response that is not in the file")
        );
    }
}

#[test]
fn revisits_find_their_originals_however_they_name_them() {
    const O: &str = "https://a.test/o";
    // The SHA-1 of `body`, by sha1sum.
    let hex = "02083f4579e08a612425c0c1a17ee47add783b94";
    let base32 = "AIED6RLZ4CFGCJBFYDA2C7XEPLOXQO4U";
    let digest = |value: &str| format!("WARC-Payload-Digest: {value}");
    let refers = "WARC-Refers-To-Target-URI: https://a.test/o";
    let old = "WARC-Refers-To-Date: 2025-05-01T00:00:00Z";
    let (recorded, found) = (digest(&format!("sha1:{base32}")), "body");
    for (original, revisit, expected) in [
        (None, &[refers][..], Some(found)),
        (None, &[refers, old], Some(found)),
        (None, &[refers, old, &recorded], Some(found)),
        (
            None,
            &[
                refers,
                old,
                &digest("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"),
            ],
            None,
        ),
        (
            None,
            &["WARC-Refers-To-Target-URI: https://a.test/other"],
            None,
        ),
        (None, &[recorded.as_str()], Some(found)),
        (
            None,
            &[digest(&format!("SHA-1:{hex}")).as_str()],
            Some(found),
        ),
        (
            Some(&recorded),
            &[digest(&format!("sha1:{}", base32.to_lowercase())).as_str()],
            Some(found),
        ),
        (
            Some(&recorded),
            &[digest(&format!("SHA1:{hex}")).as_str()],
            Some(found),
        ),
        (Some(&recorded), &[digest("md5:x").as_str()], None),
    ] {
        let fields: Vec<&str> = original.iter().map(|field| field.as_str()).collect();
        let original = response("o", O, &fields, "HTTP/1.1 200 OK\r\n\r\nbody");
        let url = format!("WARC-Target-URI: {ODD}");
        let fields = [&[url.as_str()], revisit].concat();
        let head = b"http/1.1 200 OK\r\nA: r\r\n\r\n";
        let revisit = record("revisit", "r", &fields, head);
        for records in [[original.clone(), revisit.clone()], [revisit, original]] {
            let site = open(&records).unwrap();
            let odd = site
                .exchanges()
                .iter()
                .find(|each| each.url.path() == "/odd");
            let body = odd.map(|each| std::str::from_utf8(&each.body).unwrap());
            assert_eq!(body, expected, "{fields:?}");
            assert_eq!(site.notes().len(), usize::from(expected.is_none()));
            assert!(odd.is_none_or(|each| each.response_header("a") == Some("r")));
        }
    }
}

#[test]
fn a_revisit_of_a_revisit_has_the_body_of_the_first() {
    let link = |id: usize, to: usize| {
        let url = format!("WARC-Target-URI: https://a.test/{id}");
        let to = format!("WARC-Refers-To: <urn:test:{to}>");
        record(
            "revisit",
            &id.to_string(),
            &[&url, &to],
            b"HTTP/1.1 200 OK\r\n\r\n",
        )
    };
    let first = response("0", "https://a.test/0", &[], "HTTP/1.1 200 OK\r\n\r\nbody");
    let forwards = [first.clone(), link(1, 0), link(2, 1), link(3, 2)];
    let mut backwards = forwards.clone();
    backwards.reverse();
    for records in [forwards, backwards] {
        let site = open(&records).unwrap();
        assert_eq!(site.exchanges().len(), 4, "{:?}", site.notes());
        assert!(site.exchanges().iter().all(|each| each.body == "body"));
    }
    // A cycle has no original.
    let site = open(&[first, link(1, 2), link(2, 1), link(3, 3)]).unwrap();
    assert_eq!((site.exchanges().len(), site.notes().len()), (1, 3));
}

/// Imports a mitmproxy flow with these fields and this body.
fn flow(fields: &[(&str, &str)], body: &[u8]) -> Imported {
    let net = |kind: char, payload: &[u8]| {
        let length = payload.len().to_string();
        [length.as_bytes(), b":", payload, &[kind as u8]].concat()
    };
    let map = |members: &[(&str, Vec<u8>)]| {
        let members: Vec<u8> = members
            .iter()
            .flat_map(|(name, value)| [net(',', name.as_bytes()), value.clone()].concat())
            .collect();
        net('}', &members)
    };
    let text = |text: &str| net(',', text.as_bytes());
    let fields: Vec<u8> = fields
        .iter()
        .flat_map(|(name, value)| net(']', &[text(name), text(value)].concat()))
        .collect();
    let request = map(&[
        ("scheme", text("https")),
        ("host", text("a.test")),
        ("port", net('#', b"443")),
        ("path", text("/odd")),
        ("method", text("GET")),
    ]);
    let response = map(&[
        ("status_code", net('#', b"200")),
        ("http_version", text("HTTP/1.1")),
        ("headers", net(']', &fields)),
        ("content", net(',', body)),
    ]);
    let flow = map(&[
        ("type", text("http")),
        ("request", request),
        ("response", response),
    ]);
    import_content(Format::Mitmproxy, flow.into()).unwrap()
}

proptest! {
    /// In a WARC file and in flows, a body that is kept matches what the message declares.
    #[test]
    fn kept_bodies_are_complete(
        text in prop::collection::vec(any::<u8>(), 1..300),
        coding in prop_oneof![Just("gzip"), Just("br"), Just("deflate")],
        is_coded: bool,
        declared in prop_oneof![Just(None), (-9..9_i64).prop_map(Some)],
    ) {
        let body = if is_coded { encode(coding, &text) } else { text.clone() };
        let length = declared.map(|more| (body.len() as i64 + more).max(0) as usize);
        let length_text = length.unwrap_or(0).to_string();
        let mut fields = vec![("Content-Encoding", coding)];
        fields.extend(length.map(|_| ("Content-Length", length_text.as_str())));
        let lines: String = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let site = open_with(&message(&lines, &body));
        let imported = flow(&fields, &body);
        prop_assert_eq!(site.exchanges().len() - 1, imported.exchanges.len());
        prop_assert_eq!(site.notes().len(), imported.provenance.left_out.len());
        let (Some(read), Some(flow)) = (site.exchanges().get(1), imported.exchanges.first()) else {
            let is_cut = length.is_some_and(|length| length > body.len());
            // A few bytes may be the beginning of a body in the declared coding.
            let may_be_cut = !is_coded && length.is_none();
            prop_assert!(is_cut || may_be_cut, "{:?}", site.notes());
            return Ok(());
        };
        prop_assert_eq!(&read.body, &flow.body);
        if is_coded && length.is_none_or(|length| length == body.len()) {
            prop_assert_eq!(&*read.decoded_body(1 << 20).unwrap(), &text[..]);
        }
        if !is_coded && read.response_header("content-encoding").is_none() {
            prop_assert_eq!(&read.body, &text);
        }
        // It reads back unchanged.
        let again = write(&imported);
        prop_assert_eq!(&again.exchanges()[0].body, &flow.body);
        prop_assert_eq!(&again.exchanges()[0].response_headers, &flow.response_headers);
    }
}

/// Encodes a body in `coding`, with different encoder settings for each `level`.
fn encoded_at(coding: &str, level: u32, body: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    match coding {
        "br" => {
            let mut encoder = brotli::CompressorWriter::new(&mut coded, 4096, level, 10 + level);
            encoder.write_all(body).unwrap();
        }
        "gzip" => {
            let level = flate2::Compression::new(level);
            flate2::read::GzEncoder::new(body, level)
                .read_to_end(&mut coded)
                .unwrap();
        }
        "deflate" if level.is_multiple_of(2) => {
            let level = flate2::Compression::new(level);
            flate2::read::ZlibEncoder::new(body, level)
                .read_to_end(&mut coded)
                .unwrap();
        }
        _ => {
            let level = flate2::Compression::new(level);
            flate2::read::DeflateEncoder::new(body, level)
                .read_to_end(&mut coded)
                .unwrap();
        }
    }
    coded
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A coded body stays as recorded, even if cut in the middle; the same body decoded is
    /// detected.
    #[test]
    fn coded_bodies_are_distinguished_from_decoded_ones(
        text in "[ -~]{4,40}|\\PC{4,40}",
        bytes in prop::collection::vec(any::<u8>(), 0..80),
        count in prop_oneof![1..4_usize, 100..900_usize],
        coding in prop_oneof![Just("gzip"), Just("br"), Just("deflate")],
        level in 0..10_u32,
    ) {
        let text = text.repeat(count);
        for content in [text.as_bytes(), &bytes[..], &[text.as_bytes(), &bytes[..]].concat()] {
            let coded = encoded_at(coding, level, content);
            let (left, same, altered) = import_coded(coding, "text/html", &coded);
            prop_assert_eq!((left.as_deref(), &same), (Some(coding), &coded));
            prop_assert!(altered.is_empty(), "{:?}", altered);
        }
        let (left, same, _) = import_coded(coding, "text/html", text.as_bytes());
        prop_assert_eq!((left, &same[..]), (None, text.as_bytes()));
        let latin_1: Vec<u8> = text.bytes().map(|byte| byte.max(b' ')).collect();
        let latin_1 = [b"\xe9t\xe9 au lait ", &latin_1[..]].concat();
        if latin_1.iter().all(|byte| *byte != 0x7f) && text.is_ascii() {
            let (left, same, _) = import_coded(coding, "text/html", &latin_1);
            prop_assert_eq!((left, &same), (None, &latin_1));
        }
        if coding != "gzip" {
            let coded = encoded_at(coding, level, &noise(900));
            let cut = &coded[..coded.len() * (level as usize + 1) / 11];
            let length = cut.len();
            let fields = format!("Content-Encoding: {coding}\r\nContent-Length: {length}\r\n");
            let site = open_with(&message(&fields, cut));
            prop_assert_eq!(odd(&site).response_header("content-encoding"), Some(coding));
            prop_assert_eq!(&odd(&site).body[..], cut);
        }
    }
}

fn write(imported: &Imported) -> Site {
    let name = format!("eyelevel-whole-{}.wacz", std::process::id());
    let path = std::env::temp_dir().join(name);
    let metadata = imported.metadata(None, "whole").unwrap();
    write_wacz(&path, &imported.exchanges, &metadata).unwrap();
    let site = Site::open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    site
}
