//! Queue disciplines in front of a link, one per file.

mod aqm;
mod codel;
mod drophead;
mod droptail;
mod dualpi2;
mod fifo;
mod fq_codel;
mod infinite;
mod limits;
mod pie;
mod red;

use crate::SpecError;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::words::Words;
use codel::Codel;
pub use codel::CodelSpec;
use drophead::DropHead;
use droptail::DropTail;
use dualpi2::DualPi2;
pub use dualpi2::DualPi2Spec;
use eyelevel_units::{BitRate, Instant, Seed};
use fq_codel::FqCodel;
pub use fq_codel::FqCodelSpec;
use infinite::Infinite;
use limits::Limits;
pub use limits::LimitsSpec;
use pie::Pie;
pub use pie::PieSpec;
use red::Red;
pub use red::RedSpec;
use serde::{Deserialize, Serialize};

/// The time to fill a queue without a bound, for flows' buffers.
const INFINITE_MS: f64 = 1000.0;

/// The round trip for which CoDel (RFC 8289), PIE (RFC 8033) and DualPI2 (RFC 9332) are designed.
const MANAGED_MS: f64 = 100.0;

/// A queue discipline and its limits. A limit counts the queued packets, without the one in
/// transmission; several limits apply together; an empty queue takes a packet of any size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "discipline", rename_all = "snake_case", deny_unknown_fields)]
pub enum QueueSpec {
    /// A queue that never drops.
    #[default]
    Infinite,
    /// Drop tail: drops the arriving packet that would exceed a limit.
    Droptail(LimitsSpec),
    /// Drop head: drops the packets that have waited longest until the arriving one fits.
    Drophead(LimitsSpec),
    /// Controlled delay.
    Codel(CodelSpec),
    /// Fair queueing with controlled delay.
    FqCodel(FqCodelSpec),
    /// Proportional integral controller.
    Pie(PieSpec),
    /// Random early detection.
    Red(RedSpec),
    /// Two coupled queues, for L4S.
    Dualpi2(DualPi2Spec),
}

impl QueueSpec {
    /// Creates a drop-tail queue of `limit_ms` milliseconds.
    pub fn droptail_ms(limit_ms: f64) -> Self {
        Self::Droptail(LimitsSpec {
            limit_ms: Some(limit_ms),
            ..LimitsSpec::default()
        })
    }

    /// Creates a drop-tail queue of `limit_bytes` bytes.
    pub fn droptail_bytes(limit_bytes: u64) -> Self {
        Self::Droptail(LimitsSpec {
            limit_bytes: Some(limit_bytes),
            ..LimitsSpec::default()
        })
    }

    /// Creates a drop-tail queue of `limit_packets` packets.
    pub fn droptail_packets(limit_packets: u64) -> Self {
        Self::Droptail(LimitsSpec {
            limit_packets: Some(limit_packets),
            ..LimitsSpec::default()
        })
    }

    /// Returns the most that the queue holds, in milliseconds at `rate`.
    pub(crate) fn ms_max(&self, rate: BitRate) -> f64 {
        match self {
            Self::Infinite => INFINITE_MS,
            Self::Droptail(limits) | Self::Drophead(limits) => limits.ms_max(rate),
            Self::Red(red) => red.ms_max(rate),
            Self::Codel(_) | Self::FqCodel(_) | Self::Pie(_) | Self::Dualpi2(_) => MANAGED_MS,
        }
    }

    /// Parses the words after `queue` in the text form.
    pub(crate) fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let name = words
            .word("a queue discipline, such as \"droptail 200ms\"")?
            .replace('-', "_");
        if let Some((_, parse)) = DISCIPLINES.iter().find(|(known, _)| *known == name) {
            return parse(words);
        }
        let names: Vec<&str> = DISCIPLINES.iter().map(|(known, _)| *known).collect();
        let remedy = format!("use one of {}", names.join(", "));
        Err(words.error(&format!("unknown queue discipline {name:?}"), &remedy))
    }
}

