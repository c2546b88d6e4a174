use super::{Bbr, Mode};
use crate::Loss;

/// Reactions to loss: the window falls to what is in flight and stays level for a round (packet
/// conservation); the model decides again after it.
impl Bbr {
    pub(super) fn react(&mut self, loss: &Loss) {
        self.lost_since_ack = true;
        let revealed = self.last_ack.filter(|(at, _)| *at == loss.now);
        let bytes_acked = revealed.map_or(self.packet_bytes, |(_, bytes)| bytes);
        // At least a packet may leave, or nothing would ever be acknowledged again.
        let conserved = (loss.bytes_in_flight + bytes_acked).max(self.packet_bytes);
        if loss.persistent {
            self.save_window();
            self.model.on_timeout();
            self.window_bytes = loss.bytes_in_flight + 2 * self.packet_bytes;
        } else {
            let lowered = self.window_bytes.saturating_sub(loss.bytes_lost);
            self.window_bytes = lowered.max(self.packet_bytes);
        }
        let begins = self
            .number_reduced
            .is_none_or(|number| loss.number_newest > number);
        if begins {
            if !loss.persistent {
                // What was the window before this loss: the kernel saves it first.
                self.window_bytes += loss.bytes_lost;
                self.save_window();
                self.window_bytes = conserved;
            }
            let number = self.number_next.saturating_sub(1);
            self.recovery = Some(number);
            self.number_reduced = Some(number);
            self.packet_conservation = true;
            self.model.end_round_at(loss.bytes_delivered);
        } else if self.packet_conservation {
            self.window_bytes = self.window_bytes.max(conserved);
        }
    }

    pub(super) fn undo_recovery(&mut self) {
        self.model.forget_full_bandwidth();
        if self.recovery.take().is_some() {
            self.packet_conservation = false;
            self.window_bytes = self.window_bytes.max(self.window_bytes_prior);
        }
    }

    pub(super) fn save_window(&mut self) {
        self.window_bytes_prior = if self.recovery.is_none() && self.mode != Mode::ProbeRtt {
            self.window_bytes
        } else {
            self.window_bytes_prior.max(self.window_bytes)
        };
    }
}
