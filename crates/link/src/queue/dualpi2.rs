use super::aqm::{limit_packets, positive_ms};
use super::fifo::Fifo;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::words::Words;
use crate::{DropReason, Ecn, SpecError};
use eyelevel_units::{Duration, Instant};
use serde::{Deserialize, Serialize};

/// DualPI2, two coupled queues for low latency, low loss and scalable throughput (RFC 9332,
/// appendix A). Packets of ECT(1) or CE go to the low-latency queue. The defaults are the RFC's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DualPi2Spec {
    /// Delay that the classic queue aims at, in milliseconds.
    pub target_ms: f64,
    /// Largest round-trip time for which it is stable, in milliseconds (RTT_max).
    pub rtt_ms_max: f64,
    /// The coupling factor k.
    pub coupling: f64,
    /// Delay at which the low-latency queue begins to mark, in milliseconds (minTh).
    pub mark_ms_min: f64,
    /// Delay from which on it marks every packet, in milliseconds (maxTh).
    pub mark_ms_max: f64,
    /// Share of the link that waiting classic packets have for certain.
    pub classic_share: f64,
    /// Packets that may wait in both queues together.
    pub limit_packets: u64,
}

impl Default for DualPi2Spec {
    fn default() -> Self {
        Self {
            target_ms: 15.0,
            rtt_ms_max: 100.0,
            coupling: 2.0,
            mark_ms_min: 0.8,
            mark_ms_max: 1.2,
            // The weight of one sixteenth that RFC 9332 gives for weighted round robin.
            classic_share: 1.0 / 16.0,
            limit_packets: 10_000,
        }
    }
}

impl DualPi2Spec {
    /// Reads what follows the discipline's name in the text form.
    pub(super) fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let mut spec = Self::default();
        while !words.is_empty() {
            match words.word("a setting")? {
                "target" => spec.target_ms = words.ms()?,
                "limit" => spec.limit_packets = words.packets()?,
                other => return Err(words.unknown_setting(other, "target, limit")),
            }
        }
        Ok(spec)
    }
}

/// The low-latency queue marks by itself only with more packets than this behind (Th_len).
const MARK_PACKETS_MIN: u64 = 1;
/// Updates after which an idle queue's probability has long been 0.
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

#[derive(Debug)]
struct Settings {
    target: Duration,
    update: Duration,
    alpha: f64,
    beta: f64,
    coupling: f64,
    mark_min: Duration,
    mark_max: Duration,
    classic_share: f64,
    limit_packets: u64,
}

/// One of the two queues with the sum that turns a likelihood into evenly spread choices.
#[derive(Debug)]
struct Lane<P> {
    waiting: Fifo<P>,
    accumulated: f64,
}

impl<P> Lane<P> {
    /// Chooses this share of packets, evenly spread (the RFC's `recur`): no luck is involved.
    fn chooses(&mut self, likelihood: f64) -> bool {
        self.accumulated += likelihood;
        let chosen = self.accumulated > 1.0;
        if chosen {
            self.accumulated -= 1.0;
        }
        chosen
    }
}

impl Settings {
    fn new(spec: &DualPi2Spec, place: &str) -> Result<Self, SpecError> {
        let target = positive_ms(spec.target_ms, "target_ms", place)?;
        let rtt_max = positive_ms(spec.rtt_ms_max, "rtt_ms_max", place)?;
        let mark_min = positive_ms(spec.mark_ms_min, "mark_ms_min", place)?;
        let mark_max = positive_ms(spec.mark_ms_max, "mark_ms_max", place)?;
        if mark_max < mark_min {
            let problem = "mark_ms_max is below mark_ms_min";
            return Err(SpecError::setting(place, problem, "exchange them"));
        }
        if !(spec.coupling >= 1.0 && spec.coupling <= 16.0) {
            let problem = format!("coupling is {}", spec.coupling);
            return Err(SpecError::setting(
                place,
                problem,
                "use 1 to 16; the RFC's is 2",
            ));
        }
        if !(spec.classic_share > 0.0 && spec.classic_share < 1.0) {
            let problem = format!("classic_share is {}", spec.classic_share);
            return Err(SpecError::setting(
                place,
                problem,
                "use a number between 0 and 1",
            ));
        }
        let update = target.min(rtt_max / 3);
        let rtt = rtt_max.as_secs_f64();
        Ok(Self {
            target,
            update: update.max(Duration::from_micros(100)),
            alpha: 0.1 * update.as_secs_f64() / (rtt * rtt),
            beta: 0.3 / rtt,
            coupling: spec.coupling,
            mark_min,
            mark_max,
            classic_share: spec.classic_share,
            limit_packets: limit_packets(spec.limit_packets, place)?,
        })
    }

    /// The low-latency queue's own marking: a ramp from 0 to 1 over the two thresholds.
    fn native(&self, delay: Duration) -> f64 {
        if delay >= self.mark_max {
            1.0
        } else if delay > self.mark_min {
            let range = (self.mark_max - self.mark_min).as_secs_f64();
            (delay - self.mark_min).as_secs_f64() / range
        } else {
            0.0
        }
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
            let next = if self.classic_turn() {
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

    /// Weighted round robin in bytes: low latency first, unless the classic queue is owed its share.
    fn classic_turn(&self) -> bool {
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
            let native = if busy {
                self.settings.native(at.since(queued_packet.entered))
            } else {
                0.0
            };
            lane.chooses(native.max(coupled))
        } else {
            // Overload: drop like the classic queue, mark the others.
            if lane.chooses(self.base * self.base) {
                reports.dropped(at, queued_packet, DropReason::ActiveQueue);
                return None;
            }
            lane.chooses(coupled.min(1.0))
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
        if self.classic.chooses(probability) {
            // The most that the classic queue marks is (1/k)^2; beyond, ECN is overloaded.
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
