use super::effect::Effect;
use super::interface::{StageSettings, StageState};
use crate::observer::{EventKind, Observer, Reports};
use crate::queue::Queue;
use crate::queued_packet::QueuedPacket;
use crate::recorded::{ReadFile, Recorded};
use crate::trace::{self, OPPORTUNITY_BYTES, Trace};
use crate::words::Words;
use crate::{QueueSpec, SpecError};
use eyelevel_units::{Instant, Seed};
use serde::{Deserialize, Serialize};

/// A link that sends only at the instants of a packet-delivery trace, as Mahimahi's mm-link does.
///
/// At each opportunity up to `opportunity_bytes` leave: several small packets, or a part of a
/// larger one, which leaves with the opportunity that completes it. The unused part of an
/// opportunity is lost. A packet that arrives at the very instant of an opportunity is too late for
/// it.
///
/// Mahimahi counts the 4 bytes that its TUN device puts before a packet, in packets and in
/// opportunities (1504 bytes): `opportunity_bytes` 1504 and `packet_overhead_bytes` 4 do the same.
/// The defaults count IP bytes; for full packets of 1500 bytes both are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// The opportunities in whole milliseconds since the path's start; in a file one per line.
    pub trace: Recorded<u64>,
    /// Whether the link is dead after the trace's end; otherwise the trace repeats, each time from
    /// the millisecond of its last opportunity on.
    #[serde(default)]
    pub once: bool,
    /// Bytes that an opportunity carries.
    #[serde(default = "opportunity_bytes")]
    pub opportunity_bytes: u32,
    /// Bytes added to a packet's IP size.
    #[serde(default)]
    pub packet_overhead_bytes: u32,
    /// The queue; unbounded if it is not given. A limit in milliseconds counts at the mean rate.
    #[serde(default)]
    pub queue: QueueSpec,
}

const fn opportunity_bytes() -> u32 {
    OPPORTUNITY_BYTES
}

impl StageSettings for TraceSpec {
    const IS_LINK: bool = true;

    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        Ok(Self {
            trace: Recorded::from_file(words.file()?),
            once: words.take("once"),
            opportunity_bytes: OPPORTUNITY_BYTES,
            packet_overhead_bytes: 0,
            queue: QueueSpec::Infinite,
        })
    }

    fn effect(&self) -> Result<Effect<'_>, SpecError> {
        let trace = Trace::new(self.trace.values("trace")?.to_vec())
            .map_err(|error| error.with_place("trace"))?;
        Ok(Effect::link(
            trace.mean_rate(self.opportunity_bytes),
            &self.queue,
        ))
    }

    fn queue_mut(&mut self) -> Option<&mut QueueSpec> {
        Some(&mut self.queue)
    }

    fn load_files(&mut self, read: &mut ReadFile<'_>) -> Result<(), SpecError> {
        let Some(file) = self.trace.file().map(str::to_owned) else {
            return Ok(());
        };
        self.trace.load(read, trace::parse_line, trace::LINE)?;
        // Checked as a whole, so that the error of a wrong order names its line.
        let values = self.trace.values(&file)?.to_vec();
        Trace::new(values)
            .map(drop)
            .map_err(|error| error.with_file(&file))
    }
}

#[derive(Debug)]
pub(crate) struct TraceLink<P> {
    trace: Trace,
    once: bool,
    opportunity_bytes: u32,
    packet_overhead_bytes: u32,
    queue: Queue<P>,
    origin: Instant,
    /// The next opportunity: the repetition of the trace and the position in it.
    cycle: u64,
    index: usize,
    /// Bytes left of the current opportunity, which is at `credit_at`.
    credit: u32,
    credit_at: Instant,
    /// The packet being sent and the bytes of it that are left.
    in_transmission: Option<(QueuedPacket<P>, u64)>,
}

impl<P> StageState<P> for TraceLink<P> {
    type Settings = TraceSpec;

