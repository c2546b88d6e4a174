//! Reduces an idle connection's window if slow start after idle is enabled (RFC 2861, RFC 5681
//! section 4.1; obsolete since RFC 7661, but the default of the kernel).

use super::LossBased;
use crate::{Growth, PacketSent};
use eyelevel_units::{Duration, Instant};

impl<G: Growth> LossBased<G> {
    /// Halves the window per timeout of idleness, down to the initial one (RFC 2861 as in the
    /// kernel).
    pub(super) fn restart(&mut self, now: Instant, mut idle: Duration) {
        self.keep_threshold();
        let floor = self.initial_window_packets.min(self.window_packets);
        while idle > self.timeout && self.window_packets > floor {
            idle -= self.timeout;
            self.window_packets /= 2;
        }
        self.window_packets = self.window_packets.max(floor);
        self.limited_at = now;
    }

    /// Decays a window that was not filled for a timeout towards its use (the other half of RFC
    /// 2861).
    pub(super) fn decay_unused(&mut self, packet: &PacketSent) {
        let window_bytes = self.window_packets * self.packet_bytes;
        if packet.bytes_in_flight + self.packet_bytes > window_bytes {
            self.limited_at = packet.now;
        } else if packet.now.since(self.limited_at) >= self.timeout {
            let used = self.initial_window_packets.max(self.usage.packets_max());
            if used < self.window_packets {
                self.keep_threshold();
                self.window_packets = (self.window_packets + used) / 2;
            }
            self.limited_at = packet.now;
        }
    }

    fn keep_threshold(&mut self) {
        let three_quarters = self.window_packets * 3 / 4;
        self.threshold_packets = self.threshold_packets.map(|old| old.max(three_quarters));
    }
}
