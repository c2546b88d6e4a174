use super::LossBased;
use crate::prr::Reduction;
use crate::{Ack, Controller, Growth, Loss, Mark};

/// The smallest window (RFC 9002 section 7.2).
const WINDOW_PACKETS_MIN: u64 = 2;

/// The state to restore after a spurious loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    window_packets: u64,
    threshold_packets: Option<u64>,
}

/// The cause of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Loss,
    Mark,
}

/// Reactions to congestion.
impl<G: Growth> LossBased<G> {
    pub(super) fn react(&mut self, loss: &Loss) {
        if loss.persistent {
            self.on_timeout(loss.number_newest);
            return;
        }
        // A loss that no acknowledgement revealed allows one packet.
        let revealed = self.last_ack.filter(|(at, _)| *at == loss.now);
        let bytes_acked = revealed.map_or(self.packet_bytes, |(_, bytes)| bytes);
        let new = Some(loss.number_newest) > self.number_reduced;
        let begins = new && self.reduction.is_none();
        if begins {
            self.begin_reduction(Cause::Loss);
        } else if new {
            self.reduce_again.get_or_insert(Cause::Loss);
        }
        if let Some(reduction) = &mut self.reduction {
            if begins || revealed.is_none() {
                reduction.on_delivered(bytes_acked);
            }
            reduction.update(loss.bytes_in_flight, bytes_acked, true);
        }
    }

    /// Reduces the window once for the marks of one window, by as much as for a loss, and without
    /// undo: the kernel's `tcp_enter_cwr`, which does nothing in a state of loss.
    pub(super) fn react_to_mark(&mut self, mark: &Mark) {
        self.undo = None;
        if Some(mark.number_newest) <= self.number_reduced {
            return;
        }
        if self.reduction.is_some() {
            self.reduce_again = Some(Cause::Mark);
            return;
        }
        self.begin_reduction(Cause::Mark);
        let revealed = self.last_ack.filter(|(at, _)| *at == mark.now);
        let bytes_acked = revealed.map_or(self.packet_bytes, |(_, bytes)| bytes);
        if let Some(reduction) = &mut self.reduction {
            reduction.on_delivered(bytes_acked);
            reduction.update(mark.bytes_in_flight, bytes_acked, false);
        }
    }

    /// Ends the reduction, as TCP's recovery, when everything sent before it is delivered, losses
    /// included. New data lost meanwhile begin the next one.
    pub(super) fn end_reduction(&mut self, ack: &Ack) {
        let Some(reduction) = &self.reduction else {
            return;
        };
        if !ack.has_repaired(reduction.number) {
            return;
        }
        self.reduction = None;
        self.limited_at = ack.now;
        if let Some(cause) = self.reduce_again.take() {
            self.begin_reduction(cause);
        }
    }

    pub(super) fn undo_reduction(&mut self) {
        if let Some(undo) = self.undo.take() {
            self.reduction = None;
            self.reduce_again = None;
            self.window_packets = self.window_packets.max(undo.window_packets);
            self.threshold_packets = match (self.threshold_packets, undo.threshold_packets) {
                (Some(now), Some(before)) => Some(now.max(before)),
                _ => None,
            };
        }
    }

    fn begin_reduction(&mut self, cause: Cause) {
        self.undo = (cause == Cause::Loss).then_some(Undo {
            window_packets: self.window_packets,
            threshold_packets: self.threshold_packets,
        });
        let prior_window_bytes = self.window_bytes();
        let target = self.growth.on_congestion(self.window_packets);
        let target = target.max(WINDOW_PACKETS_MIN);
        self.threshold_packets = Some(target);
        self.window_packets = target;
        self.packets_acked = 0;
        let number = self.number_next.saturating_sub(1);
        self.number_reduced = Some(number);
        self.reduction = Some(Reduction::new(
            number,
            prior_window_bytes,
            target * self.packet_bytes,
            self.packet_bytes,
        ));
    }

    fn on_timeout(&mut self, number_newest: u64) {
        if Some(number_newest) > self.number_reduced {
            self.begin_reduction(Cause::Loss);
        }
        self.growth.on_timeout();
        self.slow_start.reset();
        self.reduction = None;
        self.reduce_again = None;
        self.packets_acked = 0;
        self.window_packets = WINDOW_PACKETS_MIN;
    }
}
