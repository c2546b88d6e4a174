//! One recorded request with its response.

pub(crate) mod header;
pub(crate) mod outgoing;
pub(crate) mod screenshot;

use std::net::IpAddr;

use bytes::Bytes;
use serde::Serialize;

use crate::url::Url;
use header::Header;

/// A recorded request with its response.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// The position in the recording, from 0, in the order of the responses in the file.
    pub index: usize,
    /// The request's method, as sent.
    pub method: String,
    /// The requested URL.
    pub url: Url,
    /// The request's fields in order; empty if the request was not recorded.
    pub request_headers: Vec<Header>,
    /// The request's body without transfer coding.
    pub request_body: Bytes,
    /// The response's status code, 100 to 999.
    pub status: u16,
    /// The reason phrase; empty if there was none (always over HTTP/2 and HTTP/3).
    pub reason: String,
    /// The response's fields in order, as recorded; [`crate::response_headers_to_send`] gives
    /// those that a replay sends.
    pub response_headers: Vec<Header>,
    /// The response's body, without transfer coding but with its content coding.
    pub body: Bytes,
    /// The server's address, if recorded.
    pub address: Option<IpAddr>,
    /// The recorded protocol (`http/1.0`, `http/1.1`, `h2`, `h3`).
    pub protocol: String,
    /// When the exchange was recorded, milliseconds since 1970 UTC; a label only.
    pub recorded_at_unix_ms: Option<i64>,
    /// The time from the request's last byte to the response's first, if recorded.
    pub time_to_first_byte_ms: Option<f64>,
    /// The URL of the document, style sheet or script that made the browser request this, if known.
    pub initiator: Option<String>,
}

impl Exchange {
    /// Returns the first response field called `name`, in any case, as text.
    pub fn response_header(&self, name: &str) -> Option<&str> {
        header::find(&self.response_headers, name)
    }

    /// Returns the first request field called `name`, in any case, as text.
    pub fn request_header(&self, name: &str) -> Option<&str> {
        header::find(&self.request_headers, name)
    }

    /// Whether the response's content type is HTML.
    pub fn is_html(&self) -> bool {
        let content_type = self.response_header("content-type").unwrap_or("");
        let media_type = content_type.split(';').next().unwrap_or("").trim();
        ["text/html", "application/xhtml+xml"]
            .iter()
            .any(|html| media_type.eq_ignore_ascii_case(html))
    }
}

/// A note about a record that the replay leaves out or corrects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The file; a member of a WACZ as `FILE!member`.
    pub file: String,
    /// The record's number, counted from 0.
    pub record: u64,
    /// The record's offset in that file, bytes.
    pub offset: u64,
    /// The note, one sentence.
    pub message: String,
}
