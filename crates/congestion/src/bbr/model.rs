use super::UNIT;
use super::aggregation::Aggregation;
use super::window_max::WindowMax;
use crate::Ack;
use eyelevel_units::{Duration, Instant};

/// The rounds whose largest sample is the bandwidth: one cycle and two.
const BANDWIDTH_ROUNDS: u64 = 10;
/// The time for which the smallest round trip time is valid.
const RTT_MIN_TIME: Duration = Duration::from_secs(10);
/// The growth below which a round counts as full, in percent: three such rounds in a row mean that
/// the pipe is full.
const FULL_GROWTH_PERCENT: u64 = 125;
const FULL_ROUNDS: u32 = 3;

/// BBR's model of the path: bandwidth, round trip time, rounds, and whether the pipe was filled.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    bandwidth: WindowMax,
    pub(super) rtt_min: Option<Duration>,
    pub(super) rtt_min_at: Instant,
    started: bool,
    rounds: u64,
    pub(super) round_start: bool,
    /// A round ends with the acknowledgement of a packet sent after this many bytes were delivered.
    round_end_bytes: u64,
    full_bandwidth_bytes_s: u64,
    full_rounds: u32,
    pub(super) full_bandwidth_reached: bool,
    aggregation: Aggregation,
}

impl Model {
    pub(super) fn on_packet_sent(&mut self, now: Instant) {
        if !self.started {
            self.started = true;
            self.rtt_min_at = now;
            self.aggregation.restart(now);
        }
    }

    pub(super) fn bandwidth_bytes_s(&self) -> u64 {
        self.bandwidth.get()
    }

    /// Returns the bandwidth-delay product times `gain`; `None` before the first round trip.
    pub(super) fn bdp_bytes(&self, gain: u64) -> Option<u64> {
        let rtt_min = self.rtt_min?;
        let bytes = u128::from(self.bandwidth_bytes_s()) * rtt_min.as_nanos() / 1_000_000_000;
        Some(u64::try_from(bytes * u128::from(gain) / u128::from(UNIT)).unwrap_or(u64::MAX))
    }

    /// Begins a round with what is delivered from here on.
    pub(super) fn end_round_at(&mut self, bytes_delivered: u64) {
        self.round_end_bytes = bytes_delivered;
    }

    pub(super) fn update_bandwidth(&mut self, ack: &Ack) {
        self.round_start = false;
        let Some(sample) = ack.rate else {
            return;
        };
        if sample.bytes_delivered_prior >= self.round_end_bytes {
            self.round_end_bytes = ack.bytes_delivered;
            self.rounds += 1;
            self.round_start = true;
        }
        let rate = sample.rate_bytes_s();
        if !sample.app_limited || rate >= self.bandwidth_bytes_s() {
            self.bandwidth.insert(self.rounds, rate, BANDWIDTH_ROUNDS);
        }
    }

    pub(super) fn check_full_bandwidth(&mut self, ack: &Ack) {
        let app_limited = ack.rate.is_none_or(|sample| sample.app_limited);
        if self.full_bandwidth_reached || !self.round_start || app_limited {
            return;
        }
        let bandwidth = self.bandwidth_bytes_s();
        let wanted = self
            .full_bandwidth_bytes_s
            .saturating_mul(FULL_GROWTH_PERCENT)
            / 100;
        if bandwidth >= wanted {
            self.full_bandwidth_bytes_s = bandwidth;
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full_bandwidth_reached = self.full_rounds >= FULL_ROUNDS;
    }

    /// Resumes the search for the full bandwidth after a spurious loss.
    pub(super) fn forget_full_bandwidth(&mut self) {
        self.full_bandwidth_bytes_s = 0;
        self.full_rounds = 0;
    }

    pub(super) fn on_timeout(&mut self) {
        self.full_bandwidth_bytes_s = 0;
        self.round_start = true;
    }

    /// Updates the smallest round trip time, and returns whether it had expired.
    pub(super) fn update_rtt_min(&mut self, ack: &Ack) -> bool {
        let expired = ack.now > self.rtt_min_at + RTT_MIN_TIME;
        if let Some(latest) = ack.rtt.latest
            && (expired || self.rtt_min.is_none_or(|min| latest < min))
        {
            self.rtt_min = Some(latest);
            self.rtt_min_at = ack.now;
        }
        expired
    }

    pub(super) fn restart_aggregation(&mut self, now: Instant) {
        self.aggregation.restart(now);
    }

    pub(super) fn update_aggregation(&mut self, ack: &Ack, window_bytes: u64) {
        if ack.rate.is_some() {
            let bandwidth = self.bandwidth_bytes_s();
            self.aggregation
                .on_ack(ack, self.round_start, bandwidth, window_bytes);
        }
    }

    /// Returns the bytes that aggregated acknowledgements add to the window, once the pipe was
    /// filled.
    pub(super) fn aggregation_bytes(&self) -> u64 {
        match self.full_bandwidth_reached {
            true => self.aggregation.bytes(self.bandwidth_bytes_s()),
            false => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bdp_is_rate_times_round_trip_times_gain() {
        let mut model = Model::default();
        assert_eq!(model.bdp_bytes(UNIT), None);
        model.rtt_min = Some(Duration::from_millis(40));
        model.bandwidth.insert(0, 1_250_000, 10);
        assert_eq!(model.bdp_bytes(UNIT), Some(50_000));
        assert_eq!(model.bdp_bytes(2 * UNIT), Some(100_000));
    }
}
