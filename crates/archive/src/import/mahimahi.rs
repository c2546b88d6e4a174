//! Import of Mahimahi's recordings: a folder of protobuf files, one per exchange, in no order.
//!
//! Two layouts are read. The current one (<https://github.com/ravinet/mahimahi>,
//! `http_record.proto`) has the address, the port and the scheme's number in fields 1, 2 and 3, and
//! headers as pairs. That of January 2014 (<https://github.com/ravinet/sites>, the 500 sites of Das
//! 2014) has the port, the scheme's name and the address there; lines keep their CRLF, headers are
//! lines, and a body begins with the empty line before it.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::protobuf::{self, Value};
use super::refusal::Refusal;
use super::{Imported, blank};
use crate::budget::ReadBudget;
use crate::exchange::header::Header;
use crate::limits::{EXCHANGES_MAX, HEAD_FIELDS_MAX, HTTP_HEAD_BYTES_MAX};
use crate::map::map_file;
use crate::timestamp;
use crate::url::Url;
use crate::warc::http1::{self, Message};

/// The value of the field `scheme` for https.
const SCHEME_HTTPS: u64 = 2;

/// The layout of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Headers as pairs, since the autumn of 2014.
    Pairs,
    /// Headers as lines, of January 2014.
    Lines,
}

/// Imports a folder. Exchanges are sorted by their `Date` fields, then by file name.
pub fn import(folder: &Path, _: Bytes, imported: &mut Imported) -> Result<(), Refusal> {
    let listed = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
    let (mut files, mut folder_bytes) = (Vec::new(), 0);
    for entry in listed {
        let path = entry.map_err(|error| error.to_string())?.path();
        let Some(metadata) = path.metadata().ok().filter(Metadata::is_file) else {
            continue;
        };
        if files.len() == EXCHANGES_MAX {
            let reason = format!("it has more than {EXCHANGES_MAX} files");
            return Err(Refusal::too_large(reason));
        }
        folder_bytes += metadata.len();
        files.push(path);
    }
    files.sort_unstable();
    let mut budget = ReadBudget::for_file(folder_bytes);
    let first = imported.exchanges.len();
    let mut broken = Vec::new();
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let content = map_file(file).map_err(|error| error.to_string())?;
        if let Err(reason) = take(&content, imported, &mut budget, &format!("{name}: "))? {
            broken.push(reason);
        }
    }
    // A file is one exchange, or lies beside them; if all are broken, the folder is another tool's.
    if broken.len() == files.len()
        && let Some(reason) = broken.first()
    {
        let is_har = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "har");
        return Err(match files.iter().any(is_har) {
            true => Refusal::with_remedy(
                "it holds HARs, and a folder is read as a Mahimahi recording; give the files",
            ),
            false => reason.clone().into(),
        });
    }
    for reason in broken {
        imported.leave_out(reason);
    }
    imported.exchanges[first..].sort_by_key(|exchange| {
        let date = exchange.response_header("date");
        date.and_then(timestamp::parse_http).unwrap_or(i64::MAX)
    });
    Ok(())
}

/// Imports one file of a folder.
pub fn import_file(_: &Path, content: Bytes, imported: &mut Imported) -> Result<(), Refusal> {
    let mut budget = ReadBudget::for_file(content.len() as u64);
    take(&content, imported, &mut budget, "")?.map_err(Refusal::from)
}

/// Imports one file's exchange; `place` is the prefix of messages about it. The inner error states
/// why the file is none.
fn take(
    content: &Bytes,
    imported: &mut Imported,
    budget: &mut ReadBudget,
    place: &str,
) -> Result<Result<(), String>, Refusal> {
    match exchange(content, budget) {
        Ok(exchange) => imported
            .push(exchange, budget)
            .map_err(|refusal| refusal.at(place.trim_end_matches(": ")))?,
        Err(Problem::Unusable(reason)) => imported.leave_out(format!("{place}{reason}")),
        Err(Problem::Broken(reason)) => return Ok(Err(format!("{place}{reason}"))),
    }
    Ok(Ok(()))
}

enum Problem {
    /// The file is damaged or not a Mahimahi recording.
    Broken(String),
    /// The file is a recording that cannot be replayed.
    Unusable(String),
}

