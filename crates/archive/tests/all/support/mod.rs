//! Builds WARC files by hand.
#![allow(dead_code)] // each test file uses a part

use std::io::Write;

use bytes::Bytes;
use eyelevel_archive::{Error, Site};

/// Builds a record; `fields` are complete lines.
pub fn record(kind: &str, id: &str, fields: &[&str], block: &[u8]) -> Vec<u8> {
    let mut lines = vec![
        "WARC/1.1".to_owned(),
        format!("WARC-Type: {kind}"),
        format!("WARC-Record-ID: <urn:test:{id}>"),
    ];
    if !fields.iter().any(|field| field.starts_with("WARC-Date")) {
        lines.push("WARC-Date: 2026-11-01T12:00:00Z".to_owned());
    }
    lines.extend(fields.iter().map(|&field| field.to_owned()));
    lines.push(format!("Content-Length: {}\r\n\r\n", block.len()));
    [lines.join("\r\n").as_bytes(), block, b"\r\n\r\n"].concat()
}

/// Builds a response record for `url` with further fields.
pub fn response(id: &str, url: &str, fields: &[&str], message: &str) -> Vec<u8> {
    let target = format!("WARC-Target-URI: {url}");
    let mut all = vec![
        target.as_str(),
        "Content-Type: application/http; msgtype=response",
    ];
    all.extend(fields);
    record("response", id, &all, message.as_bytes())
}

/// Builds a request record for `url` with further fields.
pub fn request(id: &str, url: &str, fields: &[&str], message: &str) -> Vec<u8> {
    let target = format!("WARC-Target-URI: {url}");
    let mut all = vec![
        target.as_str(),
        "Content-Type: application/http; msgtype=request",
    ];
    all.extend(fields);
    record("request", id, &all, message.as_bytes())
}

/// Builds a response record with an HTML page.
pub fn page(id: &str, url: &str) -> Vec<u8> {
    response(
        id,
        url,
        &[],
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>",
    )
}

/// Compresses `content` as one gzip member.
pub fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Opens the concatenated records as a site.
pub fn open(records: &[Vec<u8>]) -> Result<Site, Error> {
    Site::from_bytes("test.warc", Bytes::from(records.concat()))
}
