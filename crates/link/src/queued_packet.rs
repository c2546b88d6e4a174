use crate::Packet;
use eyelevel_units::Instant;

/// The most packets that one stage holds: 2.5 s at 20 Gbit/s. A stage without a limit of its own
/// drops what arrives beyond, so that a mistaken setting cannot exhaust memory.
pub(crate) const QUEUED_PACKETS_MAX: usize = 1 << 22;

/// A packet inside the direction.
#[derive(Clone, Debug)]
pub(crate) struct QueuedPacket<P> {
    pub packet: Packet<P>,
    /// Its position among the direction's arrivals, from 0; a duplicate keeps it.
    pub number: u64,
    /// Time when it entered the stage that holds it.
    pub entered: Instant,
}

impl<P> QueuedPacket<P> {
    pub(crate) fn bytes(&self) -> u64 {
        u64::from(self.packet.wire_bytes)
    }
}