type Parse = fn(&mut Words<'_>) -> Result<QueueSpec, SpecError>;

/// The disciplines' names in the text form, with the parsers of what follows.
const DISCIPLINES: &[(&str, Parse)] = &[
    ("infinite", |_| Ok(QueueSpec::Infinite)),
    ("droptail", |words| {
        LimitsSpec::parse(words).map(QueueSpec::Droptail)
    }),
    ("drophead", |words| {
        LimitsSpec::parse(words).map(QueueSpec::Drophead)
    }),
    ("codel", |words| {
        CodelSpec::parse(words).map(QueueSpec::Codel)
    }),
    ("fq_codel", |words| {
        FqCodelSpec::parse(words).map(QueueSpec::FqCodel)
    }),
    ("pie", |words| PieSpec::parse(words).map(QueueSpec::Pie)),
    ("red", |words| RedSpec::parse(words).map(QueueSpec::Red)),
    ("dualpi2", |words| {
        DualPi2Spec::parse(words).map(QueueSpec::Dualpi2)
    }),
];

/// The state of a queue discipline. Static dispatch: a packet passes it twice.
#[derive(Debug)]
pub(crate) enum Queue<P> {
    Infinite(Infinite<P>),
    DropTail(DropTail<P>),
    DropHead(DropHead<P>),
    Codel(Box<Codel<P>>),
    FqCodel(Box<FqCodel<P>>),
    Pie(Box<Pie<P>>),
    Red(Box<Red<P>>),
    DualPi2(Box<DualPi2<P>>),
}

impl<P> Queue<P> {
    /// Builds the queue in front of a link whose (mean) rate is `rate`.
    pub(crate) fn new(
        spec: &QueueSpec,
        rate: BitRate,
        seed: Seed,
        place: &str,
    ) -> Result<Self, SpecError> {
        Ok(match spec {
            QueueSpec::Infinite => Self::Infinite(Infinite::new()),
            QueueSpec::Droptail(spec) => {
                Self::DropTail(DropTail::new(Limits::new(spec, rate, place)?))
            }
            QueueSpec::Drophead(spec) => {
                Self::DropHead(DropHead::new(Limits::new(spec, rate, place)?))
            }
            QueueSpec::Codel(spec) => Self::Codel(Box::new(Codel::new(spec, place)?)),
            QueueSpec::FqCodel(spec) => {
                Self::FqCodel(Box::new(FqCodel::new(spec, seed.child("fq_codel"), place)?))
            }
            QueueSpec::Pie(spec) => Self::Pie(Box::new(Pie::new(spec, seed.child("pie"), place)?)),
            QueueSpec::Red(spec) => {
                Self::Red(Box::new(Red::new(spec, rate, seed.child("red"), place)?))
            }
            QueueSpec::Dualpi2(spec) => Self::DualPi2(Box::new(DualPi2::new(spec, place)?)),
        })
    }

    /// Sets the path's start, from which periodic updates count.
    pub(crate) fn start(&mut self, origin: Instant) {
        match self {
            Self::Pie(queue) => queue.start(origin),
            Self::Red(queue) => queue.start(origin),
            Self::DualPi2(queue) => queue.start(origin),
            _ => {}
        }
    }

    /// Queues an arriving packet or drops packets.
    #[inline]
    pub(crate) fn enqueue<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) {
        match self {
            Self::Infinite(queue) => queue.enqueue(at, queued_packet, reports),
            Self::DropTail(queue) => queue.enqueue(at, queued_packet, reports),
            Self::DropHead(queue) => queue.enqueue(at, queued_packet, reports),
            Self::Codel(queue) => queue.enqueue(at, queued_packet, reports),
            Self::FqCodel(queue) => queue.enqueue(at, queued_packet, reports),
            Self::Pie(queue) => queue.enqueue(at, queued_packet, reports),
            Self::Red(queue) => queue.enqueue(at, queued_packet, reports),
            Self::DualPi2(queue) => queue.enqueue(at, queued_packet, reports),
        }
    }

    /// Returns the packet whose transmission begins at `at`.
    #[inline]
    pub(crate) fn dequeue<O: Observer<P>>(
        &mut self,
        at: Instant,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        match self {
            Self::Infinite(queue) => queue.dequeue(),
            Self::DropTail(queue) => queue.dequeue(),
            Self::DropHead(queue) => queue.dequeue(),
            Self::Codel(queue) => queue.dequeue(at, reports),
            Self::FqCodel(queue) => queue.dequeue(at, reports),
            Self::Pie(queue) => queue.dequeue(at),
            Self::Red(queue) => queue.dequeue(at),
            Self::DualPi2(queue) => queue.dequeue(at, reports),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Infinite(queue) => queue.is_empty(),
            Self::DropTail(queue) => queue.is_empty(),
            Self::DropHead(queue) => queue.is_empty(),
            Self::Codel(queue) => queue.is_empty(),
            Self::FqCodel(queue) => queue.is_empty(),
            Self::Pie(queue) => queue.is_empty(),
            Self::Red(queue) => queue.is_empty(),
            Self::DualPi2(queue) => queue.is_empty(),
        }
    }
}
