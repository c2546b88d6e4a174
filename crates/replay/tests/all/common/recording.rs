//! A synthetic recording with requests and responses.

use eyelevel_archive::{Exchange, Header, Site};
use std::sync::Arc;

/// Returns the site of exchanges with the method GET.
pub fn recording(exchanges: &[Exchange]) -> Arc<Site> {
    let mut warc = Vec::new();
    for (index, each) in exchanges.iter().enumerate() {
        let (url, status) = (&each.url, each.status);
        let id = format!("<urn:uuid:{index:032}>");
        let length = each.body.len();
        let fields = lines(&each.response_headers);
        let head = format!("HTTP/1.1 {status} X\r\n{fields}Content-Length: {length}\r\n\r\n");
        let response = [head.as_bytes(), &each.body].concat();
        warc.extend(record("response", &id, "", &url.to_string(), &response));
        let fields = lines(&each.request_headers);
        let target = &url.path_and_query;
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: {}\r\n{fields}\r\n",
            url.host
        );
        let other = format!("WARC-Concurrent-To: {id}\r\n");
        let id = format!("<urn:uuid:1{index:031}>");
        warc.extend(record(
            "request",
            &id,
            &other,
            &url.to_string(),
            request.as_bytes(),
        ));
    }
    Arc::new(Site::from_bytes("recording.warc", warc.into()).unwrap())
}

fn lines(fields: &[Header]) -> String {
    let each = fields.iter();
    each.map(|field| format!("{}: {}\r\n", field.name, field.text().unwrap()))
        .collect()
}

fn record(kind: &str, id: &str, other: &str, url: &str, block: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {id}\r\n{other}\
         WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: {url}\r\n\
         Content-Type: application/http; msgtype={kind}\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}
