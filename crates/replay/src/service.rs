//! Answers requests, for every protocol.

use crate::dates::{CacheAge, Moment};
use crate::early_hints::EarlyHints;
use crate::live::{self, Live, LiveOptions, LiveRequest, LiveSummary};
use crate::matcher::{Answer, Matcher, Progress, Request, Rules};
use crate::response::{MATCH_HEADER, Reply, Responses};
use crate::scheduler::Priority;
use crate::{
    ClockNs, ConnectionLogs, Event, EventSink, HttpVersion, RequestEvent, StackConfig, think,
};
use eyelevel_archive::{Scheme, Site, Url};
use http::header::{ALT_SVC, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue, Method, Uri};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The bytes of a request's body that are compared; more are read and discarded.
pub const REQUEST_BODY_BYTES_MAX: usize = 1024 * 1024;

/// The connection through which a request arrived.
#[derive(Clone, Copy, Debug)]
pub struct Entrance {
    /// The connection's number.
    pub connection: u64,
    /// `http/1.1`, `h2` or `h3`.
    pub protocol: &'static str,
    /// The scheme: `https` if the connection is secured.
    pub scheme: Scheme,
}

/// A recorded site with its matcher, ready to answer.
pub struct Service {
    site: Arc<Site>,
    matcher: Matcher,
    /// Answers for the page's own origin, where there is one.
    live: Option<Live>,
    responses: Responses,
    progress: Mutex<Progress>,
    priorities: bool,
    alt_svc: bool,
    /// Whether responses over HTTP/2 name HTTP/3 as well.
    is_discovered: bool,
    /// The host that each open connection was opened for, if that is known.
    hosts: Mutex<HashMap<u64, String>>,
    /// Think time of each exchange; empty if no response is delayed.
    think_ns: Vec<u64>,
    /// Sent before the page's response over HTTP/2 and HTTP/3.
    early_hints: Option<EarlyHints>,
    /// Set if the first visit fills a cache for the next one.
    cache_age: Option<CacheAge>,
    began_ns: u64,
    is_again: AtomicBool,
    now_ns: ClockNs,
    events: EventSink,
    logs: ConnectionLogs,
    connections: AtomicU64,
    requests: AtomicU64,
    misses: AtomicU64,
}

