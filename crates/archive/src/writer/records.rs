//! The WARC records of one exchange: response, request and, if there is any, metadata.
//!
//! A record is a list of parts, since a body may have gigabytes: it is hashed and written without a
//! copy.

use std::borrow::Cow;
use std::io::Write;

use sha2::{Digest, Sha256};

use super::SiteMetadata;
use super::writable::check_writable;
use crate::digest::{hexadecimal, sha1_base32};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::exchange::header::Header;
use crate::exchange::screenshot::{self, Screenshot};
use crate::timestamp;
use crate::warc::http1;

/// A serialised record: its own header, and its block.
pub struct Record<'a> {
    head: Vec<u8>,
    block: Block<'a>,
}

/// Consecutive parts: a message's head, and its body as stored in the record.
struct Block<'a> {
    head: Cow<'a, [u8]>,
    body: [Cow<'a, [u8]>; 3],
}

/// The serialised records of one exchange.
pub struct ExchangeRecords<'a> {
    /// The response.
    pub response: Record<'a>,
    /// The response's payload digest, for the index.
    pub payload_digest: String,
    /// The date, for the index.
    pub recorded_at_unix_ms: i64,
    /// The request, if it differs from a default one.
    pub request: Option<Record<'a>>,
    /// Data that WARC has no field for.
    pub metadata: Option<Record<'a>>,
}

const RECORD_END: &[u8] = b"\r\n\r\n";

impl Record<'_> {
    /// Returns the size including header and end.
    pub fn bytes(&self) -> u64 {
        self.head.len() as u64 + self.block.bytes() + RECORD_END.len() as u64
    }

    /// Writes the record.
    pub fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        out.write_all(&self.head)?;
        for part in self.block.parts() {
            out.write_all(part)?;
        }
        out.write_all(RECORD_END)
    }
}

impl<'a> Block<'a> {
    fn plain(content: impl Into<Cow<'a, [u8]>>) -> Self {
        Block {
            head: content.into(),
            body: Default::default(),
        }
    }

    fn parts(&self) -> [&[u8]; 4] {
        let [begin, content, end] = &self.body;
        [&self.head, begin, content, end]
    }

    fn body_parts(&self) -> [&[u8]; 3] {
        self.body.each_ref().map(|part| &**part)
    }

    fn bytes(&self) -> u64 {
        self.parts().iter().map(|part| part.len() as u64).sum()
    }
}

/// Creates the record that begins a file and names its writer.
pub fn warcinfo(file_name: &str, metadata: &SiteMetadata) -> Record<'static> {
    let version = env!("CARGO_PKG_VERSION");
    let block = format!(
        "software: eyelevel-archive {version}\r\nformat: WARC File Format 1.1\r\n\
         isPartOf: {}\r\n",
        metadata.title.replace(['\r', '\n'], " ")
    );
    let block = Block::plain(block.into_bytes());
    let identity = record_id("warcinfo", 0, &block);
    let fields = [("WARC-Filename", file_name.to_owned())];
    let content_type = "application/warc-fields";
    let date = metadata.created_at_unix_ms;
    record("warcinfo", &identity, date, &fields, content_type, block)
}

/// Creates the records of `exchange`, number `index` of the file.
pub fn create_records(
    index: usize,
    exchange: &Exchange,
    default_unix_ms: i64,
) -> Result<ExchangeRecords<'_>, Error> {
    check_writable(exchange).map_err(|reason| Error::Unwritable { index, reason })?;
    let date = exchange.recorded_at_unix_ms.unwrap_or(default_unix_ms);
    let response = response_block(exchange);
    let payload_digest = sha1_base32(&response.body_parts());
    let response_id = record_id("response", index, &response);
    let mut fields = vec![
        ("WARC-Target-URI", exchange.url.to_string()),
        ("WARC-Payload-Digest", payload_digest.clone()),
        ("WARC-Protocol", exchange.protocol.clone()),
    ];
    if let Some(address) = exchange.address {
        fields.push(("WARC-IP-Address", address.to_string()));
    }
    let content_type = "application/http; msgtype=response";
    let concurrent = ("WARC-Concurrent-To", response_id.clone());
    let target = ("WARC-Target-URI", exchange.url.to_string());
    let request = is_worth_a_record(exchange).then(|| {
        let block = request_block(exchange);
        let digest = ("WARC-Payload-Digest", sha1_base32(&block.body_parts()));
        let fields = [target.clone(), digest, concurrent.clone()];
        let content_type = "application/http; msgtype=request";
        let id = record_id("request", index, &block);
        record("request", &id, date, &fields, content_type, block)
    });
    let metadata = metadata_block(exchange).map(|block| {
        let block = Block::plain(block.into_bytes());
        let id = record_id("metadata", index, &block);
        let fields = [target, concurrent];
        let content_type = "application/warc-fields";
        record("metadata", &id, date, &fields, content_type, block)
    });
    Ok(ExchangeRecords {
        response: record(
            "response",
            &response_id,
            date,
            &fields,
            content_type,
            response,
        ),
        payload_digest,
        recorded_at_unix_ms: date,
        request,
        metadata,
    })
}

