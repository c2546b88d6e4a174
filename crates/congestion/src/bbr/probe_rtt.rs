use super::{Bbr, Mode};
use crate::Ack;
use eyelevel_units::{Duration, Instant};

/// The window during a probe of the round trip time, and the smallest ever.
pub(super) const WINDOW_PACKETS_MIN: u64 = 4;
/// The shortest probe, which also lasts at least a round.
const TIME: Duration = Duration::from_millis(200);

/// A probe of the round trip time, which drains the queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    done_at: Option<Instant>,
    round_done: bool,
}

impl ProbeRtt {
    /// Returns whether the bytes in flight have just fallen to `floor_bytes`, where a round begins.
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

    /// Returns whether it has lasted long enough.
    pub(super) fn is_done(&self, now: Instant) -> bool {
        self.round_done && self.done_at.is_some_and(|at| now > at)
    }
}

impl Bbr {
    pub(super) fn update_rtt_min(&mut self, ack: &Ack) {
        let expired = self.model.update_rtt_min(ack);
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save_window();
            self.mode = Mode::ProbeRtt;
            self.probe_rtt = ProbeRtt::default();
        }
        if self.mode == Mode::ProbeRtt {
            let floor = WINDOW_PACKETS_MIN * self.packet_bytes;
            if self.probe_rtt.on_ack(ack, floor, self.model.round_start) {
                self.model.end_round_at(ack.bytes_delivered);
            }
            self.check_probe_rtt_done(ack.now);
        }
        if ack.rate.is_some() {
            self.idle_restart = false;
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Instant) {
        if !self.probe_rtt.is_done(now) {
            return;
        }
        self.model.rtt_min_at = now;
        self.window_bytes = self.window_bytes.max(self.window_bytes_prior);
        if self.model.full_bandwidth_reached {
            self.enter_probe_bandwidth(now);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
