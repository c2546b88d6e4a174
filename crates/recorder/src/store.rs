//! The store of recorded exchanges.

mod writing;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use eyelevel_archive::limits::EXCHANGES_MAX;
use eyelevel_archive::{Exchange, Provenance};
use serde::Serialize;
pub use writing::Writing;

use crate::RecordError;
use crate::admission::target::Target;
use crate::certificate::Certificate;
use crate::notes::{LeftOut, REFUSED};
use crate::spool::Spool;
use crate::tee::Budget;
use crate::under_way::UnderWay;

/// The most hosts whose certificates are stored.
const CERTIFICATES_MAX: usize = 10_000;

/// The wait for started responses at the end: longer than the rest of one takes, shorter than
/// people wait after they interrupt a command.
const SETTLING: Duration = Duration::from_secs(2);

/// The exchanges that the proxy has recorded, shared by all its connections.
#[derive(Debug)]
pub struct Store {
    inner: Mutex<Inner>,
    /// The budget of bodies in transit.
    pub(crate) budget: Arc<Budget>,
    pub(crate) under_way: UnderWay,
    /// Whether cookies and credentials are stored.
    pub(crate) keep_cookies: bool,
}

#[derive(Debug)]
struct Inner {
    spool: Spool,
    stored: Vec<Stored>,
    visit: u32,
    next: u64,
    open: u64,
    left_out: LeftOut,
    certificates: BTreeMap<String, Certificate>,
    /// The round trips of handshakes; other fields are unset.
    handshakes: Provenance,
}

#[derive(Debug)]
struct Stored {
    ticket: Ticket,
    exchange: Exchange,
    request_body: Range<u64>,
    body: Range<u64>,
}

/// The position of an exchange in the order of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    visit: u32,
    number: u64,
}

/// The number of recorded exchanges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct StoreCounts {
    /// Stored exchanges.
    pub exchanges: usize,
    /// Requests with a pending response.
    pub open: u64,
    /// Notes on what passed through but is not stored.
    pub left_out: usize,
}

impl Store {
    /// Creates an empty store, which spools to a file that must not exist.
    pub fn new(spool: PathBuf, keep_cookies: bool) -> Result<Self, RecordError> {
        Ok(Self {
            inner: Mutex::new(Inner {
                spool: Spool::create(spool)?,
                stored: Vec::new(),
                visit: 0,
                next: 0,
                open: 0,
                left_out: LeftOut::default(),
                certificates: BTreeMap::new(),
                handshakes: Provenance::default(),
            }),
            budget: Arc::default(),
            under_way: UnderWay::default(),
            keep_cookies,
        })
    }

    /// Assigns what follows to the page's next visit.
    pub fn begin_visit(&self) {
        self.lock().visit += 1;
    }

    /// Counts what was recorded so far.
    pub fn counts(&self) -> StoreCounts {
        let inner = self.lock();
        StoreCounts {
            exchanges: inner.stored.len(),
            open: inner.open,
            left_out: inner.left_out.len(),
        }
    }

    /// Returns the first sentence about a host's exchanges that were left out.
    pub fn why_left_out(&self, host: &str) -> Option<String> {
        self.lock().left_out.about(host)
    }

    pub(crate) fn begin(&self) -> Ticket {
        let mut inner = self.lock();
        let ticket = Ticket {
            visit: inner.visit,
            number: inner.next,
        };
        inner.next += 1;
        inner.open += 1;
        ticket
    }

    /// Ends an exchange of [`Store::begin`], with its two bodies or with a sentence that states why
    /// there is none.
    pub(crate) fn end(&self, ticket: Ticket, ended: Result<(Exchange, Bytes, Bytes), String>) {
        let mut inner = self.lock();
        inner.open -= 1;
        let sentence = match ended {
            Err(sentence) => sentence,
            Ok((exchange, ..)) if inner.stored.len() >= EXCHANGES_MAX => {
                format!("{}: more than {EXCHANGES_MAX} exchanges", exchange.url)
            }
            Ok((exchange, request_body, body)) => {
                let ranges = inner
                    .spool
                    .add(&request_body)
                    .and_then(|request_body| Ok((request_body, inner.spool.add(&body)?)));
                match ranges {
                    Ok((request_body, body)) => {
                        return inner.stored.push(Stored {
                            ticket,
                            exchange,
                            request_body,
                            body,
                        });
                    }
                    Err(error) => format!("{}: {error}", exchange.url),
                }
            }
        };
        inner.left_out.failed.add(sentence);
    }

    /// Ends an exchange of [`Store::begin`] without a note, because there already is one.
    pub(crate) fn withdraw(&self) {
        self.lock().open -= 1;
    }

    /// Notes a server that a page may not reach.
    pub(crate) fn refuse(&self, reason: &str) {
        self.lock()
            .left_out
            .refused
            .add(format!("{REFUSED}{reason}"));
    }

    /// Notes an exchange that cannot be stored.
    pub(crate) fn leave_out(&self, sentence: String) {
        self.lock().left_out.failed.add(sentence);
    }

    /// Notes a request of a client without this run's credentials.
    pub(crate) fn turn_away(&self) {
        let sentence = "a request without this run's credentials";
        self.lock().left_out.unauthorized.add(sentence.to_owned());
    }

    pub(crate) fn keep_certificate(&self, host: &str, certificate: Certificate) {
        let mut inner = self.lock();
        if inner.certificates.len() < CERTIFICATES_MAX {
            inner.certificates.insert(host.to_owned(), certificate);
        }
    }

    pub(crate) fn keep_handshake(&self, target: &Target, address: IpAddr, rtt_ms: f64) {
        let mut inner = self.lock();
        let (host, port) = (target.url_host(), target.port);
        inner.handshakes.add_handshake(&host, port, address, rtt_ms);
    }

    /// Waits, for a bounded time, for responses that have started, so that those a client has seen
    /// in part or abandoned are recorded completely.
    pub async fn settle(&self) {
        self.under_way.wait_ended(SETTLING).await;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the wall-clock time, used only as a label.
pub(crate) fn unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |duration| duration.as_millis() as i64)
}
