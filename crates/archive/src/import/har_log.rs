//! What of one entry of a HAR 1.2 is read.

use serde::Deserialize;

use super::json::list_of_fields;
use super::json_loose::{Number, UrlOf};
use crate::base64;

/// A request with its answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    pub request: Request,
    pub response: Response,
    pub started_date_time: Option<String>,
    #[serde(rename = "serverIPAddress")]
    pub server_ip_address: Option<String>,
    pub timings: Option<Timings>,
    /// What made the browser ask, as Chromium writes it.
    #[serde(rename = "_initiator")]
    pub initiator: Option<UrlOf>,
}

/// Durations, ms; below 0 where one does not apply.
#[derive(Deserialize)]
pub struct Timings {
    pub wait: Option<f64>,
    /// TLS included.
    pub connect: Option<Number>,
    pub ssl: Option<Number>,
}

/// What was asked.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    pub method: String,
    pub url: String,
    #[serde(default, deserialize_with = "list_of_fields")]
    pub headers: Vec<Field>,
    pub post_data: Option<PostData>,
}

/// A request's body.
#[derive(Deserialize)]
pub struct PostData {
    pub text: Option<String>,
}

/// What was answered.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    pub status: i64,
    #[serde(default)]
    pub status_text: String,
    #[serde(default)]
    pub http_version: String,
    #[serde(default, deserialize_with = "list_of_fields")]
    pub headers: Vec<Field>,
    pub content: Option<Content>,
}

/// A response's body.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Content {
    #[serde(default)]
    pub size: i64,
    pub mime_type: Option<String>,
    pub text: Option<String>,
    pub encoding: Option<String>,
    /// Our own exporter's: a body as it was sent.
    #[serde(default)]
    pub comment: String,
}

/// A header field.
#[derive(Deserialize)]
pub struct Field {
    pub name: String,
    pub value: String,
}

impl Response {
    /// Whether the HAR shows a body with it.
    pub fn has_body(&self) -> bool {
        let text = self
            .content
            .as_ref()
            .and_then(|content| content.text.as_ref());
        text.is_some_and(|text| !text.is_empty())
    }

    /// Makes a 304 the answer to who has no body yet: it answers only who has it already, and a
    /// browser without a cache needs it.
    ///
    /// A 304 may lack the body's type (RFC 9110, section 15.4.5), which stands beside the body.
    pub fn make_whole(&mut self) {
        (self.status, self.status_text) = (200, "OK".to_owned());
        let is_type = |field: &Field| field.name.eq_ignore_ascii_case("content-type");
        let has_type = self.headers.iter().any(is_type);
        let media_type = self
            .content
            .as_ref()
            .and_then(|content| content.mime_type.clone());
        // Browsers write `x-unknown` or nothing where they do not know it.
        if let (false, Some(value)) = (has_type, media_type.filter(|text| text.contains('/'))) {
            let name = "Content-Type".to_owned();
            self.headers.push(Field { name, value });
        }
    }
}

impl Content {
    /// Takes the body out; none where it was exported without.
    pub fn take_body(&mut self) -> Result<Option<Vec<u8>>, &'static str> {
        let Some(text) = self.text.take() else {
            return Ok(None);
        };
        if self.encoding.as_deref() != Some("base64") {
            return Ok(Some(text.into_bytes()));
        }
        let body = base64::decode(text);
        body.map(Some)
            .ok_or("its body is not the base64 that it says")
    }
}
