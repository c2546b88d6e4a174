use super::fifo::Fifo;
use crate::SpecError;
use crate::error::At;
use crate::words::{Limit, Words};
use eyelevel_units::{BitRate, duration_from_ms};
use serde::{Deserialize, Serialize};

/// The size of a full packet, which converts a count of packets to a time.
const PACKET_BYTES: u64 = 1500;

/// The limits of a queue in configurations; at least one must be given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsSpec {
    /// The bytes that the rate drains in this time, in milliseconds (on a trace: its mean rate).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<f64>,
    /// The limit in bytes of IP packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_bytes: Option<u64>,
    /// The limit in packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_packets: Option<u64>,
}

impl LimitsSpec {
    /// Returns the tightest limit as milliseconds at `rate`, with full packets.
    pub(super) fn ms_max(&self, rate: BitRate) -> f64 {
        let at_rate = |bytes: u64| bytes as f64 * 8e3 / rate.bits_per_second() as f64;
        let limits = [
            self.limit_ms,
            self.limit_bytes.map(at_rate),
            self.limit_packets
                .map(|packets| at_rate(packets.saturating_mul(PACKET_BYTES))),
        ];
        limits.into_iter().flatten().fold(f64::INFINITY, f64::min)
    }

    /// Parses one or more limits, at most one of each kind.
    pub(super) fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let mut limits = Self::default();
        loop {
            let twice = match words.limit()? {
                Limit::Ms(limit) => limits.limit_ms.replace(limit).is_some(),
                Limit::Bytes(limit) => limits.limit_bytes.replace(limit).is_some(),
                Limit::Packets(limit) => limits.limit_packets.replace(limit).is_some(),
            };
            if twice {
                return Err(words.error("a limit is given twice", "keep the smaller one"));
            }
            if words.is_empty() {
                return Ok(limits);
            }
        }
    }
}

/// The limits of a queue, in bytes and packets; both apply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    bytes: u64,
    packets: u64,
}

impl Limits {
    pub(crate) fn new(spec: &LimitsSpec, rate: BitRate, place: &str) -> Result<Self, SpecError> {
        if *spec == LimitsSpec::default() {
            return Err(SpecError::setting(
                place,
                "the queue has no limit",
                "give limit_ms, limit_bytes or limit_packets, or use the discipline infinite",
            ));
        }
        let drained = match spec.limit_ms {
            Some(ms) => {
                let duration = duration_from_ms(ms).at(|| format!("{place}: limit_ms"))?;
                rate.bytes_in(duration).get()
            }
            None => u64::MAX,
        };
        Ok(Self {
            bytes: drained.min(spec.limit_bytes.unwrap_or(u64::MAX)),
            packets: spec.limit_packets.unwrap_or(u64::MAX),
        })
    }

    /// Returns whether `bytes` more fit. An empty queue always takes one packet: a limit below one
    /// full packet would otherwise be a link that carries nothing.
    pub(crate) fn admit<P>(&self, queue: &Fifo<P>, bytes: u64) -> bool {
        queue.packets() == 0
            || (queue.bytes() + bytes <= self.bytes && queue.packets() < self.packets)
    }
}
