//! Ends slow start before it loses packets.

mod classic;
mod plus_plus;

use crate::SlowStart;
use classic::HyStart;
use eyelevel_units::{Duration, Instant};
use plus_plus::HyStartPlusPlus;

/// The input of the heuristics, for an acknowledgement in slow start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observation {
    pub(crate) now: Instant,
    /// The newest packet acknowledged.
    pub(crate) number_newest: u64,
    /// The number that the next packet will have.
    pub(crate) number_next: u64,
    pub(crate) window_packets: u64,
    /// Packets newly acknowledged, at least 1.
    pub(crate) packets_acked: u64,
    pub(crate) rtt_latest: Duration,
    pub(crate) rtt_min: Duration,
    /// Whether packets are paced: the kernel then allows for its own bursts.
    pub(crate) paced: bool,
    pub(crate) pacing_rate_bytes_s: u64,
    /// The time that the newly acknowledged packets take at that rate.
    pub(crate) spacing: Duration,
}

/// A heuristic that ends slow start.
#[derive(Clone, Debug)]
pub(crate) enum SlowStartExit {
    Plain,
    HyStart(HyStart),
    HyStartPlusPlus(HyStartPlusPlus),
}

impl SlowStartExit {
    pub(crate) fn new(kind: SlowStart) -> Self {
        match kind {
            SlowStart::Plain => Self::Plain,
            SlowStart::HyStart => Self::HyStart(HyStart::default()),
            SlowStart::HyStartPlusPlus => Self::HyStartPlusPlus(HyStartPlusPlus::default()),
        }
    }

    /// Resets the state, after a timeout.
    pub(crate) fn reset(&mut self) {
        match self {
            Self::Plain => {}
            Self::HyStart(state) => *state = HyStart::default(),
            // Only the first slow start of a connection (RFC 9406 section 4.3).
            Self::HyStartPlusPlus(state) => state.stop(),
        }
    }

    /// Returns whether slow start ends here.
    pub(crate) fn on_ack(&mut self, observation: &Observation) -> bool {
        match self {
            Self::Plain => false,
            Self::HyStart(state) => state.on_ack(observation),
            Self::HyStartPlusPlus(state) => state.on_ack(observation),
        }
    }

    /// Returns by how much acknowledged bytes raise the window in slow start.
    pub(crate) fn growth_bytes(&self, bytes_acked: u64, packet_bytes: u64, paced: bool) -> u64 {
        match self {
            Self::Plain | Self::HyStart(_) => bytes_acked,
            Self::HyStartPlusPlus(state) => state.growth_bytes(bytes_acked, packet_bytes, paced),
        }
    }
}
