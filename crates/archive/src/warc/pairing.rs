//! From records to exchanges: responses joined with their requests, revisits with their originals.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bytes::Bytes;

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

/// Revisits by way of which an original is found: a writer refers to the original, and a later one
/// to what an earlier one wrote.
const REVISITS_MAX: usize = 20;

/// The exchanges of the files read so far.
#[derive(Debug, Default)]
pub struct Index {
    exchanges: Vec<Exchange>,
    notes: Vec<Note>,
    /// What was put right, a sentence each.
    altered: Vec<String>,
    /// The broken answers that are left out, with their notes.
    broken: Vec<(Url, String)>,
    /// Whether this project wrote the files, which has checked what it wrote.
    is_ours: bool,
    screenshot: Option<Screenshot>,
    /// Revisits whose originals were not met yet, by their positions in `exchanges`.
    revisits: BTreeMap<usize, Revisit>,
    /// Where the answers of 304 stand, by their positions.
    not_modified: HashMap<usize, Note>,
    /// Positions in `exchanges` by what a revisit refers to.
    by_record_id: HashMap<String, usize>,
    by_payload_digest: HashMap<String, usize>,
    by_url_and_date: HashMap<(Url, Option<i64>), usize>,
    /// Positions of responses whose records have no payload digest.
    without_digest: Vec<usize>,
}

/// What a file's exchanges are, and what of it is left out or put right.
pub struct Found {
    /// In the order of their responses.
    pub exchanges: Vec<Exchange>,
    /// What is left out.
    pub notes: Vec<Note>,
    /// What is put right.
    pub altered: Vec<String>,
    /// The broken answers of what is left out, with their notes.
    pub broken: Vec<(Url, String)>,
    /// The first one.
    pub screenshot: Option<Screenshot>,
}

