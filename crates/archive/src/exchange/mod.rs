//! One recorded request with its response.

pub(crate) mod header;
pub(crate) mod outgoing;
pub(crate) mod screenshot;

use std::net::IpAddr;

use bytes::Bytes;
use serde::Serialize;

use crate::url::Url;
use header::Header;

/// One recorded request with its response.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// Position in the recording, from 0; the order of the responses in the file.
    pub index: usize,
    /// The request's method, as sent.
    pub method: String,
    /// What was asked for.
    pub url: Url,
    /// The request's fields in order; empty where the request was not recorded.
    pub request_headers: Vec<Header>,
    /// The request's body, its transfer coding undone.
    pub request_body: Bytes,
    /// The response's status code, 100 to 999.
    pub status: u16,
    /// The reason phrase; empty where there was none (always over HTTP/2 and HTTP/3).
    pub reason: String,
    /// The response's fields in order, as recorded; [`crate::response_headers_to_send`] gives
    /// those that a replay sends.
    pub response_headers: Vec<Header>,
    /// The response's body: transfer coding undone, content coding kept.
    pub body: Bytes,
    /// The server's address, where it was recorded.
    pub address: Option<IpAddr>,
    /// The protocol over which it was recorded (`http/1.0`, `http/1.1`, `h2`, `h3`).
    pub protocol: String,
    /// When the exchange was recorded, milliseconds since 1970 UTC; a label.
    pub recorded_at_unix_ms: Option<i64>,
    /// From the request's last byte to the response's first, where it was recorded.
    pub time_to_first_byte_ms: Option<f64>,
    /// The URL of what made the browser ask: a document, style sheet or script; where it is known.
    pub initiator: Option<String>,
}

impl Exchange {
    /// The first response field called `name`, in any case, as text.
    pub fn response_header(&self, name: &str) -> Option<&str> {
        header::find(&self.response_headers, name)
    }

    /// The first request field called `name`, in any case, as text.
    pub fn request_header(&self, name: &str) -> Option<&str> {
        header::find(&self.request_headers, name)
    }

    /// Whether the response is HTML by its content type.
    pub fn is_html(&self) -> bool {
        let content_type = self.response_header("content-type").unwrap_or("");
        let media_type = content_type.split(';').next().unwrap_or("").trim();
        ["text/html", "application/xhtml+xml"]
            .iter()
            .any(|html| media_type.eq_ignore_ascii_case(html))
    }
}

/// Something in the file that the replay leaves out or puts right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The file; a member of a WACZ as `FILE!member`.
    pub file: String,
    /// The record's number, from 0.
    pub record: u64,
    /// Where it begins in that file, bytes.
    pub offset: u64,
    /// One sentence.
    pub message: String,
}
