//! Which releases of one direction are written together.

use eyelevel_units::Instant;
use std::time::Duration;

/// Packets whose release times lie within this may be written together.
const TOGETHER: Duration = Duration::from_micros(20);
/// In a dense stream, in which every write has come this close to the one before, up to this much
/// later. At 1 Gbit/s a wake-up for every second packet costs six times the packets' own work.
const TOGETHER_DENSE: Duration = Duration::from_micros(100);
/// So many writes in succession make a stream dense: a burst is not.
const DENSE_WRITES: u32 = 16;

/// When a direction wants to be let out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    pub at: Instant,
    /// Whether it was put off, so that nothing is gained by meeting it exactly.
    pub put_off: bool,
}

/// Decides about each write. Pure: it is told the model's times.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The model's time of the latest release.
    released_at: Option<Instant>,
    /// Writes whose first release came within [`TOGETHER`] of the last one before.
    close_writes: u32,
}

impl Batch {
    /// When to write, if the next release may be at `at`: then, or, where that comes right after
    /// another, a little later with what else is due until then.
    #[inline]
    pub(crate) fn due(&self, at: Instant) -> Due {
        if !self.is_close(at) {
            return Due { at, put_off: false };
        }
        let dense = self.close_writes >= DENSE_WRITES;
        let wait = if dense { TOGETHER_DENSE } else { TOGETHER };
        Due {
            at: at + wait,
            put_off: true,
        }
    }

    /// Releases from `first` to `last`, by the model, are written now.
    #[inline]
    pub(crate) fn written(&mut self, first: Instant, last: Instant) {
        self.close_writes = if self.is_close(first) {
            self.close_writes.saturating_add(1)
        } else {
            0
        };
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

    /// Writes of a stream with one release every `gap` microseconds: the largest lateness of each.
    fn lateness_max(gap: u64, releases: u64) -> Vec<u64> {
        let mut batch = Batch::default();
        let (mut next, mut late) = (0, Vec::new());
        while next < releases {
            let due = batch.due(at(next * gap)).at;
            late.push(due.since(at(next * gap)).as_micros() as u64);
            let first = next;
            while next < releases && at(next * gap) <= due {
                next += 1;
            }
            batch.written(at(first * gap), at((next - 1) * gap));
        }
        late
    }

    #[test]
    fn a_packet_by_itself_is_written_in_time() {
        assert!(lateness_max(21, 1000).iter().all(|late| *late == 0));
    }

    #[test]
    fn a_burst_waits_for_twenty_microseconds_and_a_stream_for_a_hundred() {
        let late = lateness_max(12, 4000);
        assert_eq!(late[0], 0);
        assert!(
            late[1..=usize::try_from(DENSE_WRITES).unwrap()]
                .iter()
                .all(|late| *late == 20)
        );
        assert!(late[20..].iter().all(|late| *late == 100));
        // Nine packets a write.
        assert!(late.len() < 4000 / 9 + 40);
    }

    #[test]
    fn a_pause_ends_a_stream() {
        let mut batch = Batch::default();
        (0..100).for_each(|n| batch.written(at(n), at(n)));
        assert_eq!(batch.due(at(110)).at, at(210));
        assert_eq!(
            batch.due(at(121)),
            Due {
                at: at(121),
                put_off: false
            }
        );
        batch.written(at(121), at(121));
        assert_eq!(batch.due(at(130)).at, at(150));
    }
}
