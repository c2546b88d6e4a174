/// The length of the header before every packet of a [`crate::Device`], bytes: `struct
/// virtio_net_hdr` (linux/virtio_net.h), in the machine's byte order.
pub const OFFLOAD_HEADER_BYTES: usize = 10;

/// The longest read: the header and a packet of 65 535 bytes after its IPv6 header.
pub const READ_BYTES_MAX: usize = OFFLOAD_HEADER_BYTES + 40 + 65_535;

/// `VIRTIO_NET_HDR_F_NEEDS_CSUM`.
const NEEDS_CHECKSUM: u8 = 1;
/// `VIRTIO_NET_HDR_GSO_ECN`: the first segment carries TCP's CWR flag.
const WITH_ECN: u8 = 0x80;

/// How a packet is to be split into segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Segmentation {
    /// The packet is not split.
    #[default]
    None,
    /// A TCP super-packet over IPv4.
    TcpV4,
    /// A TCP super-packet over IPv6.
    TcpV6,
    /// UDP datagrams of one flow, each with its own header.
    Udp,
}

/// Offload information about a packet that is not yet in its wire format, from or for the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OffloadHeader {
    /// How to split the packet.
    pub segmentation: Segmentation,
    /// Whether its first TCP segment has the flag CWR.
    pub with_cwr: bool,
    /// The payload bytes of each segment except the last.
    pub segment_bytes: u16,
    /// The length of IP and transport headers, bytes; a hint.
    pub header_bytes: u16,
    /// The start of the bytes that a missing checksum covers, and the checksum's offset from there;
    /// the field holds the sum of the pseudo header.
    pub checksum: Option<(u16, u16)>,
}

impl OffloadHeader {
    /// Parses the header; returns `None` for a kind of segmentation that was not enabled.
    pub fn parse(bytes: &[u8; OFFLOAD_HEADER_BYTES]) -> Option<Self> {
        let field = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let segmentation = match bytes[1] & !WITH_ECN {
            0 => Segmentation::None,
            1 => Segmentation::TcpV4,
            4 => Segmentation::TcpV6,
            5 => Segmentation::Udp,
            _ => return None,
        };
        Some(Self {
            segmentation,
            with_cwr: bytes[1] & WITH_ECN != 0,
            segment_bytes: field(4),
            header_bytes: field(2),
            checksum: (bytes[0] & NEEDS_CHECKSUM != 0).then(|| (field(6), field(8))),
        })
    }

    /// Encodes the header for the kernel.
    pub fn to_bytes(self) -> [u8; OFFLOAD_HEADER_BYTES] {
        let mut bytes = [0; OFFLOAD_HEADER_BYTES];
        let kind = match self.segmentation {
            Segmentation::None => 0,
            Segmentation::TcpV4 => 1,
            Segmentation::TcpV6 => 4,
            Segmentation::Udp => 5,
        };
        bytes[1] = kind | if self.with_cwr { WITH_ECN } else { 0 };
        bytes[2..4].copy_from_slice(&self.header_bytes.to_ne_bytes());
        bytes[4..6].copy_from_slice(&self.segment_bytes.to_ne_bytes());
        if let Some((start, offset)) = self.checksum {
            bytes[0] = NEEDS_CHECKSUM;
            bytes[6..8].copy_from_slice(&start.to_ne_bytes());
            bytes[8..10].copy_from_slice(&offset.to_ne_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_read_back() {
        for segmentation in [
            Segmentation::None,
            Segmentation::TcpV4,
            Segmentation::TcpV6,
            Segmentation::Udp,
        ] {
            let header = OffloadHeader {
                segmentation,
                with_cwr: segmentation == Segmentation::TcpV4,
                segment_bytes: 1448,
                header_bytes: 52,
                checksum: Some((20, 16)),
            };
            assert_eq!(OffloadHeader::parse(&header.to_bytes()), Some(header));
        }
        let mut unknown = [0; OFFLOAD_HEADER_BYTES];
        unknown[1] = 3;
        assert_eq!(OffloadHeader::parse(&unknown), None);
    }
}
