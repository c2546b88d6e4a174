//! Parses the fields of a packet that links need: its flow, its peer and its ECN bits.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const TCP: u8 = 6;
const UDP: u8 = 17;

/// The fields of an IP packet that links read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// A hash over addresses, protocol and ports: the same for all packets of one connection.
    pub flow: u32,
    /// The two ECN bits.
    pub ecn: u8,
    /// The transport protocol's number.
    protocol: u8,
    /// The bytes at the place of the ports of TCP and UDP; `None` in a later fragment.
    ports: Option<[u8; 4]>,
}

/// A connection in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoints {
    protocol: u8,
    /// The sender.
    pub source: SocketAddr,
    /// The receiver.
    pub destination: SocketAddr,
}

impl Endpoints {
    /// Returns `tcp` or `udp`.
    pub fn protocol(&self) -> &'static str {
        if self.protocol == TCP { "tcp" } else { "udp" }
    }
}

impl Header {
    /// Returns the connection's endpoints, for TCP and UDP.
    #[inline]
    pub fn endpoints(&self) -> Option<Endpoints> {
        let ports = self.ports.filter(|_| matches!(self.protocol, TCP | UDP))?;
        let port = |at: usize| u16::from_be_bytes([ports[at], ports[at + 1]]);
        Some(Endpoints {
            protocol: self.protocol,
            source: SocketAddr::new(self.source, port(0)),
            destination: SocketAddr::new(self.destination, port(2)),
        })
    }
}

/// Parses the header of a whole IP packet; `None` if it is too short, or neither IPv4 nor IPv6.
pub fn parse(packet: &[u8]) -> Option<Header> {
    match packet.first()? >> 4 {
        4 => parse_v4(packet),
        6 => parse_v6(packet),
        _ => None,
    }
}

fn parse_v4(packet: &[u8]) -> Option<Header> {
    let header_bytes = usize::from(packet[0] & 0x0f) * 4;
    if header_bytes < 20 || packet.len() < header_bytes {
        return None;
    }
    let address = |at: usize| -> [u8; 4] { packet[at..at + 4].try_into().expect("four bytes") };
    let (source, destination) = (address(12), address(16));
    let first_fragment = u16::from_be_bytes([packet[6], packet[7]]) & 0x1fff == 0;
    let ports = if first_fragment {
        packet.get(header_bytes..header_bytes + 4)
    } else {
        None
    };
    Some(Header {
        source: Ipv4Addr::from(source).into(),
        destination: Ipv4Addr::from(destination).into(),
        flow: hash(&[
            &source,
            &destination,
            &packet[9..10],
            ports.unwrap_or_default(),
        ]),
        ecn: packet[1] & 0b11,
        protocol: packet[9],
        ports: ports.and_then(|ports| ports.try_into().ok()),
    })
}

fn parse_v6(packet: &[u8]) -> Option<Header> {
    if packet.len() < 40 {
        return None;
    }
    let address = |at: usize| -> [u8; 16] { packet[at..at + 16].try_into().expect("16 bytes") };
    let (source, destination) = (address(8), address(24));
    let ports = packet.get(40..44);
    Some(Header {
        source: Ipv6Addr::from(source).into(),
        destination: Ipv6Addr::from(destination).into(),
        flow: hash(&[
            &source,
            &destination,
            &packet[6..7],
            ports.unwrap_or_default(),
        ]),
        ecn: packet[1] >> 4 & 0b11,
        protocol: packet[6],
        ports: ports.and_then(|ports| ports.try_into().ok()),
    })
}

/// Hashes all parts with FNV-1a (Fowler, Noll, Vo), which spreads a handful of flows well and needs
/// no state.
fn hash(parts: &[&[u8]]) -> u32 {
    parts
        .iter()
        .flat_map(|part| part.iter())
        .fold(0x811c_9dc5, |hash, byte| {
            (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(source_port: u16, ecn: u8) -> Vec<u8> {
        let mut packet = vec![0; 28];
        packet[0] = 0x45;
        packet[1] = ecn;
        packet[9] = 17;
        packet[12..16].copy_from_slice(&[192, 0, 2, 1]);
        packet[16..20].copy_from_slice(&[198, 51, 100, 2]);
        packet[20..22].copy_from_slice(&source_port.to_be_bytes());
        packet
    }

    #[test]
    fn one_connection_is_one_flow() {
        let first = parse(&v4(4000, 1)).unwrap();
        assert_eq!(first.source, "192.0.2.1".parse::<IpAddr>().unwrap());
        assert_eq!(first.destination, "198.51.100.2".parse::<IpAddr>().unwrap());
        assert_eq!(first.ecn, 1);
        assert_eq!(first.flow, parse(&v4(4000, 0)).unwrap().flow);
        assert_ne!(first.flow, parse(&v4(4001, 1)).unwrap().flow);
    }

    #[test]
    fn short_and_foreign_packets_have_no_header() {
        assert_eq!(parse(&[]), None);
        assert_eq!(parse(&[0x45; 19]), None);
        assert_eq!(parse(&[0x60; 39]), None);
        assert_eq!(parse(&[0x10; 60]), None);
    }

    #[test]
    fn the_ecn_bits_of_version_six_lie_across_two_bytes() {
        let mut packet = vec![0; 48];
        packet[0] = 0x60;
        packet[1] = 0b0010_0000;
        assert_eq!(parse(&packet).unwrap().ecn, 0b10);
    }
}
