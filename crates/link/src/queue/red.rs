use super::aqm::limit_packets;
use super::fifo::Fifo;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::words::Words;
use crate::{DropReason, SpecError};
use eyelevel_units::{BitRate, Generator, Instant, Seed};
use serde::{Deserialize, Serialize};

/// The size of a full packet: the paper's "typical small packet", by whose time the average of an
/// idle link decays, and the unit that converts a count of packets to time.
const PACKET_BYTES: u64 = 1500;

/// RED, random early detection (Floyd and Jacobson 1993, IEEE/ACM Transactions on Networking 1(4)),
/// which counts packets. `gentle` is Floyd's variant of 2000 ("Recommendation on using the gentle
/// variant of RED"); weight and largest probability are those that he recommends since 1997.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RedSpec {
    /// Average queue length from which packets are selected (the paper's min_th).
    pub packets_min: u64,
    /// Average queue length at which the probability is `probability_max` (max_th).
    pub packets_max: u64,
    /// The probability at `packets_max`, 0 to 1 (max_p).
    pub probability_max: f64,
    /// Weight of the current queue length in the average (w_q).
    pub weight: f64,
    /// Whether the probability grows on to 1 at twice `packets_max`; else it is 1 above that.
    pub gentle: bool,
    /// The limit of queued packets.
    pub limit_packets: u64,
    /// Whether capable packets that were selected by probability are marked instead of dropped.
    pub ecn: bool,
}

impl Default for RedSpec {
    fn default() -> Self {
        Self {
            packets_min: 5,
            packets_max: 15,
            probability_max: 0.1,
            weight: 0.002,
            gentle: true,
            limit_packets: 1_000,
            ecn: false,
        }
    }
}

impl RedSpec {
    /// Returns the bound of the average queue length, in milliseconds at `rate`.
    pub(super) fn ms_max(&self, rate: BitRate) -> f64 {
        let packets = self.packets_max.saturating_mul(2).min(self.limit_packets);
        packets as f64 * PACKET_BYTES as f64 * 8e3 / rate.bits_per_second() as f64
    }

    /// Parses the words after the discipline's name in the text form.
    pub(super) fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        const KNOWN: &str = "min, max, probability, weight, limit, gentle, no-gentle, ecn, no-ecn";
        let mut spec = Self::default();
        while !words.is_empty() {
            match words.word("a setting")? {
                "min" => spec.packets_min = words.packets()?,
                "max" => spec.packets_max = words.packets()?,
                "probability" => spec.probability_max = words.probability()?,
                "weight" => spec.weight = words.number("a number, such as 0.002")?,
                "limit" => spec.limit_packets = words.packets()?,
                "gentle" => spec.gentle = true,
                "no-gentle" => spec.gentle = false,
                "ecn" => spec.ecn = true,
                "no-ecn" => spec.ecn = false,
                other => return Err(words.unknown_setting(other, KNOWN)),
            }
        }
        Ok(spec)
    }

    fn check(&self, place: &str) -> Result<(), SpecError> {
        limit_packets(self.limit_packets, place)?;
        let wrong = |problem: String, remedy: &str| Err(SpecError::setting(place, problem, remedy));
        if self.packets_min >= self.packets_max || self.packets_max > self.limit_packets {
            let (min, max) = (self.packets_min, self.packets_max);
            let problem = format!("packets_min is {min} and packets_max {max}");
            return wrong(
                problem,
                "use a smaller minimum, and a maximum up to limit_packets",
            );
        }
        for (key, value) in [
            ("probability_max", self.probability_max),
            ("weight", self.weight),
        ] {
            if !(value > 0.0 && value <= 1.0) {
                let problem = format!("{key} is {value}");
                return wrong(problem, "use a number above 0 and at most 1");
            }
        }
        Ok(())
    }
}

/// The decision on an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Passes,
    /// Selected by probability: a mark may replace the drop.
    Chosen,
    /// Dropped because the average is too long: a mark would not do (RFC 3168, section 7).
    Forced,
}

