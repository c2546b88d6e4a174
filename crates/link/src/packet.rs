use core::net::IpAddr;

/// The two ECN bits of an IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable: such a packet is dropped instead of marked.
    #[default]
    NotEct = 0b00,
    /// ECN-capable, and of the low-latency service (L4S, RFC 9331).
    Ect1 = 0b01,
    /// ECN-capable.
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// Reads the low two bits of the traffic class; the others are ignored.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            0b11 => Self::Ce,
            _ => Self::NotEct,
        }
    }

    /// Returns whether a mark may replace a drop.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

/// One packet's wire size and the fields that stages may read. The payload is the driver's own: a
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
    /// A bit of the packet, counted from its first, that the driver inverts before sending.
    pub corrupt_bit: Option<u32>,
    /// The driver's data to send it.
    pub payload: P,
}

impl<P> Packet<P> {
    /// Creates a packet of flow 0, without address, not ECN-capable.
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
