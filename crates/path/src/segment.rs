use crate::wire::Shape;

/// A packet of wire size inside a direction: its place in the super-packet that it came with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// The arena's chunk that holds the super-packet, and the place in it.
    pub chunk: u32,
    pub at: u32,
    pub shape: Shape,
    /// Which of its segments this is.
    pub index: u16,
    /// The device that it leaves by, counted from 0 among those of its side.
    pub exit: u8,
}

impl Segment {
    /// Whether this is the segment after `other` of one super-packet.
    pub(crate) fn follows(&self, other: &Self) -> bool {
        (self.chunk, self.at) == (other.chunk, other.at) && self.index == other.index + 1
    }
}