#[derive(Debug)]
pub(crate) struct Red<P> {
    spec: RedSpec,
    rate_bit_s: u128,
    waiting: Fifo<P>,
    generator: Generator,
    average: f64,
    /// Packets since the last one selected; `None` while the average is below the minimum.
    count: Option<u64>,
    /// The time since when the queue is empty.
    empty_since: Instant,
}

impl<P> Red<P> {
    pub(crate) fn new(
        spec: &RedSpec,
        rate: BitRate,
        seed: Seed,
        place: &str,
    ) -> Result<Self, SpecError> {
        spec.check(place)?;
        Ok(Self {
            spec: spec.clone(),
            rate_bit_s: u128::from(rate.bits_per_second()),
            waiting: Fifo::default(),
            generator: seed.generator(),
            average: 0.0,
            count: None,
            empty_since: Instant::ZERO,
        })
    }

    pub(crate) fn start(&mut self, origin: Instant) {
        self.empty_since = origin;
    }

    pub(crate) fn enqueue<O: Observer<P>>(
        &mut self,
        at: Instant,
        mut queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) {
        self.update_average(at);
        let fate = self.decide();
        let markable = self.spec.ecn && queued_packet.packet.ecn.is_capable();
        if fate == Fate::Forced || (fate == Fate::Chosen && !markable) {
            reports.dropped(at, queued_packet, DropReason::ActiveQueue);
        } else if self.waiting.packets() >= self.spec.limit_packets {
            self.count = Some(0);
            reports.dropped(at, queued_packet, DropReason::QueueFull);
        } else {
            if fate == Fate::Chosen {
                reports.mark(at, &mut queued_packet);
            }
            self.waiting.push(queued_packet);
        }
    }

    pub(crate) fn dequeue(&mut self, at: Instant) -> Option<QueuedPacket<P>> {
        let next = self.waiting.pop();
        if next.is_some() && self.waiting.is_empty() {
            self.empty_since = at;
        }
        next
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Updates the moving average (figure 2 of the paper), which after an idle time decays as if as
    /// many small packets had arrived as the link could have sent.
    fn update_average(&mut self, at: Instant) {
        let weight = self.spec.weight;
        if self.waiting.is_empty() {
            let packet = u128::from(PACKET_BYTES) * 8 * 1_000_000_000;
            let packets = at.since(self.empty_since).as_nanos() * self.rate_bit_s / packet;
            self.average *= power(1.0 - weight, packets);
            // Counted: an arrival that does not stay would otherwise let it decay again.
            self.empty_since = if packets > 0 { at } else { self.empty_since };
        } else {
            self.average += weight * (self.waiting.packets() as f64 - self.average);
        }
    }

    /// Decides on the arriving packet by the average (sections 4 and 7: drops are spread evenly).
    fn decide(&mut self) -> Fate {
        let (low, high) = (self.spec.packets_min as f64, self.spec.packets_max as f64);
        let p_max = self.spec.probability_max;
        if self.average < low {
            self.count = None;
            return Fate::Passes;
        }
        let chance = if self.average < high {
            p_max * (self.average - low) / (high - low)
        } else if self.spec.gentle && self.average < 2.0 * high {
            p_max + (1.0 - p_max) * (self.average - high) / high
        } else {
            self.count = Some(0);
            return Fate::Forced;
        };
        let count = self.count.map_or(0, |count| count + 1);
        let left = 1.0 - count as f64 * chance;
        let chosen = left <= 0.0 || self.generator.uniform() < chance / left;
        self.count = Some(if chosen { 0 } else { count });
        if chosen { Fate::Chosen } else { Fate::Passes }
    }
}

/// Raises to a power by repeated squaring, with the same bits on every machine, which `powf` does
/// not guarantee.
fn power(mut base: f64, mut exponent: u128) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}