/// Creates the record of a screenshot as Browsertrix stores it: a resource called `urn:view:URL`.
pub fn screenshot<'a>(screenshot: &'a Screenshot, metadata: &SiteMetadata) -> Record<'a> {
    let image = Block::plain(&screenshot.image[..]);
    let target = format!("{}{}", screenshot::URI_PREFIX, metadata.main_url);
    let fields = [
        ("WARC-Target-URI", target),
        ("WARC-Payload-Digest", sha1_base32(&image.parts())),
    ];
    record(
        "resource",
        &record_id("screenshot", 0, &image),
        metadata.created_at_unix_ms,
        &fields,
        &screenshot.media_type,
        image,
    )
}

fn record<'a>(
    kind: &str,
    id: &str,
    unix_ms: i64,
    fields: &[(&str, String)],
    content_type: &str,
    block: Block<'a>,
) -> Record<'a> {
    let date = timestamp::format(unix_ms);
    let mut head =
        format!("WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {id}\r\nWARC-Date: {date}\r\n");
    for (name, value) in fields {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let digest = sha1_base32(&block.parts());
    head.push_str(&format!("WARC-Block-Digest: {digest}\r\n"));
    head.push_str(&format!("Content-Type: {content_type}\r\n"));
    head.push_str(&format!("Content-Length: {}\r\n\r\n", block.bytes()));
    Record {
        head: head.into_bytes(),
        block,
    }
}

/// Returns a UUID of version 8 (RFC 9562, section 5.8), derived from the record's content.
fn record_id(kind: &str, index: usize, block: &Block<'_>) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{kind} {index}\n"));
    block.parts().iter().for_each(|part| hash.update(part));
    let mut bytes: [u8; 16] = hash.finalize()[..16].try_into().expect("32 bytes hold 16");
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = hexadecimal(&bytes);
    let (a, b, c) = (&digits[..8], &digits[8..12], &digits[12..16]);
    format!(
        "<urn:uuid:{a}-{b}-{c}-{}-{}>",
        &digits[16..20],
        &digits[20..]
    )
}

/// Whether the request differs from a plain GET of the URL.
fn is_worth_a_record(exchange: &Exchange) -> bool {
    exchange.method != "GET"
        || !exchange.request_headers.is_empty()
        || !exchange.request_body.is_empty()
}

/// Returns the data that WARC has no record field for; `via` is WARC 1.1's name for the initiator.
fn metadata_block(exchange: &Exchange) -> Option<String> {
    let initiator = exchange.initiator.as_ref();
    let lines = [
        initiator.map(|url| format!("via: {url}\r\n")),
        exchange
            .time_to_first_byte_ms
            .map(|milliseconds| format!("timeToFirstByteMs: {milliseconds}\r\n")),
    ];
    let block: String = lines.into_iter().flatten().collect();
    (!block.is_empty()).then_some(block)
}

fn response_block(exchange: &Exchange) -> Block<'_> {
    let version = if exchange.protocol == "http/1.0" {
        "HTTP/1.0"
    } else {
        "HTTP/1.1"
    };
    let start_line = format!("{version} {} {}", exchange.status, exchange.reason);
    block(&start_line, &exchange.response_headers, &exchange.body)
}

fn request_block(exchange: &Exchange) -> Block<'_> {
    let version = if exchange.protocol == "http/1.0" {
        "HTTP/1.0"
    } else {
        "HTTP/1.1"
    };
    let start_line = format!(
        "{} {} {version}",
        exchange.method, exchange.url.path_and_query
    );
    block(
        &start_line,
        &exchange.request_headers,
        &exchange.request_body,
    )
}

/// Builds a block from the message and its decoded body. The body stays chunked if a reader would
/// take the decoded one for chunked.
fn block<'a>(start_line: &str, headers: &[Header], body: &'a [u8]) -> Block<'a> {
    let mut head = format!("{start_line}\r\n").into_bytes();
    for header in headers {
        head.extend_from_slice(header.name.as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(&header.value);
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    let is_chunked = http1::looks_chunked(headers, body);
    let begin = is_chunked.then(|| format!("{:x}\r\n", body.len()).into_bytes());
    let end: &[u8] = if is_chunked { b"\r\n0\r\n\r\n" } else { b"" };
    Block {
        head: head.into(),
        body: [begin.unwrap_or_default().into(), body.into(), end.into()],
    }
}
