//! HAR 1.2 with bodies, as browsers and their tools export it.
//!
//! A HAR holds bodies as they were shown, not as they were sent. Those that came with a content
//! coding are compressed again, with brotli or gzip, which the provenance tells: their sizes are not
//! those of the recording. The body that a browser's cache gave stands with the status 304; such an
//! answer becomes a whole one, which the provenance tells, too.

use std::collections::HashSet;
use std::path::Path;

use bytes::Bytes;
use serde_json::value::RawValue;

use super::har_handshakes::HarHandshakes;
use super::har_log::{Content, Entry, Field, Timings};
use super::json::{self, Elements, Member};
use super::{Imported, blank};
use crate::budget::ReadBudget;
use crate::coding;
use crate::error::Damage;
use crate::exchange::Exchange;
use crate::exchange::header::Header;
use crate::limits::{HAR_BYTES_MAX, HEAD_FIELDS_MAX};
use crate::timestamp;
use crate::url::Url;

/// The comment of a body whose coding this project's exporter could not undo.
pub const AS_SENT: &str = "as sent, content coding kept";
const NOT_MODIFIED: u16 = 304;

/// Reads one file.
pub fn import(_: &Path, content: Bytes, imported: &mut Imported) -> Result<(), String> {
    let json = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&content);
    if json.len() > HAR_BYTES_MAX {
        return Err(format!("it has more than {HAR_BYTES_MAX} bytes"));
    }
    let first = imported.exchanges.len();
    let mut reading = Reading {
        budget: ReadBudget::for_file(json.len() as u64),
        imported,
        entries: 0,
        compressed: 0,
        from_cache: 0,
        handshakes: HarHandshakes::default(),
    };
    let mut broken = None;
    let entries = Elements::new(|entry: &RawValue| {
        reading.read(entry.get()).map_err(|fault| match fault {
            Fault::Json(error) => {
                broken = Some(json::placed(&error, entry.get(), json));
                String::new()
            }
            Fault::Refused(reason) => reason,
        })
    });
    let read = json::read(json, Member::new("log", Member::new("entries", entries)));
    read.map_err(|error| broken.unwrap_or(error))?;
    let Reading {
        compressed,
        from_cache,
        handshakes,
        ..
    } = reading;
    handshakes.told_to(&mut imported.provenance);
    leave_out_not_modified(imported, first);
    if compressed > 0 {
        imported.provenance.altered.push(format!(
            "{compressed} bodies, which a HAR holds decoded, were compressed again: \
             their sizes are not the recorded ones"
        ));
    }
    if from_cache > 0 {
        imported.provenance.altered.push(format!(
            "{from_cache} answers with status 304 became 200 with the body that the browser had in \
             its cache: their sizes and fields are not the recorded ones"
        ));
    }
    Ok(())
}

/// One file's entries as they come.
struct Reading<'a> {
    imported: &'a mut Imported,
    budget: ReadBudget,
    entries: usize,
    compressed: usize,
    from_cache: usize,
    handshakes: HarHandshakes,
}

/// Why an entry ends the reading.
enum Fault {
    Json(serde_json::Error),
    Refused(String),
}

