mod settings;

use super::fifo::Fifo;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::{DropReason, Ecn, SpecError};
use eyelevel_units::{Duration, Instant};
pub use settings::DualPi2Spec;
use settings::Settings;

/// The number of queued packets above which the low-latency queue marks by itself (Th_len).
const MARK_PACKETS_MIN: u64 = 1;
/// The number of updates after which an idle queue's probability has long been 0.
const UPDATES_MAX: u32 = 100_000;

#[derive(Debug)]
pub(crate) struct DualPi2<P> {
    settings: Settings,
    low_latency: Lane<P>,
    classic: Lane<P>,
    /// Positive while the classic queue is owed its share, in bytes scaled by the share.
    classic_credit: f64,
    /// The base probability p'.
    base: f64,
    delay_previous: Duration,
    update_next: Instant,
}

/// One of the two queues, with the accumulator that spreads marks evenly.
#[derive(Debug)]
struct Lane<P> {
    waiting: Fifo<P>,
    accumulated: f64,
}

impl<P> Lane<P> {
    /// Selects this share of packets, evenly spread (the RFC's `recur`), without randomness.
    fn choose(&mut self, likelihood: f64) -> bool {
        self.accumulated += likelihood;
        let chosen = self.accumulated > 1.0;
        if chosen {
            self.accumulated -= 1.0;
        }
        chosen
    }
}

impl<P> DualPi2<P> {
    pub(crate) fn new(spec: &DualPi2Spec, place: &str) -> Result<Self, SpecError> {
        let settings = Settings::new(spec, place)?;
        let lane = || Lane {
            waiting: Fifo::default(),
            accumulated: 0.0,
        };
        Ok(Self {
            update_next: Instant::ZERO + settings.update,
            settings,
            low_latency: lane(),
            classic: lane(),
            classic_credit: 0.0,
            base: 0.0,
            delay_previous: Duration::ZERO,
        })
    }

    pub(crate) fn start(&mut self, origin: Instant) {
        self.update_next = origin + self.settings.update;
    }

    pub(crate) fn enqueue<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) {
        self.catch_up(at);
        let waiting = self.low_latency.waiting.packets() + self.classic.waiting.packets();
        if waiting >= self.settings.limit_packets {
            reports.dropped(at, queued_packet, DropReason::QueueFull);
            return;
        }
        match queued_packet.packet.ecn {
            Ecn::Ect1 | Ecn::Ce => self.low_latency.waiting.push(queued_packet),
            Ecn::NotEct | Ecn::Ect0 => self.classic.waiting.push(queued_packet),
        }
    }

    pub(crate) fn dequeue<O: Observer<P>>(
        &mut self,
        at: Instant,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        self.catch_up(at);
        while !self.is_empty() {
            let next = if self.is_classic_turn() {
                self.dequeue_classic(at, reports)
            } else {
                self.dequeue_low_latency(at, reports)
            };
            if next.is_some() {
                return next;
            }
        }
        None
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.low_latency.waiting.is_empty() && self.classic.waiting.is_empty()
    }

    /// Returns whether the classic queue is next, by weighted round robin in bytes: low latency
    /// first, unless the classic queue is owed its share.
    fn is_classic_turn(&self) -> bool {
        match (
            self.low_latency.waiting.is_empty(),
            self.classic.waiting.is_empty(),
        ) {
            (true, _) => true,
            (false, true) => false,
            (false, false) => self.classic_credit > 0.0,
        }
    }

    fn dequeue_low_latency<O: Observer<P>>(
        &mut self,
        at: Instant,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        let lane = &mut self.low_latency;
        let mut queued_packet = lane.waiting.pop()?;
        if self.classic.waiting.is_empty() {
            self.classic_credit = 0.0;
        } else {
            self.classic_credit += queued_packet.bytes() as f64 * self.settings.classic_share;
        }
        let coupled = self.settings.coupling * self.base;
        let mark = if coupled < 1.0 {
            let busy = lane.waiting.packets() > MARK_PACKETS_MIN;
            let native_probability = if busy {
                self.settings
                    .native_probability(at.since(queued_packet.entered))
            } else {
                0.0
            };
            lane.choose(native_probability.max(coupled))
        } else {
            // Overload: drop like the classic queue, mark the others.
            if lane.choose(self.base * self.base) {
                reports.dropped(at, queued_packet, DropReason::ActiveQueue);
                return None;
            }
            lane.choose(coupled.min(1.0))
        };
        if mark {
            reports.mark(at, &mut queued_packet);
        }
        Some(queued_packet)
    }

    fn dequeue_classic<O: Observer<P>>(
        &mut self,
        at: Instant,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        let mut queued_packet = self.classic.waiting.pop()?;
        let paid = queued_packet.bytes() as f64 * (1.0 - self.settings.classic_share);
        self.classic_credit = if self.low_latency.waiting.is_empty() {
            0.0
        } else {
            self.classic_credit - paid
        };
        let probability = self.base * self.base;
        if self.classic.choose(probability) {
            // The classic queue marks at most (1/k)^2; beyond, ECN is overloaded.
            let overload = probability >= (1.0 / self.settings.coupling).powi(2);
            if overload || !queued_packet.packet.ecn.is_capable() {
                reports.dropped(at, queued_packet, DropReason::ActiveQueue);
                return None;
            }
            reports.mark(at, &mut queued_packet);
        }
        Some(queued_packet)
    }

    /// Runs the updates that were due since the last packet, as a timer would have.
    fn catch_up(&mut self, at: Instant) {
        for _ in 0..UPDATES_MAX {
            if self.update_next > at {
                return;
            }
            self.update_base(self.update_next);
            self.update_next += self.settings.update;
        }
        let behind = at.since(self.update_next).as_nanos() / self.settings.update.as_nanos() + 1;
        let nanos = behind * self.settings.update.as_nanos();
        self.update_next += Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
    }

    fn update_base(&mut self, at: Instant) {
        let delay = self
            .low_latency
            .waiting
            .age(at)
            .max(self.classic.waiting.age(at));
        let (now, previous) = (delay.as_secs_f64(), self.delay_previous.as_secs_f64());
        let error = now - self.settings.target.as_secs_f64();
        let step = self.settings.alpha * error + self.settings.beta * (now - previous);
        self.base = (self.base + step).clamp(0.0, 1.0);
        self.delay_previous = delay;
    }
}
