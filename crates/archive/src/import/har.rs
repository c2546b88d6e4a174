//! Import of HAR 1.2 with bodies, as browsers and their tools export it.
//!
//! A HAR holds decoded bodies. Those that were sent with a content coding are compressed again,
//! with brotli or gzip, so their sizes differ from the original; the provenance notes it. An entry
//! with status 304 holds the body from the browser's cache and becomes a complete response, which
//! the provenance also notes. An invalid entry is left out, without effect on others.

use std::io::Read;
use std::path::Path;

use bytes::Bytes;
use flate2::read::GzDecoder;
use serde_json::value::RawValue;

use super::har_body::{BodyReader, Form, encode_latin1};
use super::har_charset::declare_utf8;
use super::har_handshakes::HarHandshakes;
use super::har_log::{Entry, Request, Response, initiator_url};
use super::har_posted::Posted;
use super::json::{self, Elements, Member};
use super::json_loose::{Fields, Leaf, Maybe};
use super::refusal::Refusal;
use super::{Imported, blank};
use crate::address::parse_address;
use crate::budget::ReadBudget;
use crate::coding;
use crate::exchange::Exchange;
use crate::exchange::header::{self, Header};
use crate::limits::{HAR_BYTES_MAX, HEAD_FIELDS_MAX};
use crate::timestamp;
use crate::url::Url;
use crate::warc::gzip::MAGIC;
use crate::warc::http1;
use crate::whole::correct_length;

/// The number of bytes of a compressed file that are decoded to detect its content.
const SNIFF_BYTES: usize = 4096;
const NOT_MODIFIED: u16 = 304;
/// The status codes that lead a browser to `Location`.
const LEADING_ON: [u16; 5] = [301, 302, 303, 307, 308];
/// Chromium's reason phrase for a redirect that no server sent.
const INTERNAL_REDIRECT: &str = "Internal Redirect";
/// Prefixes of fields that were not sent: those that Firefox adds, such as `X-Firefox-Spdy`, and
/// original fields that web archives rename because they conflict with their own.
const ADDED_FIELDS: [&str; 2] = ["x-firefox-", "x-archive-orig-"];

/// Imports a file.
pub fn import(_: &Path, content: Bytes, imported: &mut Imported) -> Result<(), Refusal> {
    if is_utf16(&content) {
        let reason = "it is in UTF-16, and a HAR is in UTF-8; save it in UTF-8";
        return Err(Refusal::with_remedy(reason));
    }
    if is_compressed(&content) {
        let reason = "it is a HAR that is compressed; run `gunzip` on it";
        return Err(Refusal::with_remedy(reason));
    }
    let json = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&content);
    if json.len() > HAR_BYTES_MAX {
        let reason = format!("it has more than {HAR_BYTES_MAX} bytes");
        return Err(Refusal::too_large(reason));
    }
    let mut reading = Reading::new(imported, ReadBudget::for_file(json.len() as u64));
    let entries = Elements::new(|entry: &RawValue| reading.take(entry.get()));
    let read = json::read(json, Member::new("log", Member::new("entries", entries)));
    read.map_err(|error| reading.describe_refusal(&error, json))?;
    let Reading {
        altered,
        handshakes,
        ..
    } = reading;
    handshakes.add_to(&mut imported.provenance);
    imported.provenance.altered.extend(altered.sentences());
    Ok(())
}

/// Whether a possible HAR is compressed or in UTF-16 instead of plain JSON in UTF-8; [`import`]
/// reports which.
pub fn is_encoded(content: &[u8]) -> bool {
    is_utf16(content) || is_compressed(content)
}

/// Whether a text begins like UTF-16, with a byte order mark or with a brace.
fn is_utf16(content: &[u8]) -> bool {
    [b"\xff\xfe", b"\xfe\xff", b"{\0", b"\0{"]
        .iter()
        .any(|begin| content.starts_with(*begin))
}

