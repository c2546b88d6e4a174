use crate::SpecError;
use crate::queue::aqm::{limit_packets, positive_ms};
use crate::words::Words;
use eyelevel_units::Duration;
use serde::{Deserialize, Serialize};

/// DualPI2, two coupled queues for low latency, low loss and scalable throughput (RFC 9332,
/// appendix A). Packets of ECT(1) or CE go to the low-latency queue. The defaults are the RFC's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DualPi2Spec {
    /// The target delay of the classic queue, in milliseconds.
    pub target_ms: f64,
    /// Largest round-trip time for which it is stable, in milliseconds (RTT_max).
    pub rtt_ms_max: f64,
    /// The coupling factor k.
    pub coupling: f64,
    /// Delay at which the low-latency queue begins to mark, in milliseconds (minTh).
    pub mark_ms_min: f64,
    /// Delay from which on it marks every packet, in milliseconds (maxTh).
    pub mark_ms_max: f64,
    /// Share of the link guaranteed to waiting classic packets.
    pub classic_share: f64,
    /// The limit of queued packets in both queues together.
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
    /// Parses the words after the discipline's name in the text form.
    pub(in crate::queue) fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
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

/// The validated settings, and values derived from them.
#[derive(Debug)]
pub(super) struct Settings {
    pub target: Duration,
    pub update: Duration,
    pub alpha: f64,
    pub beta: f64,
    pub coupling: f64,
    pub mark_min: Duration,
    pub mark_max: Duration,
    pub classic_share: f64,
    pub limit_packets: u64,
}

impl Settings {
    pub fn new(spec: &DualPi2Spec, place: &str) -> Result<Self, SpecError> {
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

    /// Returns the low-latency queue's own marking probability: a ramp from 0 to 1 between the two
    /// thresholds.
    pub fn native_probability(&self, delay: Duration) -> f64 {
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
