use crate::PacketSent;

/// Whether the window limits the sender (RFC 9438 section 5.8; the question of RFC 7661 with the
/// kernel's answer): it was full, or in slow start at least half of it was in use, at some time
/// within the last window's worth of packets.
///
/// Half suffices in slow start because a paced sender fills a doubling window only late in a round.
#[derive(Clone, Debug, Default)]
pub(crate) struct WindowUsage {
    full: bool,
    packets_max: u64,
    /// The newest packet when the two above were recorded: they apply until it is delivered.
    number: u64,
    number_acked: Option<u64>,
}

impl WindowUsage {
    /// Records a packet and the window that allowed it.
    pub(crate) fn on_packet_sent(
        &mut self,
        packet: &PacketSent,
        window_bytes: u64,
        packet_bytes: u64,
    ) {
        let full = packet.bytes_in_flight + packet_bytes > window_bytes;
        let packets = packet.bytes_in_flight.div_ceil(packet_bytes);
        let expired = self.number_acked.is_none_or(|acked| acked >= self.number);
        if expired || full || (!self.full && packets > self.packets_max) {
            self.full = full;
            self.packets_max = packets;
            self.number = packet.number;
        }
    }

    /// Records how far the peer has acknowledged.
    pub(crate) fn on_ack(&mut self, number_newest: u64) {
        self.number_acked = Some(number_newest);
    }

    /// Returns whether the window may grow.
    pub(crate) fn is_window_limited(&self, slow_start: bool, window_packets: u64) -> bool {
        self.full || (slow_start && window_packets < 2 * self.packets_max)
    }

    /// Returns the most packets in flight within the last window's worth.
    pub(crate) fn packets_max(&self) -> u64 {
        self.packets_max
    }
}