fn is_compressed(content: &[u8]) -> bool {
    let mut begin = Vec::new();
    let read = GzDecoder::new(content).take(SNIFF_BYTES as u64);
    // A read error only ends the inspection.
    let _ = { read }.read_to_end(&mut begin);
    content.starts_with(MAGIC) && begins_with_member(&begin, "\"log\"")
}

/// Whether `name` is the first member of a JSON object.
fn begins_with_member(json: &[u8], name: &str) -> bool {
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    let members = json.trim_ascii_start().strip_prefix(b"{");
    members.is_some_and(|members| members.trim_ascii_start().starts_with(name.as_bytes()))
}

/// The state of importing one file's entries.
struct Reading<'a> {
    imported: &'a mut Imported,
    budget: ReadBudget,
    entries: usize,
    /// The URL of the previous entry.
    last_url: String,
    refusal: Option<Refusal>,
    altered: Altered,
    handshakes: HarHandshakes,
}

/// Counts of entries that differ in the recording from what was sent.
#[derive(Default)]
struct Altered {
    compressed: usize,
    from_cache: usize,
    mended: usize,
    redirects: usize,
    targets: usize,
    typed: usize,
    as_utf8: usize,
    added: usize,
    forms: usize,
    not_posted: usize,
}

impl Altered {
    fn sentences(self) -> impl Iterator<Item = String> {
        let sentences = [
            (
                self.compressed,
                "bodies, which a HAR holds decoded, were compressed again: \
                 their sizes are not the recorded ones",
            ),
            (
                self.from_cache,
                "answers with status 304 became 200 with the body that the browser had in \
                 its cache: their sizes and fields are not the recorded ones",
            ),
            (
                self.mended,
                "bodies stood otherwise than their `encoding` says, and were read by their size",
            ),
            (
                self.redirects,
                "redirects are in the HAR without a body, and have an empty one",
            ),
            (
                self.targets,
                "redirects are in the HAR without `Location`, and lead to their `redirectURL`",
            ),
            (
                self.typed,
                "answers are in the HAR without fields, and have the type of its `mimeType`",
            ),
            (
                self.as_utf8,
                "texts, which a HAR holds in Unicode, are in UTF-8, and their fields say so",
            ),
            (
                self.added,
                "answers have fields that Firefox or an archive added, and come without them",
            ),
            (
                self.forms,
                "forms are in the HAR as parameters, and the requests' bodies are written from these",
            ),
            (
                self.not_posted,
                "requests lack their body in the HAR, or a part of it, and have what is there",
            ),
        ];
        let counted = sentences.into_iter().filter(|(count, _)| *count > 0);
        counted.map(|(count, sentence)| format!("{count} {sentence}"))
    }
}

impl<'a> Reading<'a> {
    fn new(imported: &'a mut Imported, budget: ReadBudget) -> Self {
        Self {
            imported,
            budget,
            entries: 0,
            last_url: String::new(),
            refusal: None,
            altered: Altered::default(),
            handshakes: HarHandshakes::default(),
        }
    }

    /// Imports an entry, if the budget has the memory that this takes. The JSON text is not copied
    /// before.
    fn take(&mut self, json: &str) -> Result<(), String> {
        let number = self.entries;
        self.entries += 1;
        if let Err(damage) = self.budget.check_fits(estimate_memory_max(json)) {
            return Err(self.refuse(number, Refusal::too_large(damage)));
        }
        // The reader only passes valid JSON.
        let entry: Maybe<Entry<'_>> = serde_json::from_str(json).unwrap_or_default();
        let url = entry.0.as_ref().and_then(|entry| entry.request.0.as_ref());
        let url = url.and_then(|request| request.url.text());
        self.last_url = url.map_or_else(|| "no URL".to_owned(), |url| format!("{url:.300}"));
        let read = match entry.0 {
            None => Err("it is no object that can be read".to_owned()),
            Some(entry) => self.exchange(entry),
        };
        let exchange = match read {
            Ok(exchange) => exchange,
            Err(reason) => {
                let url = &self.last_url;
                self.imported
                    .leave_out(format!("{url}: {reason} (entry {number})"));
                return Ok(());
            }
        };
        let bytes = exchange.body.len() + exchange.request_body.len();
        let kept = self
            .budget
            .spend_memory(bytes as u64)
            .map_err(Refusal::too_large);
        let pushed = kept.and_then(|()| self.imported.push(exchange, &mut self.budget));
        pushed.map_err(|refusal| self.refuse(number, refusal))
    }

