use crate::Ack;
use eyelevel_units::{Duration, Instant};

/// The number of rounds after which the maximum moves on: the excess is the largest of the last 5
/// to 10 rounds.
const ROUNDS: u32 = 5;
/// The most that is added to the window, in time at the bandwidth.
const EXCESS_MAX: Duration = Duration::from_millis(100);
/// The most packets that an epoch counts.
const PACKETS_MAX: u64 = 1 << 20;

/// The excess of acknowledgements over the estimated bandwidth, as when a receiver or a radio link
/// aggregates them: the window needs that much more to keep the link busy in between.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    epoch_at: Instant,
    epoch_bytes: u64,
    excess_bytes: [u64; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    pub(super) fn restart(&mut self, now: Instant) {
        self.epoch_at = now;
        self.epoch_bytes = 0;
    }

    pub(super) fn on_ack(
        &mut self,
        ack: &Ack,
        round_start: bool,
        bandwidth_bytes_s: u64,
        window_bytes: u64,
    ) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.current = 1 - self.current;
                self.excess_bytes[self.current] = 0;
            }
        }
        let elapsed = ack.now.since(self.epoch_at);
        let mut expected = bytes_in(bandwidth_bytes_s, elapsed);
        if self.epoch_bytes <= expected || self.epoch_bytes + ack.bytes_acked >= PACKETS_MAX * 1500
        {
            self.restart(ack.now);
            expected = 0;
        }
        self.epoch_bytes += ack.bytes_acked;
        let excess = (self.epoch_bytes - expected.min(self.epoch_bytes)).min(window_bytes);
        let largest = &mut self.excess_bytes[self.current];
        *largest = (*largest).max(excess);
    }

    /// Returns the bytes to add to the window.
    pub(super) fn bytes(&self, bandwidth_bytes_s: u64) -> u64 {
        let largest = self.excess_bytes[0].max(self.excess_bytes[1]);
        largest.min(bytes_in(bandwidth_bytes_s, EXCESS_MAX))
    }
}

fn bytes_in(rate_bytes_s: u64, time: Duration) -> u64 {
    let bytes = u128::from(rate_bytes_s) * time.as_nanos() / 1_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