    fn new(settings: &TraceSpec, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let trace = Trace::new(settings.trace.values(&format!("{place}: trace"))?.to_vec())
            .map_err(|error| error.with_place(place))?;
        if settings.opportunity_bytes == 0 {
            let problem = "opportunity_bytes is 0";
            return Err(SpecError::setting(
                place,
                problem,
                "use 1500, or leave it out",
            ));
        }
        let rate = trace.mean_rate(settings.opportunity_bytes);
        Ok(Self {
            trace,
            once: settings.once,
            opportunity_bytes: settings.opportunity_bytes,
            packet_overhead_bytes: settings.packet_overhead_bytes,
            queue: Queue::new(&settings.queue, rate, seed, &format!("{place}: queue"))?,
            origin: Instant::ZERO,
            cycle: 0,
            index: 0,
            credit: 0,
            credit_at: Instant::ZERO,
            in_transmission: None,
        })
    }

    fn start(&mut self, origin: Instant) {
        self.origin = origin;
        self.queue.start(origin);
    }

    fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        if self.is_idle() {
            self.skip_past(at, reports);
        }
        self.queue.enqueue(at, queued_packet, reports);
        None
    }

    fn deadline(&self) -> Instant {
        match (self.is_idle(), self.credit) {
            (true, _) => Instant::MAX,
            (false, 0) => self.next_opportunity(),
            (false, _) => self.credit_at,
        }
    }

    fn handle_timeout<O: Observer<P>>(
        &mut self,
        at: Instant,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        if self.credit == 0 {
            (self.credit, self.credit_at) = (self.opportunity_bytes, at);
            self.advance();
        }
        if self.in_transmission.is_none() {
            let overhead = u64::from(self.packet_overhead_bytes);
            self.in_transmission = self.queue.dequeue(at, reports).map(|queued_packet| {
                let bytes = queued_packet.bytes() + overhead;
                (queued_packet, bytes)
            });
        }
        let Some((queued_packet, left)) = self.in_transmission.take() else {
            // Active queue management dropped everything queued.
            self.lose_credit(reports);
            return None;
        };
        let sent = left.min(u64::from(self.credit));
        self.credit -= sent as u32;
        if sent < left {
            self.in_transmission = Some((queued_packet, left - sent));
            return None;
        }
        let queued = at.since(queued_packet.entered);
        reports.event(at, &queued_packet, EventKind::Served { queued });
        if self.queue.is_empty() {
            self.lose_credit(reports);
        }
        Some(queued_packet)
    }
}

impl<P> TraceLink<P> {
    /// Returns whether nothing is queued and nothing is being sent.
    pub(super) fn is_idle(&self) -> bool {
        self.in_transmission.is_none() && self.queue.is_empty()
    }

    fn lose_credit<O: Observer<P>>(&mut self, reports: &mut Reports<'_, O>) {
        if self.credit > 0 {
            reports.unused::<P>(self.credit_at, self.credit);
        }
        self.credit = 0;
    }

    /// Returns the instant of the next opportunity; [`Instant::MAX`] after the end.
    fn next_opportunity(&self) -> Instant {
        if self.once && self.cycle > 0 {
            return Instant::MAX;
        }
        self.origin + self.trace.offset(self.cycle, self.index)
    }

    fn advance(&mut self) {
        self.index += 1;
        if self.index == self.trace.len() {
            self.cycle += 1;
            self.index = 0;
        }
    }

    /// Skips every opportunity up to `at`, which an idle link loses.
    fn skip_past<O: Observer<P>>(&mut self, at: Instant, reports: &mut Reports<'_, O>) {
        if reports.observer.wants_unused() {
            while self.next_opportunity() <= at {
                reports.unused::<P>(self.next_opportunity(), self.opportunity_bytes);
                self.advance();
            }
        } else if self.next_opportunity() <= at {
            (self.cycle, self.index) = self.trace.first_after(at.since(self.origin));
        }
    }
}
