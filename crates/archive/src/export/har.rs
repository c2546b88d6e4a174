//! HAR 1.2 with bodies.

use std::path::Path;

use serde_json::{Value, json};

use super::io_error;
use crate::base64;
use crate::budget::ReadBudget;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::exchange::header::Header;
use crate::import::har::AS_SENT;
use crate::limits::INFLATED_BYTES_MAX;
use crate::site::Site;
use crate::timestamp;

/// Writes one HAR. Its bodies are decoded, as the format wants it, where their coding can be
/// undone; others stand as sent, which their comment says.
pub fn export_har(site: &Site, out: &Path) -> Result<(), Error> {
    let mut budget = ReadBudget::for_bodies(site.exchanges());
    let exchanges = site.exchanges().iter();
    let entries: Vec<Value> = exchanges.map(|each| entry(each, &mut budget)).collect();
    let har = json!({"log": {
        "version": "1.2",
        "creator": {"name": "eyelevel", "version": env!("CARGO_PKG_VERSION")},
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
        "cookies": [], "headers": fields(&exchange.request_headers), "queryString": [],
        "headersSize": -1, "bodySize": exchange.request_body.len(),
    });
    if !exchange.request_body.is_empty() {
        request["postData"] = json!({
            "mimeType": exchange.request_header("content-type").unwrap_or(""),
            "text": String::from_utf8_lossy(&exchange.request_body),
        });
    }
    let mut entry = json!({
        "startedDateTime": timestamp::format(exchange.recorded_at_unix_ms.unwrap_or(0)),
        "time": wait, "cache": {}, "timings": {"send": 0, "wait": wait, "receive": 0},
        "request": request,
        "response": {
            "status": exchange.status, "statusText": exchange.reason, "httpVersion": version,
            "cookies": [], "headers": fields(&exchange.response_headers),
            "redirectURL": exchange.response_header("location").unwrap_or(""),
            "headersSize": -1, "bodySize": exchange.body.len(),
            "content": {
                "size": body.len(), "encoding": "base64", "text": base64::encode(body),
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

fn fields(headers: &[Header]) -> Vec<Value> {
    let field = |header: &Header| json!({"name": header.name, "value": String::from_utf8_lossy(&header.value)});
    headers.iter().map(field).collect()
}
