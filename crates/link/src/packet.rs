use core::net::IpAddr;

/// The two ECN bits of an IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// The sender does not understand marks: such a packet is dropped instead.
    #[default]
    NotEct = 0b00,
    /// Capable, and of the low-latency service (L4S, RFC 9331).
    Ect1 = 0b01,
    /// Capable.
    Ect0 = 0b10,
    /// Congestion was experienced.
    Ce = 0b11,
}

impl Ecn {
    /// From the low two bits of the traffic class; the others are ignored.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            0b11 => Self::Ce,
            _ => Self::NotEct,
        }
    }

    /// Whether a mark may stand in for a drop.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

/// One packet of wire size with what the stages may look at. The payload is the driver's own: a
/// buffer's index, a number in a test. A stage clones it only to duplicate the packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet<P> {
    /// Size of the IP packet in bytes, header included.
    pub wire_bytes: u32,
    /// A hash of the packet's flow (addresses, protocol, ports), for fair queueing.
    pub flow: u32,
    /// The origin's address, for stages with settings per address.
    pub address: Option<IpAddr>,
    /// The packet's ECN bits; a queue may set [`Ecn::Ce`], the driver then rewrites the header.
    pub ecn: Ecn,
    /// A bit of the packet, counted from its first, that the driver shall invert before it sends.
    pub corrupt_bit: Option<u32>,
    /// What the driver needs to send it.
    pub payload: P,
}

impl<P> Packet<P> {
    /// A packet of flow 0, without address, not ECN-capable.
    pub const fn new(wire_bytes: u32, payload: P) -> Self {
        Self {
            wire_bytes,
            flow: 0,
            address: None,
            ecn: Ecn::NotEct,
            corrupt_bit: None,
            payload,
        }
    }
}
