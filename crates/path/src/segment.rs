use crate::wire::Shape;

/// A packet of wire size inside a direction: a reference into the super-packet that contains it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// The arena's chunk that holds the super-packet, and the position in it.
    pub chunk: u32,
    pub at: u32,
    pub shape: Shape,
    /// The index among its segments.
    pub index: u16,
    /// The device that it leaves by, counted from 0 on its side.
    pub exit: u8,
}

impl Segment {
    /// Returns whether this is the segment after `other` of one super-packet.
    pub(crate) fn follows(&self, other: &Self) -> bool {
        (self.chunk, self.at) == (other.chunk, other.at) && self.index == other.index + 1
    }
}
