//! Decides how long to sleep before a release.

use crate::batch::Due;
use eyelevel_units::Instant;
use std::time::Duration;

/// A sleep ends before the release by the recent oversleep, within these bounds; the rest is spent
/// awake. A timer's interrupt and the switch to this thread take 5 us on a machine that is awake,
/// and some hundred on a virtual one whose processor sleeps.
const AWAKE_MIN: Duration = Duration::from_micros(20);
const AWAKE_MAX: Duration = Duration::from_micros(300);
const AWAKE_START: Duration = Duration::from_micros(100);
/// The divisors of the difference by which the estimate moves, towards a longer and a shorter
/// oversleep: it follows the longer ones, since being late is worse than being awake.
const LONGER_SHARE: u32 = 8;
const SHORTER_SHARE: u32 = 64;
/// The largest share of the time spent awake without work, as a divisor.
const AWAKE_SHARE: u32 = 20;
/// The most of that time that can be saved up.
const AWAKE_SAVED: Duration = Duration::from_millis(2);

/// The pacing of waits. Pure: callers pass the time.
#[derive(Debug)]
pub(crate) struct Pace {
    realtime: bool,
    before: Instant,
    saved: Duration,
    waits_awake: bool,
    /// Planned end of the current sleep.
    planned: Option<Instant>,
    /// The estimated excess of sleeps.
    oversleep: Duration,
}

impl Pace {
    pub(crate) fn new(now: Instant, realtime: bool) -> Self {
        Self {
            realtime,
            before: now,
            saved: AWAKE_SAVED,
            waits_awake: false,
            planned: None,
            oversleep: AWAKE_START,
        }
    }

    /// Returns how long to wait for packets at `now` if the next release is `due`; `None`: until
    /// one arrives. `busy` is whether packets are waiting already.
    pub(crate) fn timeout(
        &mut self,
        now: Instant,
        due: Option<Due>,
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
        self.planned = None;
        if busy {
            return Some(Duration::ZERO);
        }
        let due = due?;
        let left = due.at.since(now);
        let awake = if self.realtime && !due.put_off {
            self.oversleep.min(self.saved)
        } else {
            Duration::ZERO
        };
        let sleep = left.saturating_sub(awake);
        self.waits_awake = sleep.is_zero() && !left.is_zero();
        self.planned = (!sleep.is_zero()).then(|| now + sleep);
        Some(sleep)
    }

    /// Records that a wait has ended at `now`, by its time or by a packet.
    pub(crate) fn on_wake(&mut self, now: Instant) {
        let Some(late) = self.planned.take().filter(|planned| *planned <= now) else {
            return;
        };
        let late = now.since(late);
        self.oversleep = if late > self.oversleep {
            self.oversleep + (late - self.oversleep) / LONGER_SHARE
        } else {
            self.oversleep - (self.oversleep - late) / SHORTER_SHARE
        };
        self.oversleep = self.oversleep.clamp(AWAKE_MIN, AWAKE_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1000)
    }

    const fn due(micros: u64) -> Option<Due> {
        Some(Due {
            at: at(micros),
            put_off: false,
        })
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
        let long = pace.timeout(at(0), due(1000), false).unwrap();
        assert_eq!(long, Duration::from_micros(1000) - AWAKE_START);
        let rest = pace.timeout(at(960), due(1000), false);
        assert_eq!(rest, Some(Duration::ZERO));
    }

    #[test]
    fn that_part_follows_the_oversleep() {
        let mut pace = Pace::new(at(0), true);
        for (late, expected) in [(200, 190..=200), (0, 20..=25), (5000, 290..=300)] {
            for _ in 0..300 {
                pace.saved = AWAKE_SAVED;
                let now = pace.before;
                let sleep = pace.timeout(
                    now,
                    Some(Due {
                        at: now + AWAKE_SAVED,
                        put_off: false,
                    }),
                    false,
                );
                let woken = now + sleep.unwrap() + Duration::from_micros(late);
                pace.on_wake(woken);
                pace.before = woken;
            }
            let micros = pace.oversleep.as_micros();
            assert!(
                expected.contains(&micros),
                "{micros} after sleeps {late} too long"
            );
        }
        // A sleep that a packet ends shows nothing about timers.
        pace.timeout(at(1 << 40), due((1 << 40) + 1000), false);
        let before = pace.oversleep;
        pace.on_wake(at((1 << 40) + 1));
        assert_eq!(pace.oversleep, before);
    }

    #[test]
    fn without_priority_or_put_off_it_always_sleeps() {
        let mut pace = Pace::new(at(0), false);
        let wait = pace.timeout(at(990), due(1000), false);
        assert_eq!(wait, Some(Duration::from_micros(10)));
        let mut pace = Pace::new(at(0), true);
        let put_off = Due {
            at: at(1000),
            put_off: true,
        };
        let wait = pace.timeout(at(990), Some(put_off), false);
        assert_eq!(wait, Some(Duration::from_micros(10)));
    }

    #[test]
    fn time_spent_awake_is_bounded() {
        let mut pace = Pace::new(at(0), true);
        let (mut awake, mut now) = (0, 0);
        // A release every 30 us, for a second.
        while now < 1_000_000 {
            let next = now / 30 * 30 + 30;
            let wait = pace.timeout(at(now), due(next), false).unwrap();
            if wait.is_zero() {
                awake += 1;
                now += 1;
            } else {
                now = next;
            }
        }
        let allowed = 1_000_000 / u64::from(AWAKE_SHARE) + AWAKE_SAVED.as_micros() as u64 + 30;
        assert!(awake <= allowed, "{awake} us awake");
    }
}
