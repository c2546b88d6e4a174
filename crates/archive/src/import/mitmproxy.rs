//! mitmproxy's flow files (`mitmdump -w FILE`).

use std::path::Path;

use bytes::Bytes;

use super::tnetstring::{self, Value};
use super::{Imported, blank};
use crate::exchange::Exchange;
use crate::exchange::header::Header;
use crate::url::Url;

/// Reads one file.
pub fn import(_: &Path, content: Bytes, imported: &mut Imported) -> Result<(), String> {
    let mut at = 0;
    while at < content.len() {
        let start = at;
        let flow = tnetstring::parse(&content, &mut at)
            .ok_or_else(|| format!("the flow at byte {start} is broken or cut off"))?;
        if flow.get("type").and_then(Value::text) != Some("http") {
            imported.leave_out(format!("the flow at byte {start} is not HTTP"));
            continue;
        }
        match exchange(&flow) {
            Ok(exchange) => imported.push(exchange),
            Err(reason) => imported.leave_out(format!("the flow at byte {start}: {reason}")),
        }
        if flow
            .get("websocket")
            .is_some_and(|value| *value != Value::Other)
        {
            imported.leave_out(format!("the flow at byte {start}: a WebSocket's messages"));
        }
    }
    Ok(())
}

fn exchange(flow: &Value) -> Result<Exchange, String> {
    let request = flow.get("request").ok_or("it has no request")?;
    let response = flow.get("response").filter(|value| **value != Value::Other);
    let response = response.ok_or("it has no response")?;
    let text = |part: &Value, name: &str| {
        let found = part.get(name).and_then(Value::text).map(str::to_owned);
        found.ok_or_else(|| format!("it has no {name}"))
    };
    let time = |part: &Value, name: &str| part.get(name).and_then(Value::number);
    let port = request.get("port").and_then(Value::number).unwrap_or(0.0);
    let (scheme, path) = (text(request, "scheme")?, text(request, "path")?);
    let named = request.get("authority").and_then(Value::text).unwrap_or("");
    let headers = fields(request);
    let host = crate::exchange::header::find(&headers, "host").unwrap_or(named);
    let authority = match host {
        "" => format!("{}:{port}", text(request, "host")?),
        host => host.to_owned(),
    };
    let url: Url = format!("{scheme}://{authority}{path}")
        .parse()
        .map_err(|error: crate::UrlError| error.to_string())?;
    let ended = time(request, "timestamp_end").or(time(request, "timestamp_start"));
    let first = time(response, "timestamp_start");
    let waited = first.zip(ended).map(|(first, ended)| (first - ended) * 1e3);
    let status = response.get("status_code").and_then(Value::number);
    let server = flow.get("server_conn");
    let peer = |name| server?.get(name)?.list().first()?.text()?.parse().ok();
    let content = |part: &Value| part.get("content").and_then(Value::bytes).cloned();
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
        response_headers: fields(response)
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
        recorded_at_unix_ms: time(request, "timestamp_start").map(|s| (s * 1e3) as i64),
        time_to_first_byte_ms: waited.map(|ms| ms.max(0.0)),
        ..blank(url)
    })
}

fn fields(part: &Value) -> Vec<Header> {
    let pairs = part.get("headers").map_or(&[][..], Value::list).iter();
    let header = |pair: &Value| {
        let [name, value] = pair.list() else {
            return None;
        };
        let value = value.bytes()?;
        Some(Header::new(
            name.text()?,
            value.slice_ref(value.trim_ascii()),
        ))
    };
    pairs.filter_map(header).collect()
}
