//! Joins the recorded requests of a file with their responses.

use std::collections::{BTreeMap, HashMap, HashSet};

use bytes::Bytes;

use crate::budget::ReadBudget;
use crate::error::{Damage, Error};
use crate::exchange::Exchange;
use crate::exchange::header::Header;
use crate::url::Url;
use crate::warc::http1;
use crate::warc::record::Record;
use crate::warc::source::{Located, WarcFile};

/// The requests of one file, indexed by what joins them with responses.
#[derive(Default)]
pub struct Requests {
    /// The requests; `None` after joining, or an error if one cannot be parsed.
    requests: Vec<Option<Result<Request, String>>>,
    /// Positions in `requests` by the request's own id and the ids of its concurrent records.
    by_id: HashMap<String, usize>,
    by_concurrent_id: HashMap<String, usize>,
    /// Positions of the requests that no id links with a response, by target URI and record number;
    /// joined ones are removed when next met.
    by_uri: HashMap<String, BTreeMap<u64, usize>>,
    metadata: Vec<Metadata>,
    /// Positions in `metadata` by the ids of concurrent records.
    metadata_by_id: HashMap<String, usize>,
}

/// A recorded request, not yet joined with its response.
struct Request {
    method: String,
    headers: Vec<Header>,
    body: Bytes,
}

impl Request {
    fn read(record: &Record, budget: &mut ReadBudget) -> Result<Self, Damage> {
        let message = http1::parse(&record.block)?;
        budget.spend_fields(&message.headers)?;
        let digest = record.field("WARC-Payload-Digest");
        Ok(Self {
            body: http1::decode_body(&message, digest, budget)?,
            method: http1::parse_method(&message.start_line)?,
            headers: message.headers,
        })
    }
}

/// A metadata record's description of its exchange.
#[derive(Default)]
struct Metadata {
    time_to_first_byte_ms: Option<f64>,
    initiator: Option<String>,
}

impl Requests {
    /// Reads the requests and metadata records of one file.
    pub fn collect(
        file: &WarcFile,
        records: &[Located],
        budget: &mut ReadBudget,
    ) -> Result<Self, Error> {
        let mut requests = Requests::default();
        let linked = find_linked(records);
        for located in records {
            let damaged = |reason| file.damage_error(located.number, located.offset, reason);
            match located.record.kind() {
                "request" => requests.add(located, &linked, budget).map_err(damaged)?,
                "metadata" => requests.add_metadata(&located.record),
                _ => {}
            }
        }
        Ok(requests)
    }

    /// Adds a request; `linked` are the ids of responses and of what they are concurrent to.
    fn add(
        &mut self,
        located: &Located,
        linked: &HashSet<&str>,
        budget: &mut ReadBudget,
    ) -> Result<(), Damage> {
        let record = &located.record;
        let Some(uri) = record.uri_field("WARC-Target-URI") else {
            return Ok(());
        };
        if uri.parse::<Url>().is_err() {
            return Ok(()); // dns:, whois: and the like
        }
        let request = match Request::read(record, budget) {
            Err(damage) if damage.is_message_damage() => Err(damage.to_string()),
            read => Ok(read?),
        };
        let position = self.requests.len();
        self.requests.push(Some(request));
        let id = record.uri_field("WARC-Record-ID");
        if let Some(id) = id {
            self.by_id.insert(id.to_owned(), position);
        }
        for id in concurrent_ids(record) {
            self.by_concurrent_id.insert(id.to_owned(), position);
        }
        let mut ids = id.into_iter().chain(concurrent_ids(record));
        if !ids.any(|id| linked.contains(id)) {
            let of_uri = self.by_uri.entry(uri.to_owned()).or_default();
            of_uri.insert(located.number, position);
        }
        Ok(())
    }

    /// Reads the initiator and, from this project's own metadata records, the time to first byte.
    fn add_metadata(&mut self, record: &Record) {
        let mut found = Metadata::default();
        for line in record.block.split(|&byte| byte == b'\n') {
            let text = std::str::from_utf8(line).unwrap_or("");
            let (name, value) = text.split_once(':').unwrap_or(("", ""));
            match name {
                "timeToFirstByteMs" => {
                    let milliseconds = value.trim().parse().ok();
                    found.time_to_first_byte_ms = milliseconds.filter(|ms: &f64| ms.is_finite());
                }
                "via" => found.initiator = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        for id in concurrent_ids(record) {
            self.metadata_by_id
                .insert(id.to_owned(), self.metadata.len());
        }
        self.metadata.push(found);
    }

    /// Moves the request of the response `located` into `exchange`: the one that is linked to it by
    /// id, else the nearest remaining one with the same target URI that is linked to none. The inner
    /// error states why it cannot be parsed, so that the request is unknown.
    pub fn join(
        &mut self,
        located: &Located,
        exchange: &mut Exchange,
        budget: &mut ReadBudget,
    ) -> Result<Result<(), String>, Damage> {
        let record = &located.record;
        let id = record.uri_field("WARC-Record-ID").unwrap_or("");
        if let Some(&position) = self.metadata_by_id.get(id) {
            let metadata = &self.metadata[position];
            // One record may describe many responses, and each has its own copy.
            budget.spend_memory(metadata.initiator.as_ref().map_or(0, String::len) as u64)?;
            exchange.time_to_first_byte_ms = metadata.time_to_first_byte_ms;
            exchange.initiator.clone_from(&metadata.initiator);
        }
        let named = || concurrent_ids(record).find_map(|id| self.by_id.get(id).copied());
        let by_id = self.by_concurrent_id.get(id).copied().or_else(named);
        let by_id = by_id.filter(|&position| self.requests[position].is_some());
        let position = by_id.or_else(|| self.take_nearest(located));
        let request = position.and_then(|position| self.requests[position].take());
        Ok(match request {
            Some(Ok(request)) => {
                exchange.method = request.method;
                exchange.request_headers = request.headers;
                exchange.request_body = request.body;
                Ok(())
            }
            Some(Err(reason)) => Err(format!("its request cannot be read: {reason}")),
            None => Ok(()),
        })
    }

    fn take_nearest(&mut self, located: &Located) -> Option<usize> {
        let candidates = self
            .by_uri
            .get_mut(located.record.uri_field("WARC-Target-URI")?)?;
        let number = located.number;
        loop {
            let before = candidates.range(..number).next_back();
            let behind = candidates.range(number..).next();
            // If two are equally near, the earlier one.
            let both = before.into_iter().chain(behind);
            let (&at, &position) = both.min_by_key(|(other, _)| other.abs_diff(number))?;
            // Each is removed when examined, so that a file with only one URI takes linear time.
            candidates.remove(&at);
            if self.requests[position].is_some() {
                return Some(position);
            }
        }
    }
}

/// Returns the ids of all responses, and of the records that they are concurrent to: a request with
/// one of them is the one of that response, and no other's.
fn find_linked(records: &[Located]) -> HashSet<&str> {
    let records = records.iter().map(|located| &located.record);
    let responses =
        records.filter(|record| matches!(record.kind(), "response" | "resource" | "revisit"));
    responses
        .flat_map(|record| {
            let own = record.uri_field("WARC-Record-ID");
            own.into_iter().chain(concurrent_ids(record))
        })
        .collect()
}

fn concurrent_ids(record: &Record) -> impl Iterator<Item = &str> {
    let fields = record
        .fields
        .iter()
        .filter(|field| field.is("WARC-Concurrent-To"));
    fields
        .filter_map(Header::text)
        .map(|id| id.trim_matches(['<', '>']))
}
