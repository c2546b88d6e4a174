//! Decides which releases of one direction are written together.

use eyelevel_units::Instant;
use std::time::Duration;

/// The longest span of release times that are written together.
const TOGETHER: Duration = Duration::from_micros(20);

/// The next write of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    pub at: Instant,
    /// Whether it was deferred, so that it need not be exact.
    pub put_off: bool,
}

/// The batching of writes. Pure: callers pass the model's times.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The model's time of the latest release.
    released_at: Option<Instant>,
}

impl Batch {
    /// Returns when to write if the next release is at `at`: then, or, if that follows closely on
    /// another, a little later with whatever else is due until then.
    #[inline]
    pub(crate) fn due(&self, at: Instant) -> Due {
        if !self.is_close(at) {
            return Due { at, put_off: false };
        }
        Due {
            at: at + TOGETHER,
            put_off: true,
        }
    }

    /// Records that releases up to `last`, by the model, are written now.
    #[inline]
    pub(crate) fn on_write(&mut self, last: Instant) {
        self.released_at = Some(last);
    }

    fn is_close(&self, at: Instant) -> bool {
        self.released_at
            .is_some_and(|before| at.since(before) <= TOGETHER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1000)
    }

    /// Writes a stream with one release every `gap` microseconds; returns the largest lateness of
    /// each write.
    fn lateness_max(gap: u64, releases: u64) -> Vec<u64> {
        let mut batch = Batch::default();
        let (mut next, mut late) = (0, Vec::new());
        while next < releases {
            let due = batch.due(at(next * gap)).at;
            late.push(due.since(at(next * gap)).as_micros() as u64);
            while next < releases && at(next * gap) <= due {
                next += 1;
            }
            batch.on_write(at((next - 1) * gap));
        }
        late
    }

    #[test]
    fn a_packet_by_itself_is_written_in_time() {
        assert!(lateness_max(21, 1000).iter().all(|late| *late == 0));
    }

    #[test]
    fn a_stream_waits_for_twenty_microseconds_at_most() {
        let late = lateness_max(12, 4000);
        assert_eq!(late[0], 0);
        assert!(late[1..].iter().all(|late| *late == 20));
        // Two packets per write.
        assert!(late.len() <= 4000 / 2 + 1);
    }

    #[test]
    fn a_pause_ends_a_stream() {
        let mut batch = Batch::default();
        batch.on_write(at(100));
        assert_eq!(batch.due(at(120)).at, at(140));
        assert_eq!(
            batch.due(at(121)),
            Due {
                at: at(121),
                put_off: false
            }
        );
    }
}