impl Reading<'_> {
    /// Reads an entry of which nothing has been copied yet, where what that takes is left.
    fn read(&mut self, json: &str) -> Result<(), Fault> {
        let place = |damage: Damage| format!("entry {}: {damage}", self.entries);
        let room = self.budget.check_room(bytes_at_once_max(json));
        room.map_err(|damage| Fault::Refused(place(damage)))?;
        let entry = serde_json::from_str(json).map_err(Fault::Json)?;
        self.take(entry).map_err(Fault::Refused)
    }

    fn take(&mut self, mut entry: Entry) -> Result<(), String> {
        let number = self.entries;
        self.entries += 1;
        let url = entry.request.url.clone();
        let place = |reason: String| format!("entry {number}, {url:.300}: {reason}");
        let is_cached =
            entry.response.status == i64::from(NOT_MODIFIED) && entry.response.has_body();
        if is_cached {
            entry.response.make_whole();
            self.from_cache += 1;
        }
        let content = entry.response.content.as_mut();
        let body = content.map_or(Ok(None), Content::take_body);
        let body = body.map_err(|reason| place(reason.to_owned()))?;
        let timings = entry.timings.take();
        match exchange(entry, body, timings.as_ref()) {
            Ok((exchange, was_compressed)) => {
                if let Some(timings) = &timings {
                    self.handshakes.add(&exchange, timings);
                }
                let bytes = exchange.body.len() + exchange.request_body.len();
                let kept = self.budget.keep(bytes as u64);
                kept.map_err(|damage| place(damage.to_string()))?;
                self.compressed += usize::from(was_compressed);
                self.imported
                    .push(exchange, &mut self.budget)
                    .map_err(place)
            }
            Err(reason) => {
                self.imported.leave_out(format!("{url:.300}: {reason}"));
                Ok(())
            }
        }
    }
}

/// What an entry takes while it is read, at most: each of its texts stands twice, as it was and as a
/// field or as a body that is compressed again. Where it has escapes, the reader of JSON holds the
/// longest text once more.
fn bytes_at_once_max(json: &str) -> u64 {
    let copies = if json.contains('\\') { 3 } else { 2 };
    copies * json.len() as u64
}

/// A 304 without a body answers who has the body: it stays where another exchange of the same file
/// has it.
fn leave_out_not_modified(imported: &mut Imported, first: usize) {
    let of_file = imported.exchanges.split_off(first);
    let with_body = of_file.iter().filter(|exchange| !exchange.body.is_empty());
    let shown: HashSet<&Url> = with_body.map(|exchange| &exchange.url).collect();
    let stays: Vec<bool> = of_file
        .iter()
        .map(|exchange| exchange.status != NOT_MODIFIED || shown.contains(&exchange.url))
        .collect();
    for (exchange, stays) in of_file.into_iter().zip(stays) {
        if stays {
            imported.exchanges.push(exchange);
            continue;
        }
        let reason = "it has the status 304 and no body, which the browser had already; \
                      record it with an empty cache";
        imported.leave_out(format!("{:.300}: {reason}", exchange.url.to_string()));
    }
}

fn exchange(
    entry: Entry,
    body: Option<Vec<u8>>,
    timings: Option<&Timings>,
) -> Result<(Exchange, bool), String> {
    let Entry {
        request, response, ..
    } = entry;
    let url: Url = request
        .url
        .parse()
        .map_err(|e: crate::UrlError| e.reason.to_owned())?;
    let status = u16::try_from(response.status).unwrap_or(0);
    if status < 200 {
        return Err(format!("it has the status {}", response.status));
    }
    let has_no_body = request.method == "HEAD" || [204, 304].contains(&status);
    let content = response.content.unwrap_or(Content {
        size: 0,
        mime_type: None,
        text: None,
        encoding: None,
        comment: String::new(),
    });
    let is_text = content.encoding.is_none() && body.is_some();
    let body = match body {
        Some(body) => body,
        None if content.size <= 0 || has_no_body => Vec::new(),
        None => return Err("the HAR has no body for it; export it with bodies".to_owned()),
    };
    let mut headers = kept(response.headers)?;
    if is_text {
        headers.iter_mut().for_each(as_utf8);
    }
    let coded = headers
        .iter()
        .position(|header| header.is("content-encoding"));
    let is_coded = coded.is_some_and(|at| !coding::is_identity(headers[at].text().unwrap_or("")));
    let was_compressed = is_coded && !body.is_empty() && content.comment != AS_SENT;
    let body = match (coded, was_compressed) {
        (Some(at), true) => {
            let (coded_as, coded) = coding::encode(headers[at].text().unwrap_or(""), &body);
            headers[at].value = coded_as.into();
            coded
        }
        _ => body.into(),
    };
    headers.retain(|header| !header.is("transfer-encoding"));
    let post = request
        .post_data
        .and_then(|data| data.text)
        .unwrap_or_default();
    let started = entry.started_date_time.as_deref();
    let exchange = Exchange {
        method: request.method,
        request_headers: kept(request.headers)?,
        request_body: post.into(),
        status,
        reason: response.status_text.trim().replace(['\r', '\n'], " "),
        response_headers: headers,
        body,
        address: entry
            .server_ip_address
            .and_then(|text| text.trim_matches(['[', ']']).parse().ok()),
        protocol: protocol(&response.http_version).to_owned(),
        recorded_at_unix_ms: started.and_then(timestamp::parse_with_offset),
        time_to_first_byte_ms: timings
            .and_then(|timings| timings.wait)
            .filter(|wait| *wait >= 0.0),
        initiator: entry
            .initiator
            .and_then(|initiator| Some(initiator.0?.parse::<Url>().ok()?.to_string())),
        ..blank(url)
    };
    Ok((exchange, was_compressed))
}

