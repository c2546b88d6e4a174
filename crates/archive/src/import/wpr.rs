//! Web Page Replay's archives (Catapult's `wpr`, `.wprgo`): gzip over JSON, with each request and
//! response in HTTP/1.1 form as base64.

use std::collections::BTreeMap;
use std::path::Path;

use bytes::Bytes;
use serde::Deserialize;

use super::{Imported, blank};
use crate::base64;
use crate::budget::ReadBudget;
use crate::coding;
use crate::exchange::Exchange;
use crate::url::Url;
use crate::warc::http1;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Archive {
    /// Host -> URL -> its exchanges in recorded order.
    requests: BTreeMap<String, BTreeMap<String, Vec<Archived>>>,
    #[serde(default)]
    negotiated_protocol: BTreeMap<String, String>,
    #[serde(default)]
    deterministic_time_seed_ms: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Archived {
    serialized_request: String,
    serialized_response: String,
}

/// Reads one file.
pub fn import(_: &Path, content: Bytes, imported: &mut Imported) -> Result<(), String> {
    let mut budget = ReadBudget::for_file(content.len() as u64);
    let json = coding::gunzip(&content, budget.bytes_left())?;
    let mut keep = |exchange: &Exchange| {
        budget.keep_fields(&exchange.request_headers)?;
        budget.keep_fields(&exchange.response_headers)
    };
    let archive: Archive = serde_json::from_slice(&json).map_err(|error| error.to_string())?;
    for (host, by_url) in archive.requests {
        let protocol = match archive.negotiated_protocol.get(&host).map(String::as_str) {
            Some("h2") => "h2",
            _ => "http/1.1",
        };
        for (url, exchanges) in by_url {
            for archived in exchanges {
                let decoded = |text: &str| {
                    base64::decode(text)
                        .map(Bytes::from)
                        .ok_or_else(|| format!("{url:.300}: it is not the base64 that it says"))
                };
                let request = decoded(&archived.serialized_request)?;
                let response = decoded(&archived.serialized_response)?;
                match exchange(&url, &request, &response) {
                    Ok(mut exchange) => {
                        keep(&exchange).map_err(|damage| format!("{url:.300}: {damage}"))?;
                        exchange.protocol = protocol.to_owned();
                        let time = archive.deterministic_time_seed_ms;
                        exchange.recorded_at_unix_ms = (time > 0).then_some(time);
                        imported.push(exchange);
                    }
                    Err(reason) => imported.leave_out(format!("{:.300}: {reason}", url)),
                }
            }
        }
    }
    Ok(())
}

fn exchange(url: &str, request: &Bytes, response: &Bytes) -> Result<Exchange, String> {
    let url: Url = url
        .parse()
        .map_err(|error: crate::UrlError| error.to_string())?;
    let message = |bytes: &Bytes| http1::parse(bytes).map_err(|damage| damage.to_string());
    let (request, response) = (message(request)?, message(response)?);
    let decode = |message| http1::decode_body(message, None).map_err(|damage| damage.to_string());
    let (request_body, body) = (decode(&request)?, decode(&response)?);
    let line = http1::parse_status_line(&response.start_line).map_err(|e| e.to_string())?;
    Ok(Exchange {
        method: http1::parse_method(&request.start_line).map_err(|e| e.to_string())?,
        request_body,
        request_headers: request.headers,
        status: line.status,
        reason: line.reason,
        body,
        response_headers: response.headers,
        ..blank(url)
    })
}
