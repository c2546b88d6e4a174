//! Export as HAR 1.2 with bodies.

use std::path::Path;

use serde_json::{Value, json};

use super::io_error;
use crate::base64;
use crate::budget::ReadBudget;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::exchange::header::Header;
use crate::import::har_body::AS_SENT;
use crate::limits::INFLATED_BYTES_MAX;
use crate::site::Site;
use crate::timestamp;

const PAGE: &str = "page_1";

/// Writes a HAR. Bodies are decoded, as the format requires, if their coding is supported; others
/// are stored as sent, with a comment that says so.
pub fn export_har(site: &Site, out: &Path) -> Result<(), Error> {
    let mut budget = ReadBudget::for_bodies(site.exchanges());
    let exchanges = site.exchanges().iter();
    let entries: Vec<Value> = exchanges.map(|each| entry(each, &mut budget)).collect();
    let began = site
        .exchanges()
        .iter()
        .filter_map(|each| each.recorded_at_unix_ms)
        .min();
    let har = json!({"log": {
        "version": "1.2",
        "creator": {"name": "eyelevel", "version": env!("CARGO_PKG_VERSION")},
        // Optional in HAR 1.2, but readers fail without it (har2warc, PageXray).
        "pages": [{
            "startedDateTime": timestamp::format(began.unwrap_or(0)), "id": PAGE,
            "title": site.main_url().to_string(),
            "pageTimings": {"onContentLoad": -1, "onLoad": -1},
        }],
        "entries": entries,
    }});
    let text = serde_json::to_vec(&har).expect("texts and numbers are JSON");
    std::fs::write(out, text).map_err(io_error("write", out))
}

fn entry(exchange: &Exchange, budget: &mut ReadBudget) -> Value {
    let wait = exchange.time_to_first_byte_ms.unwrap_or(0.0);
    let version = match exchange.protocol.as_str() {
        "h2" => "HTTP/2",
        "h3" => "HTTP/3",
        "http/1.0" => "HTTP/1.0",
        _ => "HTTP/1.1",
    };
    let decoded = exchange.decoded_body_within(INFLATED_BYTES_MAX, budget);
    let comment = if decoded.is_some() { "" } else { AS_SENT };
    let body = decoded.as_deref().unwrap_or(&exchange.body);
    let mut request = json!({
        "method": exchange.method, "url": exchange.url.to_string(), "httpVersion": version,
        "cookies": request_cookies(exchange), "headers": fields(&exchange.request_headers),
        "queryString": pairs(exchange.url.query().unwrap_or("").as_bytes()),
        "headersSize": -1, "bodySize": exchange.request_body.len(),
    });
    if !exchange.request_body.is_empty() {
        let media_type = exchange.request_header("content-type").unwrap_or("");
        let is_form = media_type.split(';').next().unwrap_or("").trim();
        let is_form = is_form.eq_ignore_ascii_case("application/x-www-form-urlencoded");
        let text = std::str::from_utf8(&exchange.request_body);
        let base64 = text
            .is_err()
            .then(|| base64::encode(&exchange.request_body));
        request["postData"] = json!({
            "mimeType": media_type,
            "text": base64.as_deref().or(text.ok()),
            "params": if is_form { pairs(&exchange.request_body) } else { Vec::new() },
        });
        // HAR 1.2 defines `encoding` for responses only, but has no other way to hold bytes that
        // are not text.
        if base64.is_some() {
            request["postData"]["encoding"] = json!("base64");
        }
    }
    let mut entry = json!({
        "pageref": PAGE,
        "startedDateTime": timestamp::format(exchange.recorded_at_unix_ms.unwrap_or(0)),
        "time": wait, "cache": {}, "timings": {"send": 0, "wait": wait, "receive": 0},
        "request": request,
        "response": {
            "status": exchange.status, "statusText": exchange.reason, "httpVersion": version,
            "cookies": response_cookies(exchange), "headers": fields(&exchange.response_headers),
            "redirectURL": exchange.response_header("location").unwrap_or(""),
            "headersSize": -1, "bodySize": exchange.body.len(),
            "content": {
                "size": body.len(), "compression": body.len() as i64 - exchange.body.len() as i64,
                "encoding": "base64", "text": base64::encode(body),
                "mimeType": exchange.response_header("content-type").unwrap_or(""),
                "comment": comment,
            },
        },
    });
    if let Some(address) = exchange.address {
        entry["serverIPAddress"] = json!(address.to_string());
    }
    if let Some(initiator) = &exchange.initiator {
        entry["_initiator"] = json!({"type": "other", "url": initiator});
    }
    entry
}

/// Decodes the names and values of a query or a form.
fn pairs(text: &[u8]) -> Vec<Value> {
    form_urlencoded::parse(text)
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect()
}

/// Returns the cookies of all `cookie` fields (RFC 6265, section 4.2.1).
fn request_cookies(exchange: &Exchange) -> Vec<Value> {
    values(&exchange.request_headers, "cookie")
        .iter()
        .flat_map(|value| value.split(';'))
        .filter(|cookie| !cookie.trim().is_empty())
        .map(|cookie| {
            let (name, value) = cut(cookie);
            json!({"name": name, "value": value})
        })
        .collect()
}

/// Returns the cookies that `set-cookie` fields set (RFC 6265, section 5.2). HAR requires their
/// dates in ISO 8601, so dates in other formats are left out.
fn response_cookies(exchange: &Exchange) -> Vec<Value> {
    let fields = values(&exchange.response_headers, "set-cookie");
    let cookies = fields.iter().map(|field| {
        let mut parts = field.split(';');
        let (name, value) = cut(parts.next().unwrap_or(""));
        let mut cookie = json!({"name": name, "value": value, "httpOnly": false, "secure": false});
        for (attribute, value) in parts.map(cut) {
            match &*attribute.to_ascii_lowercase() {
                "path" => cookie["path"] = json!(value),
                "domain" => cookie["domain"] = json!(value),
                "httponly" => cookie["httpOnly"] = json!(true),
                "secure" => cookie["secure"] = json!(true),
                _ => {}
            }
        }
        cookie
    });
    cookies.collect()
}

fn values(headers: &[Header], name: &str) -> Vec<String> {
    let named = headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case(name));
    named.map(|header| value_text(&header.value)).collect()
}

fn cut(text: &str) -> (&str, &str) {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    (name.trim(), value.trim())
}

fn fields(headers: &[Header]) -> Vec<Value> {
    let field = |header: &Header| json!({"name": header.name, "value": value_text(&header.value)});
    headers.iter().map(field).collect()
}

/// Returns a field value as text. One that is not in UTF-8 has a character for each byte.
fn value_text(value: &[u8]) -> String {
    let latin1 = || value.iter().map(|&byte| char::from(byte)).collect();
    std::str::from_utf8(value).map_or_else(|_| latin1(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_keeps_its_letters_in_either_charset() {
        for value in [&b"\xc3\xbcber"[..], b"\xfcber"] {
            let field = Header::new("Location", value.to_vec());
            assert_eq!(fields(&[field])[0]["value"], "über");
        }
    }
}
