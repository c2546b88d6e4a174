use super::{Bbr, Mode, UNIT};
use crate::Ack;
use eyelevel_units::{Duration, Instant};

/// The pacing gains of the bandwidth probing phases.
pub(super) const CYCLE: [u64; 8] = [320, 192, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// The number of phases in which a flow may start, all but the draining one.
const CYCLE_RANDOM: u64 = 7;

/// The phases of probing for bandwidth.
impl Bbr {
    pub(super) fn update_cycle(&mut self, ack: &Ack) {
        if self.mode != Mode::ProbeBandwidth {
            return;
        }
        let rtt_min = self.model.rtt_min.unwrap_or(Duration::MAX);
        let full = ack.now.since(self.cycle_at) > rtt_min;
        let gain = self.pacing_gain();
        let over = if gain > UNIT {
            let reached = ack.bytes_in_flight_prior >= self.inflight_bytes(gain, 0);
            full && (self.lost_since_ack || reached)
        } else if gain < UNIT {
            full || ack.bytes_in_flight_prior <= self.inflight_bytes(UNIT, 0)
        } else {
            full
        };
        if over {
            self.advance_cycle(ack.now);
        }
    }

    fn advance_cycle(&mut self, now: Instant) {
        self.cycle_index = (self.cycle_index + 1) % CYCLE.len();
        self.cycle_at = now;
    }

    pub(super) fn enter_probe_bandwidth(&mut self, now: Instant) {
        self.mode = Mode::ProbeBandwidth;
        self.cycle_index = CYCLE.len() - 1 - self.generator.below(CYCLE_RANDOM) as usize;
        self.advance_cycle(now);
    }
}