impl Service {
    /// Indexes the site.
    pub fn new(
        site: Arc<Site>,
        rules: Rules,
        stack: &StackConfig,
        now_ns: ClockNs,
        events: EventSink,
    ) -> Self {
        Self {
            matcher: Matcher::new(site.exchanges(), rules),
            responses: Responses::new(site.exchanges().len()),
            think_ns: think::times_ns(site.exchanges(), site.origins(), stack.think_time),
            live: None,
            priorities: stack.priorities,
            alt_svc: stack.announces_alt_svc(),
            is_discovered: stack.is_discovered(),
            hosts: Mutex::default(),
            site,
            progress: Mutex::default(),
            early_hints: None,
            cache_age: None,
            began_ns: now_ns(),
            is_again: AtomicBool::new(false),
            now_ns,
            events,
            logs: ConnectionLogs::default(),
            connections: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// Returns the service with logs of its connections.
    #[must_use]
    pub fn with_logs(mut self, logs: ConnectionLogs) -> Self {
        self.logs = logs;
        self
    }

    /// Returns the service with a first visit that fills a cache, which has this age on the next one.
    #[must_use]
    pub fn with_cache_age(mut self, cache_age: Option<CacheAge>) -> Self {
        self.cache_age = cache_age;
        self
    }

    /// Returns the service with Early Hints for its page.
    #[must_use]
    pub fn with_early_hints(mut self, early_hints: Option<EarlyHints>) -> Self {
        self.early_hints = early_hints;
        self
    }

    /// The same with a live build at the page's own origin.
    #[must_use]
    pub fn with_live(mut self, options: Option<LiveOptions>) -> Self {
        self.live = options.map(|options| Live::new(self.site.main_url(), options));
        self
    }

    /// What a live build did since the last [`Self::restart`].
    pub fn live(&self) -> Option<LiveSummary> {
        self.live.as_ref().map(Live::summary)
    }

    pub(crate) fn logs(&self) -> &ConnectionLogs {
        &self.logs
    }

    /// Answers a request and reports it. `started_ns` is when its head was complete.
    pub async fn answer(
        &self,
        entrance: Entrance,
        head: &RequestHead<'_>,
        body: &[u8],
        started_ns: u64,
    ) -> Reply {
        let (host, port) = head.host_and_port(entrance.scheme);
        let request = Request {
            method: head.method.as_str(),
            scheme: entrance.scheme,
            host: &host,
            port,
            path_and_query: head
                .uri
                .path_and_query()
                .map_or("/", |target| target.as_str()),
            headers: head.headers,
            body,
        };
        let live = self.live.as_ref();
        let live = live.filter(|live| live.is_at(entrance.scheme, &host, port));
        let (mut reply, answer) = match live {
            Some(live) => (forward_to_live(live, &request, head.method).await, None),
            None => {
                let (reply, answer) = self.replay(&request);
                (reply, Some(answer))
            }
        };
        if self.has_alt_svc(entrance, &host) {
            add_alt_svc(&mut reply.headers, port);
        }
        // Browsers ignore them over HTTP/1.1, where some clients take them for the response.
        if entrance.protocol != HttpVersion::H1.protocol() {
            let hints = self.early_hints.as_ref();
            reply.early_hints = hints.and_then(|hints| hints.link_before(&request));
        }
        self.report(
            entrance,
            &request,
            answer.as_ref(),
            &reply,
            (started_ns, head.head_bytes),
        );
        reply
    }

    /// The recorded answer.
    fn replay(&self, request: &Request<'_>) -> (Reply, Answer) {
        let exchanges = self.site.exchanges();
        let answer = {
            let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
            self.matcher.answer(exchanges, request, &mut progress)
        };
        let moment = self.moment();
        let responses = &self.responses;
        let mut reply = responses.reply(exchanges, request, &answer, moment.as_ref());
        if let Answer::Match { exchange, .. } = &answer {
            let think_ns = self.think_ns.get(*exchange).copied().unwrap_or(0);
            reply.think = Duration::from_nanos(think_ns);
        }
        (reply, answer)
    }

    /// Returns the priority that a request has; the same for all if priorities are ignored.
    pub(crate) fn priority(&self, headers: &HeaderMap) -> Priority {
        if !self.priorities {
            return Priority::ALIKE;
        }
        let field = headers.get("priority");
        let field = field.and_then(|value| value.to_str().ok());
        field.map_or_else(Priority::default, Priority::parse)
    }

    fn requested_priority(&self, entrance: Entrance, headers: &HeaderMap) -> Option<String> {
        let counts = self.priorities && entrance.protocol != HttpVersion::H1.protocol();
        counts.then(|| self.priority(headers).to_string())
    }

    /// Returns the time of a response whose dates are to be moved, if they are.
    fn moment(&self) -> Option<Moment> {
        let cache_age = self.cache_age?;
        let since_s = self.now_ns().saturating_sub(self.began_ns) / 1_000_000_000;
        Some(Moment {
            cache_age,
            now_unix_s: cache_age.began_unix_s.saturating_add_unsigned(since_s),
            fills_cache: !self.is_again.load(Ordering::Relaxed),
        })
    }

    /// Restarts every recorded sequence, for the next page load; returns the number of the next
    /// connection.
    pub fn restart(&self) -> u64 {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Progress::default();
        self.is_again.store(true, Ordering::Relaxed);
        self.live.iter().for_each(Live::restart);
        self.connections.load(Ordering::Relaxed)
    }

    /// Returns the requests answered so far, and how many of them were misses.
    pub fn counts(&self) -> (u64, u64) {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (load(&self.requests), load(&self.misses))
    }

    /// Returns a number for the next connection.
    pub(crate) fn next_connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn now_ns(&self) -> u64 {
        (self.now_ns)()
    }

    /// Records the host that the client named in its handshake (RFC 6066, section 3).
    pub(crate) fn on_server_name(&self, connection: u64, host: &str) {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.insert(connection, host.to_ascii_lowercase());
    }

    /// Returns whether it is the connection's own host: others coalesce onto it (RFC 9114, section
    /// 3.3).
    fn was_opened_for(&self, connection: u64, host: &str) -> bool {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.get(&connection).is_none_or(|own| own == host)
    }

    /// Returns whether a response to this host names HTTP/3. If clients are to find it, every response
    /// on a secured connection does, as with real servers.
    fn has_alt_svc(&self, entrance: Entrance, host: &str) -> bool {
        if self.is_discovered {
            return entrance.scheme == Scheme::Https;
        }
        let over_h3 = entrance.protocol == HttpVersion::H3.protocol();
        self.alt_svc && over_h3 && self.was_opened_for(entrance.connection, host)
    }

    pub(crate) fn emit(&self, event: Event) {
        if let Event::Connection(connection) = &event {
            let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
            hosts.remove(&connection.connection);
        }
        (self.events)(event);
    }

    fn report(
        &self,
        entrance: Entrance,
        request: &Request<'_>,
        answer: Option<&Answer>,
        reply: &Reply,
        (started_ns, head_bytes): (u64, Option<u64>),
    ) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let (exchange, nearest_url, difference) = match answer {
            Some(Answer::Miss(miss)) => {
                self.misses.fetch_add(1, Ordering::Relaxed);
                let difference = Some(miss.difference.to_owned());
                (None, miss.nearest_url.clone(), difference)
            }
            Some(Answer::Match { exchange, .. }) => (Some(*exchange), None, None),
            Some(Answer::Preflight) | None => (None, None, None),
        };
        let at_ns = self.now_ns();
        self.emit(Event::Request(Box::new(RequestEvent {
            at_ns,
            protocol: entrance.protocol,
            method: request.method.to_owned(),
            url: request.url(),
            head_bytes,
            status: reply.status.as_u16(),
            r#match: answer.map_or(live::LIVE_MATCH, |answer| answer.how().as_str()),
            exchange,
            nearest_url,
            difference,
            body_bytes: body_bytes(reply),
            server_us: at_ns.saturating_sub(started_ns) / 1000,
            priority: self.requested_priority(entrance, request.headers),
            think_ms: reply.think.as_secs_f64() * 1e3,
            early_hints: reply.early_hints.is_some(),
            connection: entrance.connection,
        })));
    }
}

/// Returns the response of a live build.
async fn forward_to_live(live: &Live, request: &Request<'_>, method: &Method) -> Reply {
    let live_request = LiveRequest {
        method,
        target: request.path_and_query,
        headers: request.headers,
        body: request.body,
    };
    let mut answer = live.answer(&live_request).await;
    let how = HeaderValue::from_static(live::LIVE_MATCH);
    answer.headers.insert(MATCH_HEADER, how);
    Reply {
        status: answer.status,
        headers: answer.headers,
        body: answer.body,
        stream: answer.stream,
        think: Duration::ZERO,
        early_hints: None,
    }
}

/// Returns the length that is known with the head; a live build may send more.
fn body_bytes(reply: &Reply) -> u64 {
    let announced = || {
        let length = reply.headers.get(CONTENT_LENGTH)?.to_str().ok()?;
        length.parse().ok()
    };
    let live = reply.stream.as_ref().and_then(|_| announced());
    live.unwrap_or(reply.body.len() as u64)
}

/// Adds the field that announces HTTP/3 on the request's port (RFC 7838, section 3). Chromium
/// assumes that a host heeds priorities only once it has read this field or opened an HTTP/2
/// connection to it. Over HTTP/2 it never assumes it of a host that coalesces onto another's
/// connection, so such a host must not announce it over HTTP/3 either
/// (docs/decisions/0017-request-scheduling.md).
fn add_alt_svc(headers: &mut HeaderMap, port: u16) {
    if let Ok(value) = HeaderValue::try_from(format!("h3=\":{port}\"")) {
        headers.insert(ALT_SVC, value);
    }
}

/// A request's head as hyper and h3 provide it.
#[derive(Clone, Copy, Debug)]
pub struct RequestHead<'a> {
    /// The method.
    pub method: &'a Method,
    /// The target, with the authority over HTTP/2 and HTTP/3.
    pub uri: &'a Uri,
    /// The fields.
    pub headers: &'a HeaderMap,
    /// Its coded size as received.
    pub head_bytes: Option<u64>,
}

