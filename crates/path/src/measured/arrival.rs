//! Measures packets' arrivals: they reach their device, and are read later.

use crate::measured::lateness::{Lateness, LatenessSummary};
use eyelevel_netns::ReadPacket;
use eyelevel_units::Instant;
use serde::Serialize;
use std::time::Duration;

/// The arrivals of one direction.
#[derive(Default)]
pub(crate) struct Arrival {
    lateness: Lateness,
    unstamped_packets: u64,
    moved_max: Duration,
    latest: Instant,
}

/// The arrivals of one direction, for the trial's record.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ArrivalSummary {
    /// The time that packets with a stamp waited in their device, from the kernel's stamp to the
    /// read.
    #[serde(flatten)]
    pub lateness: LatenessSummary,
    /// Packets without a stamp: their arrival is the read.
    pub unstamped_packets: u64,
    /// The most by which a packet entered the model later than it arrived, since the model had
    /// advanced meanwhile, in microseconds.
    pub moved_us_max: f64,
}

impl Arrival {
    /// Records a packet of `segments` that was read and enters the model at `modelled`.
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

    /// Returns the arrival of the last packet to arrive of those that were read.
    #[inline]
    pub(crate) fn latest(&self) -> Instant {
        self.latest
    }

    /// Restarts the counts, for the next load.
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
