//! Detects when a direction's packets leave so close together that waking for each is the greater
//! part of the cost of moving them.

use eyelevel_units::Instant;
use std::time::Duration;

/// The time over which releases and reads of both directions are batched in a dense stream. A
/// system call then carries eight packets at 1 Gbit/s, and arrivals cause no wake-up: their stamps
/// keep the model exact.
pub(crate) const SLOT: Duration = Duration::from_micros(100);
/// The number of packets in a row that is measured.
const PACKETS: u32 = 64;
/// The largest mean gap of a dense stream: 480 Mbit/s of full packets.
const GAP: Duration = Duration::from_micros(25);

/// The detection of dense streams by the model's times of release. Pure.
#[derive(Debug, Default)]
pub(crate) struct Density {
    /// The first packet of the current count, and how many followed it.
    first: Instant,
    counted: u32,
    latest: Instant,
    dense: bool,
}

impl Density {
    /// Records a packet that left at `at`.
    #[inline]
    pub(crate) fn on_release(&mut self, at: Instant) {
        self.latest = at;
        self.counted += 1;
        if self.counted == PACKETS {
            self.dense = at.since(self.first) <= GAP * PACKETS;
            self.first = at;
            self.counted = 0;
        }
    }

    /// Returns whether the stream continues if the next packet leaves at `next`.
    #[inline]
    pub(crate) fn continues(&self, next: Instant) -> bool {
        self.dense && next.since(self.latest) <= SLOT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1000)
    }

    /// Returns the density after that many packets, one every `gap` microseconds.
    fn after(packets: u64, gap: u64) -> (Density, u64) {
        let mut density = Density::default();
        (1..=packets).for_each(|number| density.on_release(at(1_000_000 + number * gap)));
        (density, 1_000_000 + packets * gap)
    }

    #[test]
    fn a_gigabit_is_dense_and_below_half_of_it_nothing_is() {
        for (gap, dense) in [(1, true), (12, true), (25, true), (26, false), (600, false)] {
            let (density, last) = after(1000, gap);
            assert_eq!(density.continues(at(last + gap)), dense, "every {gap} us");
        }
    }

    #[test]
    fn a_flight_of_less_than_two_counts_is_no_stream() {
        let (density, last) = after(u64::from(PACKETS), 1);
        assert!(!density.continues(at(last + 1)));
    }

    #[test]
    fn a_pause_and_a_slower_stream_end_it() {
        let (mut density, last) = after(1000, 12);
        assert!(!density.continues(at(last + 101)));
        (1..=2 * u64::from(PACKETS)).for_each(|n| density.on_release(at(last + n * 50)));
        assert!(!density.continues(at(last + 2 * u64::from(PACKETS) * 50 + 50)));
    }
}
