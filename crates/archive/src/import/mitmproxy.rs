//! Import of mitmproxy's flow files (`mitmdump -w FILE`).

use std::net::Ipv6Addr;
use std::path::Path;

use bytes::Bytes;

use super::refusal::Refusal;
use super::tnetstring::{self, Value};
use super::{Imported, blank};
use crate::budget::ReadBudget;
use crate::exchange::Exchange;
use crate::exchange::header::{self, Header};
use crate::limits::{HEAD_FIELDS_MAX, URL_BYTES_MAX};
use crate::url::Url;
use crate::whole::parse_declared_length;

/// Imports a file.
pub fn import(_: &Path, content: Bytes, imported: &mut Imported) -> Result<(), Refusal> {
    let mut budget = ReadBudget::for_file(content.len() as u64);
    let mut at = 0;
    while at < content.len() {
        let start = at;
        let flow = tnetstring::parse(&content, &mut at)
            .ok_or_else(|| format!("the flow at byte {start} is broken or cut off"))?;
        let flow = &flow;
        if flow.get("type").as_ref().and_then(Value::text) != Some("http") {
            imported.leave_out(format!("the flow at byte {start} is not HTTP"));
            continue;
        }
        match exchange(flow) {
            Ok(exchange) => {
                if lacks_body(flow, &exchange) {
                    let url = exchange.url.to_string();
                    let reason = "its request's body was streamed, not recorded, and is empty";
                    imported.alter(format!("{url:.300}: {reason}"));
                }
                imported
                    .push(exchange, &mut budget)
                    .map_err(|refusal| refusal.at(format!("the flow at byte {start}")))?;
            }
            Err(reason) => {
                let url = flow.get("request").and_then(|request| url(&request).ok());
                let of_url = url.map_or_else(String::new, |url| format!(" ({url})"));
                imported.leave_out(format!("the flow at byte {start}: {reason}{of_url:.300}"));
            }
        }
        if flow
            .get("websocket")
            .is_some_and(|value| !value.is_null_or_truth())
        {
            imported.leave_out(format!("the flow at byte {start}: a WebSocket's messages"));
        }
    }
    Ok(())
}

/// Returns whether a request had a body that the flow does not have.
fn lacks_body(flow: &Value, exchange: &Exchange) -> bool {
    let request = flow.get("request");
    let content = request.and_then(|request| request.get("content"));
    let length = parse_declared_length(&exchange.request_headers);
    let is_chunked = header::find(&exchange.request_headers, "transfer-encoding").is_some();
    let has_none = content.is_none_or(|content| content.is_null_or_truth());
    has_none && (is_chunked || length.is_some_and(|bytes| bytes > 0))
}

fn exchange(flow: &Value) -> Result<Exchange, String> {
    let request = &flow.get("request").ok_or("it has no request")?;
    let response = flow.get("response");
    let response = response.filter(|value| !value.is_null_or_truth());
    let response = &response.ok_or("it has no response")?;
    let url = url(request)?;
    let headers = fields(request)?;
    let ended = number(request, "timestamp_end").or(number(request, "timestamp_start"));
    let first = number(response, "timestamp_start");
    let waited = first.zip(ended).map(|(first, ended)| (first - ended) * 1e3);
    let status = number(response, "status_code");
    // Behind another proxy, the address is the proxy's.
    let is_direct = |server: &Value| server.get("via").is_none_or(|via| via.is_null_or_truth());
    let server = flow.get("server_conn").filter(is_direct);
    let server = server.as_ref();
    let peer = |name| server?.get(name)?.list().next()?.text()?.parse().ok();
    let content = |part: &Value| part.get("content")?.bytes().cloned();
    let body = content(response).ok_or("its body was streamed, not recorded")?;
    let version = text(response, "http_version")?;
    Ok(Exchange {
        method: text(request, "method")?,
        request_headers: headers,
        request_body: content(request).unwrap_or_default(),
        status: status.unwrap_or(0.0) as u16,
        reason: text(response, "reason")
            .unwrap_or_default()
            .trim()
            .to_owned(),
        response_headers: fields(response)?
            .into_iter()
            .filter(|header| !header.is("transfer-encoding"))
            .collect(),
        body,
        address: peer("peername").or_else(|| peer("ip_address")),
        protocol: match version.as_str() {
            "HTTP/2.0" | "HTTP/2" => "h2",
            "HTTP/3" | "HTTP/3.0" => "h3",
            "HTTP/1.0" => "http/1.0",
            _ => "http/1.1",
        }
        .to_owned(),
        recorded_at_unix_ms: number(request, "timestamp_start").map(|s| (s * 1e3) as i64),
        time_to_first_byte_ms: waited.map(|ms| ms.max(0.0)),
        ..blank(url)
    })
}

/// Returns the requested URL; a flow has IPv6 addresses without brackets.
fn url(request: &Value) -> Result<Url, String> {
    let (scheme, path) = (text(request, "scheme")?, text(request, "path")?);
    if !path.is_empty() && !path.starts_with('/') {
        // Behind the host it would name another one.
        return Err(format!("its path `{path:.100}` does not begin with `/`"));
    }
    let headers = fields(request)?;
    let authority = match header::find(&headers, "host") {
        Some(host) => host.to_owned(),
        None => text(request, "authority").unwrap_or_default(),
    };
    let authority = match authority.as_str() {
        "" => {
            let (host, port) = (
                text(request, "host")?,
                number(request, "port").unwrap_or(0.0),
            );
            format!("{}:{port}", bracket_ipv6(host))
        }
        _ => bracket_ipv6(authority),
    };
    let url = format!("{scheme}://{authority}{path}");
    url.parse()
        .map_err(|error: crate::UrlError| error.to_string())
}

fn bracket_ipv6(host: String) -> String {
    match host.parse::<Ipv6Addr>() {
        Ok(_) => format!("[{host}]"),
        Err(_) => host,
    }
}

fn number(part: &Value, name: &str) -> Option<f64> {
    part.get(name)?.number()
}

/// Returns a text that a message must have and that is no longer than a URL.
fn text(part: &Value, name: &str) -> Result<String, String> {
    let found = part.get(name);
    let found = found.as_ref().and_then(Value::text);
    let found = found.ok_or_else(|| format!("it has no {name}"))?;
    if found.len() > URL_BYTES_MAX {
        return Err(format!("its {name} has more than {URL_BYTES_MAX} bytes"));
    }
    Ok(found.to_owned())
}

fn fields(part: &Value) -> Result<Vec<Header>, String> {
    let Some(pairs) = part.get("headers") else {
        return Ok(Vec::new());
    };
    let mut headers = Vec::new();
    for pair in pairs.list() {
        if headers.len() == HEAD_FIELDS_MAX {
            return Err(format!("its head has more than {HEAD_FIELDS_MAX} fields"));
        }
        headers.extend(header(&pair));
    }
    Ok(headers)
}

/// Parses a header, or returns `None` if it is not a pair of name and value.
fn header(pair: &Value) -> Option<Header> {
    let mut parts = pair.list();
    let (Some(name), Some(value), None) = (parts.next(), parts.next(), parts.next()) else {
        return None;
    };
    let value = value.bytes()?;
    let value = value.slice_ref(value.trim_ascii());
    Some(Header::new(name.text()?, value))
}