    /// Ends the import with `refusal`, which is reported instead of the returned error.
    fn refuse(&mut self, number: usize, refusal: Refusal) -> String {
        let place = format!("entry {number}, {}", self.last_url);
        self.refusal = Some(refusal.at(place.trim_end_matches(", ")));
        String::new()
    }

    /// Returns why the file is refused: a refused entry, or else invalid JSON.
    fn describe_refusal(&mut self, error: &serde_json::Error, json: &[u8]) -> Refusal {
        if let Some(refusal) = self.refusal.take() {
            return refusal;
        }
        let place = match self.entries {
            0 => String::new(),
            entries => format!(" after {entries} entries, the last for {}", self.last_url),
        };
        match error.classify() {
            serde_json::error::Category::Data if begins_with_member(json, "\"Requests\"") => {
                Refusal::with_remedy(
                    "it is a Web Page Replay archive that is not compressed; run `gzip` on it",
                )
            }
            serde_json::error::Category::Data => Refusal::with_remedy(
                "it is no HAR, which has one `log` with one list of `entries`; export it as a HAR \
                 with bodies",
            ),
            _ if std::str::from_utf8(json).is_err() => {
                Refusal::with_remedy("it is not in UTF-8, as a HAR is; save it in UTF-8")
            }
            _ => format!("it is no sound JSON{place}: {error}").into(),
        }
    }

    fn exchange(&mut self, entry: Entry<'_>) -> Result<Exchange, String> {
        let request = entry.request.0.ok_or("it has no request")?;
        let response = entry.response.0.ok_or("it has no response")?;
        let mut exchange = self.new_exchange(&request)?;
        self.fill(&mut exchange, &response)?;
        let address = entry.server_ip_address.text();
        exchange.address = address.and_then(|text| parse_address(text.trim()));
        let started = entry.started_date_time.text();
        exchange.recorded_at_unix_ms = started.and_then(|text| timestamp::parse_with_offset(&text));
        let initiator = initiator_url(entry.initiator);
        let initiator = initiator.and_then(|url| url.parse::<Url>().ok());
        exchange.initiator = initiator.map(|url| url.to_string());
        if let Some(timings) = &entry.timings.0 {
            let wait = timings.wait.number();
            exchange.time_to_first_byte_ms = wait.filter(|wait| *wait >= 0.0 && wait.is_finite());
            self.handshakes.add(&exchange, timings, entry.time);
        }
        Ok(exchange)
    }

    /// Creates an exchange from a request.
    fn new_exchange(&mut self, request: &Request<'_>) -> Result<Exchange, String> {
        let url: Url = request
            .url
            .text()
            .ok_or("its request has no URL")?
            .parse()
            .map_err(|error: crate::UrlError| error.reason.to_owned())?;
        let request_headers = convert_fields(&request.headers)?;
        let posted = Posted::from_request(request, &request_headers);
        self.altered.forms += usize::from(posted.is_written);
        self.altered.not_posted += usize::from(posted.is_cut);
        Ok(Exchange {
            method: normalise_method(request.method.text().ok_or("its request has no method")?),
            request_headers,
            request_body: posted.bytes.into(),
            protocol: protocol(request.http_version)
                .unwrap_or("http/1.1")
                .to_owned(),
            ..blank(url)
        })
    }

