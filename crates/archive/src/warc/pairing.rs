//! Builds exchanges from records: joins responses with their requests, and revisits with their
//! originals.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bytes::Bytes;

use crate::address::parse_address;
use crate::budget::ReadBudget;
use crate::digest::{self, Verdict};
use crate::error::{Damage, Error};
use crate::exchange::header::Header;
use crate::exchange::screenshot::{self, Screenshot};
use crate::exchange::{Exchange, Note};
use crate::timestamp;
use crate::url::Url;
use crate::warc::http1;
use crate::warc::record::Record;
use crate::warc::requests::Requests;
use crate::warc::source::{Located, WarcFile};
use crate::whole;

/// The most revisits in a chain to an original: a writer may refer to what an earlier one wrote.
const REVISITS_MAX: usize = 20;

/// The exchanges of the files read so far.
#[derive(Debug, Default)]
pub struct Index {
    exchanges: Vec<Exchange>,
    notes: Vec<Note>,
    /// What was corrected, one sentence each.
    altered: Vec<String>,
    /// The invalid responses that were left out, with their notes.
    broken: Vec<(Url, String)>,
    /// Whether this project wrote the files and has checked their exchanges.
    is_ours: bool,
    screenshot: Option<Screenshot>,
    /// Revisits whose originals have not been read yet, by their positions in `exchanges`.
    revisits: BTreeMap<usize, Revisit>,
    /// Responses with status 304, by their positions.
    not_modified: HashMap<usize, Note>,
    /// Positions in `exchanges` by the keys that a revisit refers to.
    by_record_id: HashMap<String, usize>,
    by_payload_digest: HashMap<String, usize>,
    by_url_and_payload_digest: HashMap<(Url, String), usize>,
    by_url_and_date: HashMap<(Url, Option<i64>), usize>,
    /// Positions of responses whose records have no payload digest.
    without_digest: Vec<usize>,
}

/// The exchanges of a file, and what was left out or corrected.
pub struct Found {
    /// The exchanges in the order of their responses.
    pub exchanges: Vec<Exchange>,
    /// Notes on what was left out.
    pub notes: Vec<Note>,
    /// What was corrected, one sentence each.
    pub altered: Vec<String>,
    /// The invalid responses that were left out, with their notes.
    pub broken: Vec<(Url, String)>,
    /// The first screenshot.
    pub screenshot: Option<Screenshot>,
}

/// A revisit whose original has not been read yet.
#[derive(Debug)]
struct Revisit {
    record: Record,
    has_head: bool,
    place: Note,
}

impl Revisit {
    fn is_unchanged(&self) -> bool {
        let profile = self.record.field("WARC-Profile").unwrap_or("");
        profile.contains("server-not-modified")
    }
}

impl Index {
    /// Creates an index; `is_ours` if this project wrote the files.
    pub fn new(is_ours: bool) -> Self {
        Self {
            is_ours,
            ..Self::default()
        }
    }

    /// Adds the exchanges of a file.
    pub fn add(
        &mut self,
        file: &WarcFile,
        records: Vec<Located>,
        budget: &mut ReadBudget,
    ) -> Result<(), Error> {
        let mut requests = Requests::collect(file, &records, budget)?;
        for located in &records {
            let place = |message: &str| Note {
                file: file.name.clone(),
                record: located.number,
                offset: located.offset,
                message: eyelevel_units::one_line(message),
            };
            let result = match located.record.kind() {
                _ if self.take_screenshot(&located.record) => Ok(None),
                "response" | "resource" => {
                    self.add_response(located, &mut requests, budget, &place)
                }
                "revisit" => self.add_revisit(located, &mut requests, budget, &place),
                "request" | "metadata" | "warcinfo" => Ok(None),
                kind => Ok(Some(format!("`{kind}` records are not used"))),
            };
            let damaged = |reason| file.damage_error(located.number, located.offset, reason);
            if let Some(message) = result.map_err(damaged)? {
                self.notes.push(place(&message));
            }
        }
        Ok(())
    }