/// A revisit that waits for its original.
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
    /// An index of files; `is_ours` are those that this project wrote.
    pub fn new(is_ours: bool) -> Self {
        Self {
            is_ours,
            ..Self::default()
        }
    }

    /// Adds the exchanges of one file.
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
            let damaged = |reason| file.damaged(located.number, located.offset, reason);
            if let Some(message) = result.map_err(damaged)? {
                self.notes.push(place(&message));
            }
        }
        Ok(())
    }

    /// All that was found, once all files are read: revisits have their originals' bodies, wherever
    /// these stand.
    pub fn finish(mut self, budget: &mut ReadBudget) -> Result<Found, Error> {
        self.digest_the_others();
        let by_url = self.originals_by_url(&self.revisits);
        let originals: Vec<Option<usize>> = self
            .revisits
            .iter()
            .map(|(position, revisit)| {
                let original = self.original_of(&revisit.record);
                let url = &self.exchanges[*position].url;
                original.or_else(|| self.original_by_url(revisit, url, &by_url))
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
        self.take_out(&left_out);
        left_out.clear();
        let alone = match self.is_ours {
            true => Vec::new(),
            false => whole::alone_not_modified(&self.exchanges),
        };
        for (position, _) in alone
            .into_iter()
            .enumerate()
            .filter(|(_, is_alone)| *is_alone)
        {
            let index = self.exchanges[position].index;
            left_out.extend(self.not_modified.remove(&index).map(|note| (index, note)));
        }
        self.take_out(&left_out);
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

    /// Takes exchanges out by their numbers so far, each with its note.
    fn take_out(&mut self, left_out: &HashMap<usize, Note>) {
        self.exchanges
            .retain(|exchange| !left_out.contains_key(&exchange.index));
        let mut notes: Vec<&Note> = left_out.values().collect();
        notes.sort_unstable_by(|left, right| {
            (&left.file, left.record).cmp(&(&right.file, right.record))
        });
        self.notes.extend(notes.into_iter().cloned());
    }

    /// The last answers with a body of the URLs that revisits name, and of their own where a server
    /// said that nothing changed.
    fn originals_by_url(&self, revisits: &BTreeMap<usize, Revisit>) -> HashMap<Url, usize> {
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

    /// Remembers what is broken; returns the note.
    fn leave_out(&mut self, url: &Url, reason: &str) -> String {
        let note = format!("{url}: {reason}");
        self.broken.push((url.clone(), note.clone()));
        note
    }

    /// Has an exchange checked where nobody did; the error says why it is left out.
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

    /// Takes a screenshot; false where the record is none.
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

    /// Adds a response; returns a note where something of it is left out.
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
        if record.field("WARC-Segment-Number").is_some() {
            return Ok(Some(format!(
                "{url}: it is in segments, which are not joined"
            )));
        }
        if let Some(reason) = record.field("WARC-Truncated") {
            return Ok(Some(format!("the recorder cut {url} off (`{reason}`)")));
        }
        let mut exchange = new_exchange(record, url);
        if record.kind() == "resource" {
            let content_type = record
                .field("Content-Type")
                .unwrap_or("application/octet-stream");
            let content_type = Header::new("Content-Type", content_type.to_owned());
            exchange.response_headers = vec![content_type];
            (exchange.status, exchange.reason) = (200, "OK".to_owned());
            exchange.body = record.block.clone();
        } else if let Err(reason) = fill_response(&mut exchange, record, budget)? {
            requests.join(located, &mut exchange, budget)?.ok(); // nobody else's any more
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
            let note = format!("{}: {}", exchange.url, whole::ALONE_NOT_MODIFIED);
            self.not_modified.insert(self.exchanges.len(), place(&note));
        }
        self.push(record, exchange);
        Ok(None)
    }

    /// Adds a revisit: the response that it refers to, under its own URL, with its own fields
    /// where it has some.
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
            return Ok(Some(self.leave_out(&exchange.url, &reason)));
        }
        if let Err(reason) = requests.join(located, &mut exchange, budget)? {
            return Ok(Some(self.leave_out(&exchange.url, &reason)));
        }
        if let Some(original) = self.original_of(record) {
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

    /// The response that a revisit refers to, by way of other revisits, too; none where it was not
    /// met yet.
    fn original_of<'a>(&'a self, mut record: &'a Record) -> Option<usize> {
        for _ in 0..REVISITS_MAX {
            let found = self.named_by(record)?;
            let Some(revisit) = self.revisits.get(&found) else {
                return Some(found);
            };
            record = &revisit.record;
        }
        None
    }

    fn named_by(&self, record: &Record) -> Option<usize> {
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
            let digest = digest::spelt_alike(record.field("WARC-Payload-Digest")?);
            self.by_payload_digest.get(&digest)
        };
        by_id.or_else(by_uri).or_else(by_digest).copied()
    }

    /// The response from the URL that a revisit names with another date or none, unless it has
    /// another digest; from its own URL where the server said that nothing changed.
    fn original_by_url(
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

    /// Digests the bodies of responses whose records have no digest, where a revisit asks for one.
    fn digest_the_others(&mut self) {
        let revisits = self.revisits.values();
        let wanted = revisits.filter_map(|each| each.record.field("WARC-Payload-Digest"));
        let algorithms: BTreeSet<String> = wanted.filter_map(digest::algorithm).collect();
        for algorithm in algorithms {
            for &position in &self.without_digest {
                let body = &self.exchanges[position].body;
                let Some(digest) = digest::of(&algorithm, body) else {
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
                    let digest = digest::spelt_alike(recorded);
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

/// Fills in what a revisit has of its original: the body, and all else where it has nothing itself.
fn fill_revisit(
    exchange: &mut Exchange,
    original: &Exchange,
    has_head: bool,
    budget: &mut ReadBudget,
) -> Result<(), Damage> {
    // A 304 answers only who has the body already; a browser without a cache needs it.
    if !has_head || exchange.status == 304 {
        exchange.status = original.status;
        exchange.reason.clone_from(&original.reason);
        exchange.response_headers = original.response_headers.clone();
        budget.keep_fields(&exchange.response_headers)?;
        budget.keep(exchange.reason.len() as u64)?;
    }
    exchange.body = original.body.clone();
    Ok(())
}

/// The record's URL, or why it is left out.
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

/// An exchange with what the record's own fields say; a GET until its request is known.
fn new_exchange(record: &Record, url: Url) -> Exchange {
    let fields = record.fields.iter();
    let fields = fields.filter(|field| field.is("WARC-Protocol"));
    let mut protocols = fields.filter_map(Header::text);
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
        address: record
            .field("WARC-IP-Address")
            .and_then(|address| address.parse().ok()),
        protocol: protocols
            .find_map(|name| http1::protocol_of(name.trim()))
            .unwrap_or_default()
            .to_owned(),
        recorded_at_unix_ms: record.field("WARC-Date").and_then(timestamp::parse),
        time_to_first_byte_ms: None,
        initiator: None,
    }
}

/// Fills in what the record's HTTP message says; returns why it cannot be read, if it cannot.
fn fill_response(
    exchange: &mut Exchange,
    record: &Record,
    budget: &mut ReadBudget,
) -> Result<Result<(), String>, Damage> {
    match read_response(exchange, record, budget) {
        Err(damage) if damage.is_of_message() => Ok(Err(damage.to_string())),
        read => read.map(Ok),
    }
}

fn read_response(
    exchange: &mut Exchange,
    record: &Record,
    budget: &mut ReadBudget,
) -> Result<(), Damage> {
    let (message, line) = http1::parse_response(&record.block)?;
    budget.keep_fields(&message.headers)?;
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