    /// Fills in the response.
    fn fill(&mut self, exchange: &mut Exchange, response: &Response<'_>) -> Result<(), String> {
        let status = response
            .status
            .integer()
            .and_then(|status| u16::try_from(status).ok());
        let status = status.filter(|status| *status >= 200);
        let odd_status = || format!("it has the status {}", response.status.to_message());
        exchange.status = status.ok_or_else(odd_status)?;
        let status_text = response.status_text.word().unwrap_or_default();
        exchange.reason = status_text.trim().replace(['\r', '\n'], " ");
        if let Some(protocol) = protocol(response.http_version) {
            exchange.protocol = protocol.to_owned();
        }
        if let Some(error) = response.error.text().filter(|error| !error.is_empty()) {
            return Err(format!("the browser has no whole answer: {error:.100}"));
        }
        let is_redirect = (300..400).contains(&exchange.status);
        if is_redirect && exchange.reason.eq_ignore_ascii_case(INTERNAL_REDIRECT) {
            return Err(format!(
                "the browser made this answer itself, and nothing of it was sent ({INTERNAL_REDIRECT})"
            ));
        }
        let mut headers = convert_fields(&response.headers)?;
        let media_type = response.content.0.as_ref().map(|content| content.mime_type);
        if headers.is_empty() && add_type(&mut headers, media_type) {
            self.altered.typed += 1;
        }
        let sent = headers.len();
        let is_added = |name: &str| {
            let mut beginnings = ADDED_FIELDS.iter();
            beginnings.any(|beginning| starts_with_ignoring_case(name, beginning))
        };
        headers.retain(|header| !is_added(&header.name));
        self.altered.added += usize::from(headers.len() < sent);
        if LEADING_ON.contains(&exchange.status) && header::find(&headers, "location").is_none() {
            let target = response.redirect_url.text().unwrap_or_default();
            if !target.trim().is_empty() {
                headers.push(Header::new("Location", value_bytes(&target)));
                self.altered.targets += 1;
            }
        }
        let content = response.content.0.as_ref();
        let has_location = header::find(&headers, "location").is_some();
        let leads_on = is_redirect && has_location;
        let has_no_body = exchange.method == "HEAD" || [204, 304].contains(&exchange.status);
        let sent = [&response.body_size, &response.transfer_size].map(|leaf| leaf.integer());
        let body = BodyReader {
            headers: &headers,
            is_needed: !leads_on && !has_no_body,
            sent_bytes: sent.into_iter().flatten().max().unwrap_or(-1),
            bytes_max: self.budget.bytes_left(),
        };
        let body = body.read(content)?;
        // Only a client with the body can use a 304, and a browser with an empty cache needs it.
        if exchange.status == NOT_MODIFIED && !body.bytes.is_empty() {
            // A 304 may lack the body's type (RFC 9110, section 15.4.5).
            add_type(&mut headers, media_type);
            (exchange.status, exchange.reason) = (200, "OK".to_owned());
            self.altered.from_cache += 1;
        }
        if body.form == Form::Text && declare_utf8(&mut headers, content, &body.bytes) {
            self.altered.as_utf8 += 1;
        }
        self.altered.mended += usize::from(body.form == Form::Recovered);
        self.altered.redirects += usize::from(body.form == Form::Missing && !has_no_body);
        let codings = coding::all_codings(&headers);
        let is_decoded = body.form != Form::AsSent && !coding::is_identity(&codings);
        exchange.body = if is_decoded && !body.bytes.is_empty() {
            let (coded_as, coded) = coding::encode(&codings, &body.bytes);
            coding::replace_codings(&mut headers, coded_as);
            self.altered.compressed += 1;
            coded
        } else {
            body.bytes.into()
        };
        headers.retain(|header| !header.is("transfer-encoding"));
        if !has_no_body {
            correct_length(&mut headers, &exchange.body);
        }
        exchange.response_headers = headers;
        Ok(())
    }
}

/// Adds the type that `content` has, if the fields have none; returns whether it did.
fn add_type(headers: &mut Vec<Header>, media_type: Option<Leaf<'_>>) -> bool {
    let has_type = headers.iter().any(|header| header.is("content-type"));
    // Browsers write `x-unknown` or nothing if they do not know it.
    let media_type = media_type
        .and_then(Leaf::text)
        .filter(|text| text.contains('/') && !has_type);
    let value = media_type.map(|text| Header::new("Content-Type", text.trim().to_owned()));
    let is_added = value.is_some();
    headers.extend(value);
    is_added
}

