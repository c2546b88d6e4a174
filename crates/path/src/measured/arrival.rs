//! What is known of packets' arrivals: they come to their device, and are read later.

use crate::measured::lateness::{Lateness, LatenessSummary};
use eyelevel_netns::ReadPacket;
use eyelevel_units::Instant;
use serde::Serialize;
use std::time::Duration;

/// One direction's arrivals.
#[derive(Default)]
pub(crate) struct Arrival {
    lateness: Lateness,
    unstamped_packets: u64,
    moved_max: Duration,
    latest: Instant,
}

/// One direction's arrivals, for the trial's record.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ArrivalSummary {
    /// How long packets with a stamp waited in their device, from the kernel's stamp to the read.
    #[serde(flatten)]
    pub lateness: LatenessSummary,
    /// Packets that no stamp was found for: their arrival is the read.
    pub unstamped_packets: u64,
    /// The most by which a packet entered the model later than it came, since the model had gone
    /// on meanwhile.
    pub moved_us_max: f64,
}

impl Arrival {
    /// A packet of so many segments was read and is given to the model as of `modelled`.
    #[inline]
    pub(crate) fn record(&mut self, read: &ReadPacket, modelled: Instant, segments: u16) {
        let segments = segments.into();
        let Some(came) = read.came else {
            self.unstamped_packets += segments;
            self.latest = self.latest.max(read.at);
            return;
        };
        self.lateness.record_many(read.at.since(came), segments);
        self.moved_max = self.moved_max.max(modelled.since(came));
        self.latest = self.latest.max(came);
    }

    /// When the packet came that came last of those that were read.
    #[inline]
    pub(crate) fn latest(&self) -> Instant {
        self.latest
    }

    /// A next load begins.
    pub(crate) fn restart(&mut self) {
        *self = Self {
            latest: self.latest,
            ..Self::default()
        };
    }

    pub(crate) fn summary(&self) -> ArrivalSummary {
        ArrivalSummary {
            lateness: self.lateness.summary(),
            unstamped_packets: self.unstamped_packets,
            moved_us_max: self.moved_max.as_nanos() as f64 / 1e3,
        }
    }
}
