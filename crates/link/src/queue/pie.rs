use super::aqm::{limit_packets, positive_ms};
use super::fifo::Fifo;
use crate::error::At;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::words::Words;
use crate::{DropReason, SpecError};
use eyelevel_units::{Duration, Generator, Instant, Seed, duration_from_ms};
use serde::{Deserialize, Serialize};

/// PIE, proportional integral controller enhanced (RFC 8033), with the delay measured by timestamps
/// (section 5.2) and with the de-randomisation of section 5.4. The defaults are the RFC's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PieSpec {
    /// The target delay, in milliseconds (QDELAY_REF).
    pub target_ms: f64,
    /// Time between updates of the drop probability, in milliseconds (T_UPDATE).
    pub update_ms: f64,
    /// Length of a burst that is not affected, in milliseconds (MAX_BURST).
    pub burst_ms: f64,
    /// The limit of queued packets.
    pub limit_packets: u64,
    /// Whether capable packets are marked instead of dropped while the probability is below 10 %.
    pub ecn: bool,
}

impl Default for PieSpec {
    fn default() -> Self {
        Self {
            target_ms: 15.0,
            update_ms: 15.0,
            burst_ms: 150.0,
            limit_packets: 1_000,
            ecn: false,
        }
    }
}

impl PieSpec {
    /// Parses the words after the discipline's name in the text form.
    pub(super) fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let mut spec = Self::default();
        while !words.is_empty() {
            match words.word("a setting")? {
                "target" => spec.target_ms = words.ms()?,
                "update" => spec.update_ms = words.ms()?,
                "burst" => spec.burst_ms = words.ms()?,
                "limit" => spec.limit_packets = words.packets()?,
                "ecn" => spec.ecn = true,
                "no-ecn" => spec.ecn = false,
                other => {
                    return Err(
                        words.unknown_setting(other, "target, update, burst, limit, ecn, no-ecn")
                    );
                }
            }
        }
        Ok(spec)
    }
}

/// Gains per second of delay (section 4.2).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// Probabilities below which the step is divided, and the divisors (section 4.2).
const STEP_DIVISORS: [(f64, f64); 6] = [
    (0.000_001, 2_048.0),
    (0.000_01, 512.0),
    (0.000_1, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];
/// The largest step once the probability is at least 10 % (section 5.5).
const STEP_MAX: f64 = 0.02;
/// The factor of the probability per update when there is no delay (section 4.2).
const DECAY: f64 = 0.98;
/// The probability from which marks become drops (section 5.1).
const MARK_PROBABILITY_MAX: f64 = 0.1;
/// The mean packet size; two such packets are too few to drop from (section 4.1).
const PACKET_BYTES_MEAN: u64 = 1_500;
/// The accumulated probability below which there is no drop, and above which there is always one
/// (section 5.4).
const ACCUMULATED: core::ops::Range<f64> = 0.85..8.5;
/// The number of updates beyond which nothing changes: the probability has decayed to 0 long
/// before.
const UPDATES_MAX: u32 = 10_000;

#[derive(Debug)]
pub(crate) struct Pie<P> {
    target: Duration,
    update: Duration,
    burst: Duration,
    limit_packets: u64,
    ecn: bool,
    waiting: Fifo<P>,
    generator: Generator,
    probability: f64,
    accumulated: f64,
    burst_allowance: Duration,
    delay: Duration,
    delay_old: Duration,
    update_next: Instant,
}

impl<P> Pie<P> {
    pub(crate) fn new(spec: &PieSpec, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let burst = duration_from_ms(spec.burst_ms).at(|| format!("{place}: burst_ms"))?;
        let update = positive_ms(spec.update_ms, "update_ms", place)?;
        Ok(Self {
            target: positive_ms(spec.target_ms, "target_ms", place)?,
            update,
            burst,
            limit_packets: limit_packets(spec.limit_packets, place)?,
            ecn: spec.ecn,
            waiting: Fifo::default(),
            generator: seed.generator(),
            probability: 0.0,
            accumulated: 0.0,
            burst_allowance: burst,
            delay: Duration::ZERO,
            delay_old: Duration::ZERO,
            update_next: Instant::ZERO + update,
        })
    }

    pub(crate) fn start(&mut self, origin: Instant) {
        self.update_next = origin + self.update;
    }

    pub(crate) fn enqueue<O: Observer<P>>(
        &mut self,
        at: Instant,
        mut queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) {
        self.catch_up(at);
        if self.waiting.packets() >= self.limit_packets {
            self.accumulated = 0.0;
            reports.dropped(at, queued_packet, DropReason::QueueFull);
            return;
        }
        if self.burst_allowance.is_zero() && self.should_drop_early() {
            let markable = self.ecn && queued_packet.packet.ecn.is_capable();
            if !markable || self.probability >= MARK_PROBABILITY_MAX {
                reports.dropped(at, queued_packet, DropReason::ActiveQueue);
                return;
            }
            reports.mark(at, &mut queued_packet);
        }
        self.waiting.push(queued_packet);
    }

    pub(crate) fn dequeue(&mut self, at: Instant) -> Option<QueuedPacket<P>> {
        self.catch_up(at);
        self.waiting.pop()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns whether an arriving packet is dropped early (section 4.1 with 5.4).
    fn should_drop_early(&mut self) -> bool {
        let quiet = self.delay_old < self.target / 2 && self.probability < 0.2;
        if quiet || self.waiting.bytes() <= 2 * PACKET_BYTES_MEAN {
            return false;
        }
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        let chosen = self.accumulated >= ACCUMULATED.end
            || (self.accumulated >= ACCUMULATED.start
                && self.generator.uniform() < self.probability);
        if chosen {
            self.accumulated = 0.0;
        }
        chosen
    }

    /// Runs the updates that were due since the last packet. Nothing but time passed in between, so
    /// the result is that of a timer, and an empty queue needs none.
    fn catch_up(&mut self, at: Instant) {
        for _ in 0..UPDATES_MAX {
            if self.update_next > at {
                return;
            }
            self.update_probability(self.update_next);
            self.update_next += self.update;
        }
        // After that many updates of an idle queue only the phase of the next one matters.
        let behind = at.since(self.update_next).as_nanos() / self.update.as_nanos() + 1;
        let nanos = behind * self.update.as_nanos();
        self.update_next += Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
    }

    /// Updates the drop probability (section 4.2), with the burst allowance of section 4.4.
    fn update_probability(&mut self, at: Instant) {
        self.delay = self.waiting.age(at);
        let (delay, old) = (self.delay.as_secs_f64(), self.delay_old.as_secs_f64());
        let error = delay - self.target.as_secs_f64();
        let mut step = ALPHA * error + BETA * (delay - old);
        let divisor = STEP_DIVISORS
            .iter()
            .find(|(below, _)| self.probability < *below);
        step /= divisor.map_or(1.0, |(_, divisor)| *divisor);
        if self.probability >= 0.1 {
            step = step.min(STEP_MAX);
        }
        self.probability += step;
        if self.delay.is_zero() && self.delay_old.is_zero() {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst_allowance = self.burst_allowance.saturating_sub(self.update);
        let low = |delay: Duration| delay < self.target / 2;
        if self.probability == 0.0 && low(self.delay) && low(self.delay_old) {
            self.burst_allowance = self.burst;
        }
        self.delay_old = self.delay;
    }
}