    /// Returns the result after all files are read, with the bodies of originals in their revisits,
    /// whatever their order.
    pub fn finish(mut self, budget: &mut ReadBudget) -> Result<Found, Error> {
        self.digest_undigested();
        let by_url = self.find_originals_by_url(&self.revisits);
        let originals: Vec<Option<usize>> = self
            .revisits
            .iter()
            .map(|(position, revisit)| {
                let original = self.find_original(&revisit.record);
                let url = &self.exchanges[*position].url;
                original.or_else(|| self.find_original_by_url(revisit, url, &by_url))
            })
            .collect();
        let mut left_out = HashMap::new();
        let revisits = std::mem::take(&mut self.revisits);
        for ((position, mut revisit), original) in revisits.into_iter().zip(originals) {
            let Some(original) = original else {
                let url = &self.exchanges[position].url;
                let message = format!("{url} is a revisit of a response that is not in the file");
                revisit.place.message = eyelevel_units::one_line(&message);
                left_out.insert(position, revisit.place);
                continue;
            };
            let mut exchange = self.exchanges[position].clone();
            let original = &self.exchanges[original];
            let filled = fill_revisit(&mut exchange, original, revisit.has_head, budget);
            filled.map_err(|reason| Error::Damaged {
                file: revisit.place.file.clone(),
                record: revisit.place.record,
                offset: revisit.place.offset,
                reason,
            })?;
            if let Err(reason) = self.check(&mut exchange, budget) {
                let message = self.leave_out(&exchange.url, &reason);
                revisit.place.message = eyelevel_units::one_line(&message);
                left_out.insert(position, revisit.place);
            }
            self.exchanges[position] = exchange;
        }
        self.remove(&left_out);
        left_out.clear();
        let alone = match self.is_ours {
            true => Vec::new(),
            false => whole::find_lone_not_modified(&self.exchanges),
        };
        for (position, _) in alone
            .into_iter()
            .enumerate()
            .filter(|(_, is_alone)| *is_alone)
        {
            let index = self.exchanges[position].index;
            left_out.extend(self.not_modified.remove(&index).map(|note| (index, note)));
        }
        self.remove(&left_out);
        for (index, exchange) in self.exchanges.iter_mut().enumerate() {
            exchange.index = index;
        }
        Ok(Found {
            exchanges: self.exchanges,
            notes: self.notes,
            altered: self.altered,
            broken: self.broken,
            screenshot: self.screenshot,
        })
    }

    /// Removes the exchanges at these positions, each with its note.
    fn remove(&mut self, left_out: &HashMap<usize, Note>) {
        self.exchanges
            .retain(|exchange| !left_out.contains_key(&exchange.index));
        let mut notes: Vec<&Note> = left_out.values().collect();
        notes.sort_unstable_by(|left, right| {
            (&left.file, left.record).cmp(&(&right.file, right.record))
        });
        self.notes.extend(notes.into_iter().cloned());
    }

    /// Finds the last response with a body of each URL that revisits name, and of their own URLs if
    /// a server answered "not modified".
    fn find_originals_by_url(&self, revisits: &BTreeMap<usize, Revisit>) -> HashMap<Url, usize> {
        let referred = revisits
            .values()
            .filter_map(|each| referred_url(&each.record));
        let unchanged = revisits
            .iter()
            .filter(|(_, revisit)| revisit.is_unchanged());
        let own = unchanged.map(|(&at, _)| self.exchanges[at].url.clone());
        let wanted: HashSet<Url> = referred.chain(own).collect();
        let all = self.exchanges.iter().enumerate();
        let found = all.filter(|(at, each)| {
            wanted.contains(&each.url) && each.status != 304 && !revisits.contains_key(at)
        });
        found.map(|(at, each)| (each.url.clone(), at)).collect()
    }

    /// Adds an invalid response and returns its note.
    fn leave_out(&mut self, url: &Url, reason: &str) -> String {
        let note = format!("{url}: {reason}");
        self.broken.push((url.clone(), note.clone()));
        note
    }

