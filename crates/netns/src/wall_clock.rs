//! Converts the kernel's packet timestamps, which are wall time, to the monotonic time of a lab.

use crate::socket_times::{monotonic_ns, unix_ns};
use eyelevel_units::Instant;

/// The possible difference by rounding between readings of one clock around one of the other.
const ROUNDING_NS: i64 = 1;

/// The difference between wall clock and `CLOCK_MONOTONIC`. It is constant unless the wall clock is
/// set: NTP slews both. Every pair of readings narrows it down; a contradiction shows that the
/// clock was set.
#[derive(Debug, Default)]
pub(crate) struct WallClock {
    /// The smallest and the largest difference that all readings allow; `None` before the first.
    ahead_ns: Option<(i64, i64)>,
}

impl WallClock {
    /// Reads both clocks. Returns whether the wall clock was set since the last call, so that
    /// earlier timestamps are useless.
    pub(crate) fn read(&mut self) -> bool {
        let before = monotonic_ns();
        let wall = unix_ns();
        self.observe(before, wall, monotonic_ns())
    }

    /// Adds a reading of the wall clock between two of the monotonic one.
    fn observe(&mut self, before_ns: u64, wall_ns: u64, after_ns: u64) -> bool {
        let seen = (
            wall_ns as i64 - after_ns as i64 - ROUNDING_NS,
            wall_ns as i64 - before_ns as i64 + ROUNDING_NS,
        );
        let known = self.ahead_ns.unwrap_or(seen);
        let both = (known.0.max(seen.0), known.1.min(seen.1));
        let was_set = both.0 > both.1;
        self.ahead_ns = Some(if was_set { seen } else { both });
        was_set
    }

    /// Converts a timestamp to monotonic time.
    pub(crate) fn monotonic(&self, wall_ns: u64) -> Instant {
        let (least, largest) = self.ahead_ns.unwrap_or_default();
        let ahead_ns = least + (largest - least) / 2;
        Instant::from_nanos((wall_ns as i64 - ahead_ns).max(0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AHEAD: u64 = 1_700_000_000_000_000_000;

    #[test]
    fn readings_narrow_the_difference_down() {
        let mut clock = WallClock::default();
        // The reader was suspended for 5 ms between the readings, then for 40 ns.
        assert!(!clock.observe(1000, AHEAD + 1000 + 4_999_000, 5_001_000));
        assert!(!clock.observe(6_000_000, AHEAD + 6_000_020, 6_000_040));
        let stamp = clock.monotonic(AHEAD + 7_000_000).as_nanos();
        assert!(stamp.abs_diff(7_000_000) <= 21, "{stamp}");
        // A wide pair afterwards does not widen the range.
        assert!(!clock.observe(8_000_000, AHEAD + 10_500_000, 13_000_000));
        assert_eq!(clock.monotonic(AHEAD + 7_000_000).as_nanos(), stamp);
    }

    #[test]
    fn a_clock_that_was_set_is_noticed_either_way() {
        for step in [-1_000_000_i64, 1_000_000] {
            let mut clock = WallClock::default();
            clock.observe(1000, AHEAD + 1020, 1040);
            let set = AHEAD.wrapping_add_signed(step);
            assert!(clock.observe(2000, set + 2020, 2040));
            let stamp = clock.monotonic(set + 5000).as_nanos();
            assert!(stamp.abs_diff(5000) <= 21, "{stamp}");
            assert!(!clock.observe(3000, set + 3020, 3040));
        }
    }

    #[test]
    fn the_real_clocks_agree() {
        let mut clock = WallClock::default();
        clock.read();
        let before = monotonic_ns();
        let stamp = clock.monotonic(unix_ns()).as_nanos();
        assert!(stamp + 1_000_000 > before && stamp < monotonic_ns() + 1_000_000);
    }
}
