//! Web Page Replay's archives (Catapult's `wpr`, `.wprgo`): gzip over JSON, with each request and
//! response in HTTP/1.1 form as base64.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::Path;
use std::rc::Rc;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer};

use super::json::{self, Elements, Member, Members, Value};
use super::{Imported, blank};
use crate::base64;
use crate::budget::ReadBudget;
use crate::coding;
use crate::exchange::Exchange;
use crate::limits::EXCHANGES_MAX;
use crate::url::Url;
use crate::warc::http1;

/// What stands beside the exchanges and goes for all of them.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Archive {
    #[serde(
        default,
        rename = "NegotiatedProtocol",
        deserialize_with = "hosts_of_http2"
    )]
    over_http2: HashSet<String>,
    #[serde(default)]
    deterministic_time_seed_ms: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Archived {
    serialized_request: String,
    serialized_response: String,
}

/// The hosts whose protocol is `h2`, of an object of host -> protocol.
fn hosts_of_http2<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HashSet<String>, D::Error> {
    let hosts = RefCell::new(HashSet::new());
    let take = |host: String| {
        let hosts = &hosts;
        Value::new(move |protocol: String| {
            let mut hosts = hosts.borrow_mut();
            if hosts.len() == EXCHANGES_MAX {
                return Err(format!("more than {EXCHANGES_MAX} hosts"));
            }
            if protocol == "h2" {
                hosts.insert(host);
            }
            Ok(())
        })
    };
    Members(take).deserialize(deserializer)?;
    Ok(hosts.into_inner())
}

/// Reads one file: host -> URL -> its exchanges in recorded order.
pub fn import(_: &Path, content: Bytes, imported: &mut Imported) -> Result<(), String> {
    let mut budget = ReadBudget::for_file(content.len() as u64);
    let json = coding::gunzip(&content, budget.bytes_left())?;
    budget
        .spend(json.len() as u64)
        .map_err(|damage| damage.to_string())?;
    let archive: Archive = serde_json::from_slice(&json).map_err(|error| error.to_string())?;
    let reading = &RefCell::new(Reading {
        imported,
        budget,
        archive,
    });
    let hosts = Members(|host: String| {
        let host: Rc<str> = host.into();
        Members(move |url: String| {
            let host = host.clone();
            Elements::new(move |archived| reading.borrow_mut().take(&host, &url, archived))
        })
    });
    json::read(&json, Member::new("Requests", hosts))
}

/// One file's exchanges as they come.
struct Reading<'a> {
    imported: &'a mut Imported,
    budget: ReadBudget,
    archive: Archive,
}

impl Reading<'_> {
    fn take(&mut self, host: &str, url: &str, archived: Archived) -> Result<(), String> {
        let place = |reason: String| format!("{url:.300}: {reason}");
        let decoded = |text: String| {
            let decoded = base64::decode(text).map(Bytes::from);
            decoded.ok_or_else(|| place("it is not the base64 that it says".to_owned()))
        };
        let request = decoded(archived.serialized_request)?;
        let response = decoded(archived.serialized_response)?;
        let kept = self.budget.keep((request.len() + response.len()) as u64);
        kept.map_err(|damage| place(damage.to_string()))?;
        match exchange(url, &request, &response, &mut self.budget) {
            Ok(mut exchange) => {
                if self.archive.over_http2.contains(host) {
                    exchange.protocol = "h2".to_owned();
                }
                let time = self.archive.deterministic_time_seed_ms;
                exchange.recorded_at_unix_ms = (time > 0).then_some(time);
                self.imported
                    .push(exchange, &mut self.budget)
                    .map_err(place)
            }
            Err(reason) => {
                self.imported.leave_out(place(reason));
                Ok(())
            }
        }
    }
}

fn exchange(
    url: &str,
    request: &Bytes,
    response: &Bytes,
    budget: &mut ReadBudget,
) -> Result<Exchange, String> {
    let url: Url = url
        .parse()
        .map_err(|error: crate::UrlError| error.to_string())?;
    let message = |bytes: &Bytes| http1::parse(bytes).map_err(|damage| damage.to_string());
    let (request, response) = (message(request)?, message(response)?);
    let mut decode =
        |message| http1::decode_body(message, None, budget).map_err(|damage| damage.to_string());
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