    /// Checks an exchange, unless this project wrote it; the error states why it is left out.
    fn check(&mut self, exchange: &mut Exchange, budget: &mut ReadBudget) -> Result<(), String> {
        if self.is_ours {
            return Ok(());
        }
        let checked = whole::check(exchange, budget);
        if let Some(changed) = checked? {
            let sentence = format!("{}: {changed}", exchange.url);
            self.altered.push(eyelevel_units::one_line(&sentence));
        }
        Ok(())
    }

    /// Stores a screenshot; returns false if the record is not one.
    fn take_screenshot(&mut self, record: &Record) -> bool {
        let uri = record.uri_field("WARC-Target-URI").unwrap_or("");
        let is_one = record.kind() == "resource" && uri.starts_with(screenshot::URI_PREFIX);
        if is_one && self.screenshot.is_none() {
            self.screenshot = Some(Screenshot {
                media_type: record.field("Content-Type").unwrap_or("").to_owned(),
                image: record.block.clone(),
            });
        }
        is_one
    }

    /// Adds a response; returns a note if a part of it is left out.
    fn add_response(
        &mut self,
        located: &Located,
        requests: &mut Requests,
        budget: &mut ReadBudget,
        place: &impl Fn(&str) -> Note,
    ) -> Result<Option<String>, Damage> {
        let record = &located.record;
        let url = match target_url(record) {
            Ok(url) => url,
            Err(message) => return Ok(Some(message)),
        };
        let mut exchange = new_exchange(record, url);
        let is_in_segments = record.field("WARC-Segment-Number").is_some();
        let truncated = record.field("WARC-Truncated");
        if is_in_segments || truncated.is_some() {
            // Its request must not become that of another response.
            requests.join(located, &mut exchange, budget)?.ok();
            let url = &exchange.url;
            return Ok(Some(match truncated {
                Some(reason) => format!("the recorder cut {url} off (`{reason}`)"),
                None => format!("{url}: it is in segments, which are not joined"),
            }));
        }
        if record.kind() == "resource" {
            let content_type = record
                .field("Content-Type")
                .unwrap_or("application/octet-stream");
            let content_type = Header::new("Content-Type", content_type.to_owned());
            exchange.response_headers = vec![content_type];
            (exchange.status, exchange.reason) = (200, "OK".to_owned());
            if exchange.protocol.is_empty() {
                exchange.protocol = "http/1.1".to_owned();
            }
            exchange.body = record.block.clone();
        } else if let Err(reason) = fill_response(&mut exchange, record, budget)? {
            requests.join(located, &mut exchange, budget)?.ok();
            return Ok(Some(self.leave_out(&exchange.url, &reason)));
        }
        if exchange.status < 200 {
            return Ok(Some(format!("{}: an interim response", exchange.url)));
        }
        if let Err(reason) = requests.join(located, &mut exchange, budget)? {
            return Ok(Some(self.leave_out(&exchange.url, &reason)));
        }
        if let Err(reason) = self.check(&mut exchange, budget) {
            return Ok(Some(self.leave_out(&exchange.url, &reason)));
        }
        if exchange.status == 304 {
            let note = format!("{}: {}", exchange.url, whole::LONE_NOT_MODIFIED);
            self.not_modified.insert(self.exchanges.len(), place(&note));
        }
        self.push(record, exchange);
        Ok(None)
    }

