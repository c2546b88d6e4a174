//! How long to sleep before a release.

use eyelevel_units::Instant;
use std::time::Duration;

/// A sleep ends this long before the release; the rest passes awake. What a timer's interrupt and the
/// switch to this thread take on a machine whose processor sleeps.
const AWAKE: Duration = Duration::from_micros(50);
/// At most this share of the time may be spent awake without work, ...
const AWAKE_SHARE: u32 = 20;
/// ... saved up to so much.
const AWAKE_SAVED: Duration = Duration::from_millis(2);

/// Decides about each wait. Pure: it is told the time.
#[derive(Debug)]
pub(crate) struct Pace {
    realtime: bool,
    before: Instant,
    saved: Duration,
    waits_awake: bool,
}

impl Pace {
    pub(crate) fn new(now: Instant, realtime: bool) -> Self {
        Self {
            realtime,
            before: now,
            saved: AWAKE_SAVED,
            waits_awake: false,
        }
    }

    /// How long to wait for packets at `now` if the next release is at `due`; `None`: until one comes.
    /// `busy`: packets are there already.
    pub(crate) fn timeout(
        &mut self,
        now: Instant,
        due: Option<Instant>,
        busy: bool,
    ) -> Option<Duration> {
        let passed = now.since(self.before);
        self.before = now;
        self.saved = if self.waits_awake {
            self.saved.saturating_sub(passed)
        } else {
            (self.saved + passed / AWAKE_SHARE).min(AWAKE_SAVED)
        };
        self.waits_awake = false;
        if busy {
            return Some(Duration::ZERO);
        }
        let left = due?.since(now);
        if !self.realtime || self.saved < left.min(AWAKE) {
            return Some(left);
        }
        if left > AWAKE {
            return Some(left - AWAKE);
        }
        self.waits_awake = !left.is_zero();
        Some(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1000)
    }

    #[test]
    fn nothing_to_release_is_no_wake_up() {
        let mut pace = Pace::new(at(0), true);
        assert_eq!(pace.timeout(at(5), None, false), None);
        assert_eq!(pace.timeout(at(5), None, true), Some(Duration::ZERO));
    }

    #[test]
    fn the_last_part_of_a_wait_is_spent_awake() {
        let mut pace = Pace::new(at(0), true);
        let long = pace.timeout(at(0), Some(at(1000)), false).unwrap();
        assert_eq!(long, Duration::from_micros(1000) - AWAKE);
        assert_eq!(
            pace.timeout(at(960), Some(at(1000)), false),
            Some(Duration::ZERO)
        );
    }

    #[test]
    fn without_priority_it_always_sleeps() {
        let mut pace = Pace::new(at(0), false);
        let wait = pace.timeout(at(990), Some(at(1000)), false);
        assert_eq!(wait, Some(Duration::from_micros(10)));
    }

    #[test]
    fn what_is_spent_awake_is_bounded() {
        let mut pace = Pace::new(at(0), true);
        let (mut awake, mut now) = (0, 0);
        // A release every 30 us, for a second.
        while now < 1_000_000 {
            let due = now / 30 * 30 + 30;
            let wait = pace.timeout(at(now), Some(at(due)), false).unwrap();
            if wait.is_zero() {
                awake += 1;
                now += 1;
            } else {
                now = due;
            }
        }
        let allowed = 1_000_000 / u64::from(AWAKE_SHARE) + AWAKE_SAVED.as_micros() as u64 + 30;
        assert!(awake <= allowed, "{awake} us awake");
    }
}
