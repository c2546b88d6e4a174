//! Mahimahi's recordings: a folder of protobuf files, one an exchange, in no order.

use std::path::Path;

use bytes::Bytes;

use super::protobuf::{self, Value};
use super::{Imported, blank};
use crate::exchange::header::Header;
use crate::map::map_file;
use crate::timestamp;
use crate::url::Url;
use crate::warc::http1::{self, Message};

/// Files of one folder; the largest known recordings have some hundreds.
const FILES_MAX: usize = 100_000;
/// The number that stands for https in the field `scheme`.
const SCHEME_HTTPS: u64 = 2;

/// Reads a folder. Its exchanges are put in the order of their `Date` fields, then of their names.
pub fn import(folder: &Path, _: Bytes, imported: &mut Imported) -> Result<(), String> {
    let listed = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
    let mut files: Vec<_> = listed
        .take(FILES_MAX)
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file())
        .collect();
    files.sort_unstable();
    let mut exchanges = Vec::with_capacity(files.len());
    for file in &files {
        let content = map_file(file).map_err(|error| error.to_string())?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        match exchange(&content) {
            Ok(exchange) => exchanges.push(exchange),
            Err(Problem::Unusable(reason)) => imported.leave_out(format!("{name}: {reason}")),
            Err(Problem::Broken(reason)) => return Err(format!("{name}: {reason}")),
        }
    }
    exchanges.sort_by_key(|exchange| {
        let date = exchange.response_header("date");
        date.and_then(timestamp::parse_http).unwrap_or(i64::MAX)
    });
    exchanges.into_iter().for_each(|each| imported.push(each));
    Ok(())
}

/// Reads one file of a folder.
pub fn import_file(_: &Path, content: Bytes, imported: &mut Imported) -> Result<(), String> {
    match exchange(&content) {
        Ok(exchange) => imported.push(exchange),
        Err(Problem::Unusable(reason)) => imported.leave_out(reason),
        Err(Problem::Broken(reason)) => return Err(reason),
    }
    Ok(())
}

enum Problem {
    /// The file is no recording of Mahimahi, or damaged.
    Broken(String),
    /// It is one, but nothing that can be replayed.
    Unusable(String),
}

fn exchange(content: &Bytes) -> Result<crate::Exchange, Problem> {
    let fields = protobuf::fields(content).map_err(Problem::Broken)?;
    let field = |number| fields.iter().find(|(found, _)| *found == number);
    let message = |number: u64, what: &str| {
        let bytes = field(number).and_then(|(_, value)| value.bytes());
        let bytes = bytes.ok_or_else(|| Problem::Broken(format!("it has no {what}")))?;
        parse_message(bytes).map_err(Problem::Broken)
    };
    let (request, response) = (message(4, "request")?, message(5, "response")?);
    let is_secure = matches!(field(3), Some((_, Value::Number(SCHEME_HTTPS))));
    let scheme = if is_secure { "https" } else { "http" };
    let mut words = request.start_line.split(' ');
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or("/"));
    let host = crate::exchange::header::find(&request.headers, "host").unwrap_or("");
    let unusable = |reason: String| Problem::Unusable(reason);
    let url: Url = match target.starts_with("http") {
        true => target.parse(),
        false => format!("{scheme}://{host}{target}").parse(),
    }
    .map_err(|error: crate::UrlError| unusable(error.to_string()))?;
    let line = http1::parse_status_line(&response.start_line)
        .map_err(|damage| unusable(format!("{url}: {damage}")))?;
    let decode = |message: &Message| {
        http1::decode_body(message, None).map_err(|damage| unusable(format!("{url}: {damage}")))
    };
    let address = field(1).and_then(|(_, value)| value.text()?.parse().ok());
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

fn parse_message(bytes: &Bytes) -> Result<Message, String> {
    let mut message = Message {
        start_line: String::new(),
        headers: Vec::new(),
        raw_body: Bytes::new(),
    };
    for (number, value) in protobuf::fields(bytes)? {
        let Value::Bytes(bytes) = value else { continue };
        match number {
            1 => message.start_line = String::from_utf8_lossy(bytes.trim_ascii()).into_owned(),
            2 => {
                let pair = protobuf::fields(&bytes)?;
                let part = |number| pair.iter().find(|(found, _)| *found == number);
                let name = part(1).and_then(|(_, value)| value.text());
                let value = part(2).and_then(|(_, value)| value.bytes());
                if let (Some(name), Some(value)) = (name, value) {
                    let value = value.slice_ref(value.trim_ascii());
                    message.headers.push(Header::new(name.trim(), value));
                }
            }
            3 => message.raw_body = bytes,
            _ => {}
        }
    }
    Ok(message)
}
