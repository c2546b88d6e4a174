use crate::Packet;
use eyelevel_units::Instant;

/// A packet inside the direction.
#[derive(Clone, Debug)]
pub(crate) struct Held<P> {
    pub packet: Packet<P>,
    /// Its place among the direction's arrivals, from 0; a duplicate keeps it.
    pub number: u64,
    /// When it entered the stage that holds it.
    pub entered: Instant,
}

impl<P> Held<P> {
    pub(crate) fn bytes(&self) -> u64 {
        u64::from(self.packet.wire_bytes)
    }
}
