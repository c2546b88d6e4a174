//! An exchange with a pending response, and what is stored when it ends.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use eyelevel_archive::{Exchange, Header, Url, check_writable, response_head};
use http::{HeaderMap, Method, Version};
use hyper::ext::ReasonPhrase;

use crate::head_repair::repair_head;
use crate::privacy;
use crate::stamped::streams::{Expected, Times};
use crate::store::{Store, Ticket};
use crate::tee::{BODY_BYTES_MAX, Ended};
use crate::upstream::Answer;

/// A request's body, once it has passed, with that time, nanoseconds of `CLOCK_MONOTONIC`.
pub type SharedBody = Arc<Mutex<Option<(Ended, u64)>>>;

/// The head of a response, with its timing.
pub struct ResponseStart {
    status: u16,
    reason: String,
    headers: Vec<Header>,
    protocol: &'static str,
    address: std::net::IpAddr,
    times: Times,
    /// Names of fields that browsers accept and hyper drops.
    lost: Vec<String>,
    /// The HTTP/2 stream, whose body may still have a fault.
    stream: Option<Expected>,
}

impl ResponseStart {
    /// Reads the head as the server sent it, if that is known.
    pub fn of(answer: &Answer) -> Self {
        let response = &answer.response;
        let reason = response.extensions().get::<ReasonPhrase>();
        let reason = reason.map_or(
            response.status().canonical_reason().unwrap_or(""),
            |reason| std::str::from_utf8(reason.as_bytes()).unwrap_or(""),
        );
        let protocol = match response.version() {
            Version::HTTP_2 => "h2",
            Version::HTTP_10 => "http/1.0",
            _ => "http/1.1",
        };
        let mut start = Self {
            status: response.status().as_u16(),
            reason: if protocol == "h2" { "" } else { reason }.to_owned(),
            headers: list_fields(response.headers()),
            protocol,
            address: answer.address,
            times: answer.times,
            lost: Vec::new(),
            stream: answer.stream.clone(),
        };
        // Interim responses precede the final one.
        while let Some(head) = answer.head.as_ref().and_then(|head| head.lock().take()) {
            match response_head(&repair_head(&head).into()) {
                Ok((line, headers)) if line.status == start.status => {
                    let with_controls = headers.iter().filter(|header| has_controls(header));
                    start.lost = with_controls.map(|header| header.name.clone()).collect();
                    start.headers = restore_wire_order(headers, start.headers);
                    start.reason = line.reason;
                    break;
                }
                _ => {}
            }
        }
        start
    }
}

/// Whether a value has control characters, which browsers accept and hyper does not.
fn has_controls(header: &Header) -> bool {
    let is_control = |&byte: &u8| byte != b'\t' && byte.is_ascii_control();
    header.value.iter().any(is_control)
}

/// Returns the fields that hyper parsed (`took`), which the page gets, in their order and case on
/// the wire. Fields that parse differently in hyper follow in hyper's form.
fn restore_wire_order(on_the_wire: Vec<Header>, took: Vec<Header>) -> Vec<Header> {
    let key = |header: &Header| (header.name.to_ascii_lowercase(), header.value.clone());
    let mut unseen: HashMap<(String, Bytes), usize> = HashMap::new();
    for header in &took {
        *unseen.entry(key(header)).or_default() += 1;
    }
    let mut is_unseen = |header: &Header| {
        let count = unseen.get_mut(&key(header)).filter(|count| **count > 0);
        count.map(|count| *count -= 1).is_some()
    };
    let all = on_the_wire.into_iter().chain(took);
    all.filter(|header| is_unseen(header)).collect()
}

/// An exchange with a pending response.
pub struct Pending {
    pub method: Method,
    pub url: String,
    pub request_headers: Vec<Header>,
    pub request_body: SharedBody,
    pub started_unix_ms: i64,
    /// The store and the ticket; `None` after the end.
    pub end: Option<(Arc<Store>, Ticket)>,
}

impl Pending {
    /// Ends the exchange without storing it, with a sentence that states why.
    pub fn leave_out(&mut self, sentence: String) {
        if let Some((store, ticket)) = self.end.take() {
            store.end(ticket, Err(sentence));
        }
    }

    /// Ends the exchange without a further note.
    pub fn withdraw(&mut self) {
        if let Some((store, _)) = self.end.take() {
            store.withdraw();
        }
    }

    /// Stores the exchange when the response's body has ended.
    pub fn finish(mut self, start: ResponseStart, ended: Ended) {
        let body = match ended {
            Ended::Whole(body) => body,
            Ended::Cut => {
                if let Some(fault) = start.stream.and_then(|stream| stream.fault()) {
                    return self
                        .leave_out(format!("{}: its answer was refused, {fault}", self.url));
                }
                let kind = start
                    .headers
                    .iter()
                    .find(|header| header.is("content-type"));
                let kind = kind.and_then(Header::text).unwrap_or("no content type");
                return self.leave_out(format!("{}: its answer was cut ({kind})", self.url));
            }
            Ended::TooLarge => {
                let sentence = format!("{}: its body has over {BODY_BYTES_MAX} bytes", self.url);
                return self.leave_out(sentence);
            }
        };
        let sent = self
            .request_body
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let times = start.times;
        let (request_body, body_ended_ns) = match sent {
            Some((Ended::Whole(body), at_ns)) => (body, at_ns),
            _ => (Bytes::new(), times.sent_ns),
        };
        let waited_ns = times
            .first_byte_ns
            .saturating_sub(times.sent_ns.max(body_ended_ns));
        let Some((store, ticket)) = self.end.take() else {
            return;
        };
        let exchange = |url| Exchange {
            index: 0,
            method: self.method.to_string(),
            url,
            request_headers: privacy::select_stored(
                std::mem::take(&mut self.request_headers),
                store.keep_cookies,
            ),
            request_body: Bytes::new(),
            status: start.status,
            reason: start.reason.clone(),
            response_headers: privacy::select_stored(start.headers, store.keep_cookies),
            body: Bytes::new(),
            address: Some(start.address),
            protocol: start.protocol.to_owned(),
            recorded_at_unix_ms: Some(self.started_unix_ms),
            time_to_first_byte_ms: Some((waited_ns as f64 / 1e3).round() / 1e3),
            initiator: None,
        };
        let url = self.url.parse::<Url>().map_err(|error| error.to_string());
        let whole = url.map(exchange).and_then(|exchange| {
            check_writable(&exchange)?;
            Ok((exchange, request_body, body))
        });
        for name in start.lost {
            let fault = "has a control character; the page did not get it";
            store.leave_out(format!("{}: its field `{name}` {fault}", self.url));
        }
        store.end(ticket, whole);
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.leave_out(format!("{}: the client left before an answer", self.url));
    }
}

/// Returns the fields as hyper has them.
pub fn list_fields(headers: &HeaderMap) -> Vec<Header> {
    let header = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        Header::new(
            name.as_str(),
            Bytes::copy_from_slice(value.as_bytes().trim_ascii()),
        )
    };
    headers.iter().map(header).collect()
}
