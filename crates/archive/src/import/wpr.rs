//! Import of Web Page Replay's archives (Catapult's `wpr`, `.wprgo`): gzip over JSON, with each
//! request and response in HTTP/1.1 form as base64.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::Path;
use std::rc::Rc;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer};

use super::json::{self, Elements, Member, Members, OrOther, Value};
use super::json_loose::{Leaf, Maybe, object};
use super::refusal::Refusal;
use super::{Imported, blank};
use crate::base64;
use crate::budget::ReadBudget;
use crate::coding;
use crate::exchange::Exchange;
use crate::limits::EXCHANGES_MAX;
use crate::url::Url;
use crate::warc::http1;

object! {
    /// The members that apply to all exchanges.
    Archive {
        over_http2: HostsOfHttp2 = "NegotiatedProtocol",
        time_seed_ms: Leaf<'a> = "DeterministicTimeSeedMs",
    }
}

object! {
    /// An exchange with both messages as base64.
    Archived {
        request: Leaf<'a> = "SerializedRequest",
        response: Leaf<'a> = "SerializedResponse",
    }
}

/// The hosts with the protocol `h2`, read from an object of host -> protocol.
#[derive(Default)]
pub struct HostsOfHttp2(HashSet<String>);

impl<'de> Deserialize<'de> for HostsOfHttp2 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hosts = RefCell::new(HashSet::new());
        let take = |host: String| {
            let hosts = &hosts;
            Value::new(move |protocol: Leaf<'_>| {
                let mut hosts = hosts.borrow_mut();
                if hosts.len() == EXCHANGES_MAX {
                    return Err(format!("more than {EXCHANGES_MAX} hosts"));
                }
                if protocol.text().as_deref() == Some("h2") {
                    hosts.insert(host);
                }
                Ok(())
            })
        };
        OrOther::object(Members(take), || ()).deserialize(deserializer)?;
        Ok(Self(hosts.into_inner()))
    }
}

/// Imports a file: host -> URL -> its exchanges in recorded order.
pub fn import(_: &Path, content: Bytes, imported: &mut Imported) -> Result<(), Refusal> {
    let mut budget = ReadBudget::for_file(content.len() as u64);
    let json = coding::gunzip(&content, budget.bytes_left())?;
    budget
        .spend(json.len() as u64)
        .map_err(Refusal::too_large)?;
    let unsound = |error: serde_json::Error| match error.classify() {
        serde_json::error::Category::Data => error.to_string(),
        _ => format!("it is no sound JSON: {error}"),
    };
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&json);
    if !json.trim_ascii_start().starts_with(b"{") {
        return Err(Refusal::with_remedy(
            "it is compressed, and holds neither a WARC nor a Web Page Replay archive; run `gunzip` \
             on it and import what it holds",
        ));
    }
    let archive: Maybe<Archive<'_>> = serde_json::from_slice(json).map_err(unsound)?;
    let reading = &RefCell::new(Reading {
        imported,
        budget,
        archive: archive.0.unwrap_or_default(),
        refusal: None,
    });
    let hosts = Members(|host: String| {
        let host: Rc<str> = host.into();
        let of_host = host.clone();
        let urls = Members(move |url: String| {
            let host = host.clone();
            let of_url = url.clone();
            let take = move |archived: Maybe<Archived<'_>>| {
                reading.borrow_mut().take(&host, &url, archived.0)
            };
            OrOther::list(Elements::new(take), move || {
                reading.borrow_mut().note_other(&of_url)
            })
        });
        OrOther::object(urls, move || reading.borrow_mut().note_other(&of_host))
    });
    let read = json::read(json, Member::new("Requests", hosts));
    let refusal = reading.borrow_mut().refusal.take();
    read.map_err(|error| refusal.unwrap_or_else(|| unsound(error).into()))
}

/// The state of importing one file's exchanges.
struct Reading<'a> {
    imported: &'a mut Imported,
    budget: ReadBudget,
    archive: Archive<'a>,
    refusal: Option<Refusal>,
}

impl Reading<'_> {
    /// Notes a host or URL whose value is null or of an unexpected kind.
    fn note_other(&mut self, whose: &str) {
        self.imported
            .leave_out(format!("{whose:.300}: it has no exchange"));
    }

    fn take(
        &mut self,
        host: &str,
        url: &str,
        archived: Option<Archived<'_>>,
    ) -> Result<(), String> {
        match self.exchange(host, url, archived) {
            Ok(Ok(exchange)) => {
                let pushed = self.imported.push(exchange, &mut self.budget);
                pushed.map_err(|refusal| self.refuse(url, refusal))
            }
            Ok(Err(reason)) => {
                self.imported.leave_out(format!("{url:.300}: {reason}"));
                Ok(())
            }
            Err(refusal) => Err(self.refuse(url, refusal)),
        }
    }

    /// Ends the import with `refusal`, which is reported instead of the returned error.
    fn refuse(&mut self, url: &str, refusal: Refusal) -> String {
        self.refusal = Some(refusal.at(format!("{url:.300}")));
        String::new()
    }

    /// Parses an exchange; the inner error states why it is left out.
    fn exchange(
        &mut self,
        host: &str,
        url: &str,
        archived: Option<Archived<'_>>,
    ) -> Result<Result<Exchange, String>, Refusal> {
        let Some(archived) = archived else {
            return Ok(Err("it is no object".to_owned()));
        };
        let decoded = |leaf: Leaf<'_>| base64::decode(leaf.text()?).map(Bytes::from);
        let (request, response) = (decoded(archived.request), decoded(archived.response));
        let (Some(request), Some(response)) = (request, response) else {
            return Ok(Err("it is not the base64 that it says".to_owned()));
        };
        let spent = self
            .budget
            .spend_memory((request.len() + response.len()) as u64);
        spent.map_err(Refusal::too_large)?;
        let read = exchange(url, &request, &response, &mut self.budget);
        Ok(read.map(|mut exchange| {
            if self.archive.over_http2.0.contains(host) {
                exchange.protocol = "h2".to_owned();
            }
            let time = self.archive.time_seed_ms.integer();
            exchange.recorded_at_unix_ms = time.filter(|time| *time > 0);
            exchange
        }))
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
    let request = message(request)?;
    let (response, line) = http1::parse_response(response).map_err(|damage| damage.to_string())?;
    let mut decode =
        |message| http1::decode_body(message, None, budget).map_err(|damage| damage.to_string());
    let (request_body, body) = (decode(&request)?, decode(&response)?);
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