    /// Adds a revisit: the response that it refers to, under the revisit's own URL, and with its
    /// own fields if it has any.
    fn add_revisit(
        &mut self,
        located: &Located,
        requests: &mut Requests,
        budget: &mut ReadBudget,
        place: &impl Fn(&str) -> Note,
    ) -> Result<Option<String>, Damage> {
        let record = &located.record;
        let url = match target_url(record) {
            Ok(url) => url,
            Err(message) => return Ok(Some(message)),
        };
        let mut exchange = new_exchange(record, url);
        let has_head = http1::begins_with_version(&record.block);
        if has_head && let Err(reason) = fill_response(&mut exchange, record, budget)? {
            requests.join(located, &mut exchange, budget)?.ok();
            return Ok(Some(self.leave_out(&exchange.url, &reason)));
        }
        if let Err(reason) = requests.join(located, &mut exchange, budget)? {
            return Ok(Some(self.leave_out(&exchange.url, &reason)));
        }
        if let Some(original) = self.find_original(record) {
            let original = &self.exchanges[original];
            fill_revisit(&mut exchange, original, has_head, budget)?;
            if let Err(reason) = self.check(&mut exchange, budget) {
                return Ok(Some(self.leave_out(&exchange.url, &reason)));
            }
        } else {
            let revisit = Revisit {
                record: record.clone(),
                has_head,
                place: place(""),
            };
            self.revisits.insert(self.exchanges.len(), revisit);
        }
        self.push(record, exchange);
        Ok(None)
    }

    /// Returns the position of the response that a revisit refers to, also through other revisits,
    /// or `None` if it has not been read yet.
    fn find_original<'a>(&'a self, mut record: &'a Record) -> Option<usize> {
        for _ in 0..REVISITS_MAX {
            let found = self.find_named(record)?;
            let Some(revisit) = self.revisits.get(&found) else {
                return Some(found);
            };
            record = &revisit.record;
        }
        None
    }

    fn find_named(&self, record: &Record) -> Option<usize> {
        let by_id = record
            .uri_field("WARC-Refers-To")
            .and_then(|id| self.by_record_id.get(id));
        let by_uri = || {
            let date = record
                .field("WARC-Refers-To-Date")
                .and_then(timestamp::parse);
            self.by_url_and_date.get(&(referred_url(record)?, date))
        };
        let by_digest = || {
            let digest = digest::normalize(record.field("WARC-Payload-Digest")?);
            // Another URL may have had this body with another status and type.
            let key = target_url(record).ok().map(|url| (url, digest.clone()));
            let of_url = key.and_then(|key| self.by_url_and_payload_digest.get(&key));
            of_url.or_else(|| self.by_payload_digest.get(&digest))
        };
        by_id.or_else(by_uri).or_else(by_digest).copied()
    }

    /// Returns the response of the URL that a revisit names, if the date differs or is missing and
    /// the digest does not contradict; that of its own URL if the server answered "not modified".
    fn find_original_by_url(
        &self,
        revisit: &Revisit,
        url: &Url,
        by_url: &HashMap<Url, usize>,
    ) -> Option<usize> {
        let recorded = revisit.record.field("WARC-Payload-Digest").unwrap_or("");
        let is_it = |found: &usize| {
            let verdict = digest::compare(recorded, &self.exchanges[*found].body);
            !matches!(verdict, Verdict::Differs(_))
        };
        let referred = referred_url(&revisit.record);
        let referred = referred.and_then(|url| by_url.get(&url).copied());
        let own = || by_url.get(url).copied().filter(|_| revisit.is_unchanged());
        referred.filter(is_it).or_else(own)
    }

    /// Computes digests for responses whose records have none, if a revisit refers to one.
    fn digest_undigested(&mut self) {
        let revisits = self.revisits.values();
        let wanted = revisits.filter_map(|each| each.record.field("WARC-Payload-Digest"));
        let algorithms: BTreeSet<String> = wanted.filter_map(digest::algorithm).collect();
        for algorithm in algorithms {
            for &position in &self.without_digest {
                let body = &self.exchanges[position].body;
                let Some(digest) = digest::compute(&algorithm, body) else {
                    continue;
                };
                self.by_payload_digest.entry(digest).or_insert(position);
            }
        }
    }

    fn push(&mut self, record: &Record, mut exchange: Exchange) {
        let index = self.exchanges.len();
        exchange.index = index;
        if let Some(id) = record.uri_field("WARC-Record-ID") {
            self.by_record_id.entry(id.to_owned()).or_insert(index);
        }
        if record.kind() != "revisit" {
            match record.field("WARC-Payload-Digest") {
                Some(recorded) => {
                    let digest = digest::normalize(recorded);
                    let of_url = (exchange.url.clone(), digest.clone());
                    self.by_url_and_payload_digest
                        .entry(of_url)
                        .or_insert(index);
                    self.by_payload_digest.entry(digest).or_insert(index);
                }
                None => self.without_digest.push(index),
            }
            self.by_url_and_date
                .entry((exchange.url.clone(), exchange.recorded_at_unix_ms))
                .or_insert(index);
        }
        self.exchanges.push(exchange);
    }
}

