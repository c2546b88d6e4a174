use crate::segment::Segment;
use eyelevel_link::{Packet, Release};
use eyelevel_units::Instant;

/// Consecutive segments of one super-packet that are released together.
#[derive(Default)]
pub(crate) struct Run {
    pub first: Option<Packet<Segment>>,
    pub last: u16,
    /// Number, model's release time and size of each segment.
    pub members: Vec<(u64, Instant, u32)>,
}

impl Run {
    pub(crate) fn accepts(&self, packet: &Packet<Segment>) -> bool {
        let Some(first) = &self.first else {
            return true;
        };
        let last = Segment {
            index: self.last,
            ..first.payload
        };
        packet.payload.follows(&last)
            && packet.ecn == first.ecn
            && packet.corrupt_bit.is_none()
            && first.corrupt_bit.is_none()
    }

    pub(crate) fn push(&mut self, release: Release<Segment>) {
        let packet = release.packet;
        self.last = packet.payload.index;
        self.members
            .push((release.number, release.at, packet.wire_bytes));
        if self.first.is_none() {
            self.first = Some(packet);
        }
    }
}