fn exchange(content: &Bytes, budget: &mut ReadBudget) -> Result<crate::Exchange, Problem> {
    let (mut scheme, mut address, mut request, mut response) = (None, None, None, None);
    let mut layout = Layout::Pairs;
    for field in protobuf::fields(content) {
        match field.map_err(Problem::Broken)? {
            (2, value @ Value::Bytes(_)) => {
                layout = Layout::Lines;
                scheme = scheme.or(Some(value));
            }
            (1 | 3, value @ Value::Bytes(_)) => address = address.or(Some(value)),
            (3, value) => scheme = scheme.or(Some(value)),
            (4, value) => request = request.or(Some(value)),
            (5, value) => response = response.or(Some(value)),
            _ => {}
        }
    }
    let message = |value: Option<Value>, what: &str| {
        let bytes = value.as_ref().and_then(Value::bytes);
        let bytes = bytes.ok_or_else(|| Problem::Broken(format!("it has no {what}")))?;
        parse_message(bytes, layout).map_err(Problem::Broken)
    };
    let (request, response) = (message(request, "request")?, message(response, "response")?);
    let is_secure = match &scheme {
        Some(Value::Number(number)) => *number == SCHEME_HTTPS,
        Some(name) => name.text() == Some("HTTPS"),
        None => false,
    };
    let scheme = if is_secure { "https" } else { "http" };
    let mut words = request.start_line.split(' ');
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or("/"));
    let host = crate::exchange::header::find(&request.headers, "host").unwrap_or("");
    let unusable = |reason: String| Problem::Unusable(reason);
    if host.trim().is_empty() && !target.starts_with("http") {
        // Its path would be taken for the host.
        return Err(unusable(format!(
            "its request for `{target:.100}` names no host"
        )));
    }
    let url: Url = match target.starts_with("http") {
        true => target.parse(),
        false => format!("{scheme}://{host}{target}").parse(),
    }
    .map_err(|error: crate::UrlError| unusable(error.to_string()))?;
    let line = http1::parse_status_line(&response.start_line)
        .map_err(|damage| unusable(format!("{url}: {damage}")))?;
    let mut decode = |message: &Message| {
        let body = http1::decode_body(message, None, budget);
        body.map_err(|damage| unusable(format!("{url}: {damage}")))
    };
    let address = address.and_then(|value| value.text()?.parse().ok());
    let (body, request_body) = (decode(&response)?, decode(&request)?);
    Ok(crate::Exchange {
        method: method.to_owned(),
        request_headers: request.headers,
        request_body,
        status: line.status,
        reason: line.reason,
        response_headers: response.headers,
        body,
        address,
        protocol: line.protocol.to_owned(),
        ..blank(url)
    })
}

fn parse_message(bytes: &Bytes, layout: Layout) -> Result<Message, String> {
    let mut message = Message {
        start_line: String::new(),
        headers: Vec::new(),
        raw_body: Bytes::new(),
    };
    for field in protobuf::fields(bytes) {
        let (number, Value::Bytes(bytes)) = field? else {
            continue;
        };
        match number {
            1 if bytes.len() > HTTP_HEAD_BYTES_MAX => {
                return Err(format!(
                    "its first line has more than {HTTP_HEAD_BYTES_MAX} bytes"
                ));
            }
            1 => message.start_line = String::from_utf8_lossy(bytes.trim_ascii()).into_owned(),
            2 if message.headers.len() == HEAD_FIELDS_MAX => {
                return Err(format!("its head has more than {HEAD_FIELDS_MAX} fields"));
            }
            2 if layout == Layout::Lines => message.headers.extend(header_line(&bytes)),
            2 => message.headers.extend(header(&bytes)?),
            3 if layout == Layout::Lines && bytes.starts_with(b"\r\n") => {
                message.raw_body = bytes.slice(2..);
            }
            3 => message.raw_body = bytes,
            _ => {}
        }
    }
    Ok(message)
}

/// Parses a header line, or returns `None` if it has no colon.
fn header_line(line: &Bytes) -> Option<Header> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let name = std::str::from_utf8(&line[..colon]).ok()?;
    let value = line.slice_ref(line[colon + 1..].trim_ascii());
    Some(Header::new(name.trim(), value))
}

/// Parses a header pair, or returns `None` if the name or the value is missing.
fn header(pair: &Bytes) -> Result<Option<Header>, String> {
    let (mut name, mut value) = (None, None);
    for field in protobuf::fields(pair) {
        match field? {
            (1, found) => name = name.or(Some(found)),
            (2, found) => value = value.or(Some(found)),
            _ => {}
        }
    }
    let name = name.as_ref().and_then(Value::text);
    let value = value.as_ref().and_then(Value::bytes);
    Ok(name.zip(value).map(|(name, value)| {
        let value = value.slice_ref(value.trim_ascii());
        Header::new(name.trim(), value)
    }))
}