fn referred_url(record: &Record) -> Option<Url> {
    record.uri_field("WARC-Refers-To-Target-URI")?.parse().ok()
}

/// Completes a revisit from its original: the body, and the head if the revisit has none.
fn fill_revisit(
    exchange: &mut Exchange,
    original: &Exchange,
    has_head: bool,
    budget: &mut ReadBudget,
) -> Result<(), Damage> {
    // Only a client with the body can use a 304; a browser with an empty cache needs the body.
    if !has_head || exchange.status == 304 {
        exchange.status = original.status;
        exchange.reason.clone_from(&original.reason);
        exchange.response_headers = original.response_headers.clone();
        budget.spend_fields(&exchange.response_headers)?;
        budget.spend_memory(exchange.reason.len() as u64)?;
    }
    if exchange.protocol.is_empty() {
        exchange.protocol.clone_from(&original.protocol);
    }
    exchange.body = original.body.clone();
    Ok(())
}

/// Returns the record's URL, or why it is left out.
fn target_url(record: &Record) -> Result<Url, String> {
    let uri = record.uri_field("WARC-Target-URI").ok_or_else(|| {
        let id = record.uri_field("WARC-Record-ID").unwrap_or("");
        let kind = record.kind();
        format!(
            "the {kind} record {id:.100} has no `WARC-Target-URI`, so that nothing can ask for it"
        )
    })?;
    uri.parse::<Url>().map_err(|error| error.to_string())
}

/// Creates an exchange from the record's own fields; the method is GET until its request is known.
fn new_exchange(record: &Record, url: Url) -> Exchange {
    let fields = record.fields.iter();
    let fields = fields.filter(|field| field.is("WARC-Protocol"));
    // A field may name several: StormCrawler writes `h2,TLSv1.3`.
    let mut protocols = fields
        .filter_map(Header::text)
        .flat_map(|value| value.split(','));
    Exchange {
        index: 0,
        method: "GET".to_owned(),
        url,
        request_headers: Vec::new(),
        request_body: Bytes::new(),
        status: 0,
        reason: String::new(),
        response_headers: Vec::new(),
        body: Bytes::new(),
        address: record.field("WARC-IP-Address").and_then(parse_address),
        protocol: protocols
            .find_map(|name| http1::parse_protocol(name.trim()))
            .unwrap_or_default()
            .to_owned(),
        recorded_at_unix_ms: record.field("WARC-Date").and_then(timestamp::parse),
        time_to_first_byte_ms: None,
        initiator: None,
    }
}

/// Fills in the record's HTTP message; the inner error states why it cannot be parsed.
fn fill_response(
    exchange: &mut Exchange,
    record: &Record,
    budget: &mut ReadBudget,
) -> Result<Result<(), String>, Damage> {
    match read_response(exchange, record, budget) {
        Err(damage) if damage.is_message_damage() => Ok(Err(damage.to_string())),
        read => read.map(Ok),
    }
}

fn read_response(
    exchange: &mut Exchange,
    record: &Record,
    budget: &mut ReadBudget,
) -> Result<(), Damage> {
    let (message, line) = http1::parse_response(&record.block)?;
    budget.spend_fields(&message.headers)?;
    let digest = record.field("WARC-Payload-Digest");
    exchange.body = http1::decode_body(&message, digest, budget)?;
    exchange.status = line.status;
    exchange.reason = line.reason;
    if exchange.protocol.is_empty() {
        exchange.protocol = line.protocol.to_owned();
    }
    exchange.response_headers = message.headers;
    Ok(())
}