impl RequestHead<'_> {
    /// Returns the authority of the target, else of `Host` (RFC 9110, section 7.2).
    fn host_and_port(&self, scheme: Scheme) -> (String, u16) {
        let host_field = || self.headers.get("host").and_then(|host| host.to_str().ok());
        let authority = self.uri.authority().map(|authority| authority.as_str());
        let authority = authority.or_else(host_field).unwrap_or("");
        let after_brackets = authority.rfind(']').map_or(0, |end| end + 1);
        let colon = authority[after_brackets..].rfind(':');
        let (host, port) = match colon {
            Some(colon) => authority.split_at(after_brackets + colon),
            None => (authority, ""),
        };
        let port = port.trim_start_matches(':').parse();
        let port = port.unwrap_or(scheme.default_port());
        // Clients other than browsers write addresses in any form; recordings have one.
        let address = host.starts_with('[').then(|| format!("{scheme}://{host}/"));
        let address = address.and_then(|url| url.parse::<Url>().ok());
        let host = address.map_or_else(|| host.to_ascii_lowercase(), |url| url.host);
        (host, port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_requests_are_those_of_recordings() {
        for (named, right) in [
            ("A.test", ("a.test", 443)),
            ("a.test:8443", ("a.test", 8443)),
            ("[2001:DB8:0:0:0:0:0:2]", ("[2001:db8::2]", 443)),
            ("[2001:db8::2]:8443", ("[2001:db8::2]", 8443)),
            ("[2001:db8::", ("[2001:db8:", 443)),
            ("", ("", 443)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("host", named.parse().unwrap());
            let head = RequestHead {
                method: &Method::GET,
                uri: &Uri::from_static("/"),
                headers: &headers,
                head_bytes: None,
            };
            let (host, port) = head.host_and_port(Scheme::Https);
            assert_eq!((&*host, port), right, "{named}");
        }
    }
}