/// Without the pseudo fields of HTTP/2; a field that stands on several lines becomes several.
fn kept(fields: Vec<Field>) -> Result<Vec<Header>, String> {
    let mut headers = Vec::with_capacity(fields.len());
    for Field { name, value } in fields {
        if name.is_empty() || name.starts_with(':') {
            continue;
        }
        let name = name.trim();
        let lines = value.split(['\r', '\n']).filter(|line| !line.is_empty());
        let room = HEAD_FIELDS_MAX - headers.len();
        headers.extend(
            lines
                .take(room)
                .map(|line| Header::new(name, line.trim().to_owned())),
        );
        if value.is_empty() {
            headers.push(Header::new(name, ""));
        }
        if headers.len() >= HEAD_FIELDS_MAX {
            return Err(format!("its head has {HEAD_FIELDS_MAX} fields or more"));
        }
    }
    Ok(headers)
}

/// A HAR's texts are Unicode, whatever they were sent in.
fn as_utf8(header: &mut Header) {
    let Some((kind, _)) = header.text().and_then(|text| text.split_once(';')) else {
        return;
    };
    if header.is("content-type") {
        header.value = format!("{kind}; charset=utf-8").into();
    }
}

fn protocol(version: &str) -> &'static str {
    match version.to_ascii_lowercase().as_str() {
        "h2" | "http/2" | "http/2.0" => "h2",
        "h3" | "http/3" | "http/3.0" => "h3",
        "http/1.0" => "http/1.0",
        _ => "http/1.1",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of an entry whose body is this JSON text, where 80 MiB may be taken.
    fn read(text: &str) -> Result<usize, String> {
        let mut imported = Imported::default();
        let mut reading = Reading {
            budget: ReadBudget::for_file(0),
            imported: &mut imported,
            entries: 0,
            compressed: 0,
            from_cache: 0,
            handshakes: HarHandshakes::default(),
        };
        let entry = format!(
            r#"{{"request":{{"method":"GET","url":"https://a.test/"}},
             "response":{{"status":200,"content":{{"text":"{text}"}}}}}}"#
        );
        match reading.read(&entry) {
            Ok(()) => Ok(imported.exchanges[0].body.len()),
            Err(Fault::Refused(reason)) => Err(reason),
            Err(Fault::Json(error)) => panic!("{error}"),
        }
    }

    #[test]
    fn an_entry_is_refused_before_it_takes_more_than_is_left() {
        let text = "a".repeat(30 << 20);
        assert_eq!(read(&text), Ok(30 << 20));
        let refused = "entry 0: it would take more than 83886080 bytes of memory, \
                       the bound for a file of this size";
        assert_eq!(read(&(text.clone() + r"\n")), Err(refused.to_owned()));
        assert_eq!(
            read(&(text + &"a".repeat(11 << 20))),
            Err(refused.to_owned())
        );
    }
}