/// Returns an upper bound of the memory to import an entry: each of its texts exists twice, as JSON
/// and as a field or compressed body. If there are escapes, the JSON reader also copies the longest
/// text.
fn estimate_memory_max(json: &str) -> u64 {
    let copies = if json.contains('\\') { 3 } else { 2 };
    copies * json.len() as u64
}

/// Converts fields, without the pseudo fields of HTTP/2; a value with several lines becomes several
/// fields.
fn convert_fields(fields: &Fields<'_>) -> Result<Vec<Header>, String> {
    let fields = match fields {
        Fields::Absent => return Ok(Vec::new()),
        Fields::List(fields) => fields,
        Fields::TooMany => {
            return Err(format!("its head has more than {HEAD_FIELDS_MAX} fields"));
        }
        Fields::NoList => return Err("its header fields are no list".to_owned()),
    };
    let mut headers = Vec::with_capacity(fields.len());
    for field in fields {
        let name = field.name.text().unwrap_or_default();
        if name.is_empty() || name.starts_with(':') {
            continue;
        }
        let name = name.trim();
        let value = field.value.word().unwrap_or_default();
        let lines = value.split(['\r', '\n']).filter(|line| !line.is_empty());
        let room = HEAD_FIELDS_MAX - headers.len();
        headers.extend(
            lines
                .take(room)
                .map(|line| Header::new(name, value_bytes(line))),
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

/// Returns a field value's bytes. Chromium writes a character for each byte, so that UTF-8 is there
/// as Latin-1 (RFC 9110, section 5.5).
fn value_bytes(value: &str) -> Bytes {
    let value = value.trim_matches([' ', '\t']);
    let bytes = encode_latin1(value).filter(|bytes| std::str::from_utf8(bytes).is_ok());
    bytes
        .unwrap_or_else(|| value.to_owned().into_bytes())
        .into()
}

fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    let head = text.as_bytes().get(..prefix.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(prefix.as_bytes()))
}

/// Returns the method in the case in which browsers send it; some writers have their own.
fn normalise_method(method: String) -> String {
    const METHODS: [&str; 6] = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]; // as in Fetch
    let sent = METHODS
        .iter()
        .find(|sent| sent.eq_ignore_ascii_case(&method));
    sent.map_or(method, |&sent| sent.to_owned())
}

/// Returns the protocol of a version as writers have it, `None` if it is not known: Chromium named
/// drafts of HTTP/3 `h3-29` and `http/2+quic/46`.
fn protocol(version: Leaf<'_>) -> Option<&'static str> {
    let version = version.text()?.trim().to_ascii_lowercase();
    match version.as_str() {
        draft if draft.starts_with("h3-") || draft.contains("quic/") => Some("h3"),
        "h2c" => Some("h2"),
        other => http1::parse_protocol(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Imports an entry whose body is this JSON text within 80 MiB, and returns the result.
    fn read(text: &str) -> Result<usize, String> {
        let mut imported = Imported::default();
        let mut reading = Reading::new(&mut imported, ReadBudget::for_file(0));
        let entry = format!(
            r#"{{"request":{{"method":"GET","url":"https://a.test/"}},
             "response":{{"status":200,"content":{{"text":"{text}"}}}}}}"#
        );
        let read = reading.take(&entry);
        let refusal = reading.refusal.take();
        match read {
            Ok(()) => Ok(imported.exchanges[0].body.len()),
            Err(_) => Err(refusal.expect("why it ends").to_string()),
        }
    }

    #[test]
    fn an_entry_is_refused_before_it_takes_more_than_is_left() {
        let text = "a".repeat(30 << 20);
        assert_eq!(read(&text), Ok(30 << 20));
        let refused = "entry 0: it would take more than 83886080 bytes of memory, \
                       the bound for a file of this size; export it in parts";
        assert_eq!(read(&(text.clone() + r"\n")), Err(refused.to_owned()));
        assert_eq!(
            read(&(text + &"a".repeat(11 << 20))),
            Err(refused.to_owned())
        );
    }
}
