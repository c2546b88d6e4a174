use crate::Ack;
use eyelevel_units::{Duration, Instant};

/// The window while the round trip time is probed, and the smallest ever.
pub(super) const WINDOW_PACKETS_MIN: u64 = 4;
/// For so long, and a round at least.
const TIME: Duration = Duration::from_millis(200);

/// A probe of the round trip time: the queue is let run empty.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    done_at: Option<Instant>,
    round_done: bool,
}

impl ProbeRtt {
    /// Whether the low point of `floor_bytes` in flight was reached just now, where a round begins.
    pub(super) fn on_ack(&mut self, ack: &Ack, floor_bytes: u64, round_start: bool) -> bool {
        match self.done_at {
            None if ack.bytes_in_flight <= floor_bytes => {
                self.done_at = Some(ack.now + TIME);
                true
            }
            None => false,
            Some(_) => {
                self.round_done |= round_start;
                false
            }
        }
    }

    /// Whether it has lasted long enough.
    pub(super) fn is_done(&self, now: Instant) -> bool {
        self.round_done && self.done_at.is_some_and(|at| now > at)
    }
}
