use super::{Bbr, Mode};
use crate::{Ack, Loss};

/// Reactions to loss: the window falls to the bytes in flight and stays level for a round (packet
/// conservation); then the model decides again.
impl Bbr {
    pub(super) fn react(&mut self, loss: &Loss) {
        self.lost_since_ack = true;
        let revealed = self.last_ack.filter(|(at, _)| *at == loss.now);
        let bytes_acked = revealed.map_or(self.packet_bytes, |(_, bytes)| bytes);
        // At least one packet may leave, or nothing would ever be acknowledged again.
        let conserved = (loss.bytes_in_flight + bytes_acked).max(self.packet_bytes);
        if loss.persistent {
            self.save_window();
            self.model.on_timeout();
            self.window_bytes = loss.bytes_in_flight + 2 * self.packet_bytes;
        } else {
            let lowered = self.window_bytes.saturating_sub(loss.bytes_lost);
            self.window_bytes = lowered.max(self.packet_bytes);
        }
        let new = Some(loss.number_newest) > self.number_reduced;
        if new && self.recovery.is_none() {
            if !loss.persistent {
                // The window before this loss: the kernel saves it first.
                self.window_bytes += loss.bytes_lost;
                self.save_window();
                self.window_bytes = conserved;
            }
            self.begin_recovery(loss.bytes_delivered);
            return;
        }
        self.recover_again |= new;
        if self.packet_conservation {
            self.window_bytes = self.window_bytes.max(conserved);
        }
    }

    fn begin_recovery(&mut self, bytes_delivered: u64) {
        let number = self.number_next.saturating_sub(1);
        self.recovery = Some(number);
        self.number_reduced = Some(number);
        self.packet_conservation = true;
        self.model.end_round_at(bytes_delivered);
    }

    /// Ends the recovery, as in TCP, when what was lost is delivered; new data lost meanwhile begin
    /// the next one.
    pub(super) fn end_recovery(&mut self, ack: &Ack) {
        if !self.recovery.is_some_and(|number| ack.has_repaired(number)) {
            return;
        }
        self.recovery = None;
        self.packet_conservation = false;
        self.window_bytes = self.window_bytes.max(self.window_bytes_prior);
        if core::mem::take(&mut self.recover_again) {
            self.save_window();
            self.window_bytes = ack.bytes_in_flight + ack.bytes_acked.max(self.packet_bytes);
            self.begin_recovery(ack.bytes_delivered);
        }
    }

    pub(super) fn undo_recovery(&mut self) {
        self.model.forget_full_bandwidth();
        if self.recovery.take().is_some() {
            self.packet_conservation = false;
            self.recover_again = false;
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
