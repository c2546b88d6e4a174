//! Pure: the few bits of long headers that the prober reads, and version 2's numbering.

use crate::protocol::QUIC_V2;

const LONG: u8 = 0x80;
const TYPE: u8 = 0x30;

/// The most versions read; more are greasing (RFC 9000, section 15), or an attack.
const VERSIONS_MAX: usize = 16;

/// Returns the versions that a server supports if a datagram is a Version Negotiation packet (RFC
/// 9000, section 17.2.1).
pub fn versions_offered(datagram: &[u8]) -> Option<Vec<u32>> {
    let (0, rest) = long_header(datagram)? else {
        return None;
    };
    let versions = after_ids(rest)
        .unwrap_or_default()
        .chunks_exact(4)
        .take(VERSIONS_MAX)
        .map(|bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    Some(versions.collect())
}

/// Renumbers the packet types of a version 2 datagram to those of version 1, coalesced packets too
/// (RFC 9369, section 3.2). The QUIC library supports only version 1's numbers; header protection
/// does not cover these bits (RFC 9001, section 5.4.1), and [`super::keys`] restores them before a
/// packet is authenticated. Datagrams of other versions are left unchanged.
pub fn to_version1(datagram: &mut [u8]) {
    let mut rest = datagram;
    while let Some((QUIC_V2, _)) = long_header(rest) {
        let number = (rest[0] & TYPE) >> 4;
        let number1 = (number + 3) % 4;
        rest[0] = (rest[0] & !TYPE) | (number1 << 4);
        let Some(length) = packet_length(rest, number1) else {
            return;
        };
        if length > rest.len() {
            return;
        }
        rest = &mut rest[length..];
    }
}

/// Returns the first byte of a version 2 packet for that of its version 1 equivalent.
pub fn first_byte_of_version2(first: u8) -> u8 {
    let number = (first & TYPE) >> 4;
    (first & !TYPE) | (((number + 1) % 4) << 4)
}

/// Returns whether the bytes begin with a long header of version 2.
pub fn is_version2(header: &[u8]) -> bool {
    matches!(long_header(header), Some((QUIC_V2, _)))
}

fn long_header(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<5>()?;
    (head[0] & LONG != 0).then(|| {
        (
            u32::from_be_bytes([head[1], head[2], head[3], head[4]]),
            rest,
        )
    })
}

fn after_ids(rest: &[u8]) -> Option<&[u8]> {
    let (length, rest) = rest.split_first()?;
    let (length, rest) = rest.get(usize::from(*length)..)?.split_first()?;
    rest.get(usize::from(*length)..)
}

/// Returns the whole length of a long packet of version 1's type `number`; a Retry has none.
fn packet_length(packet: &[u8], number: u8) -> Option<usize> {
    let mut rest = after_ids(packet.get(5..)?)?;
    match number {
        0 => {
            let (token, after) = read_varint(rest)?;
            rest = after.get(usize::try_from(token).ok()?..)?;
        }
        3 => return None,
        _ => {}
    }
    let (length, after) = read_varint(rest)?;
    (packet.len() - after.len()).checked_add(usize::try_from(length).ok()?)
}

/// Reads a variable-length integer (RFC 9000, section 16).
pub(super) fn read_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = 1_usize << (bytes.first()? >> 6);
    let value = bytes
        .get(..length)?
        .iter()
        .fold(0, |value, byte| value << 8 | u64::from(*byte));
    Some((value & (u64::MAX >> (66 - 8 * length)), &bytes[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a long packet: type, version, ids of 2 and 1 bytes, a token for Initials, payload of
    /// 4.
    fn packet(number: u8, version: u32, with_token: bool) -> Vec<u8> {
        let mut bytes = vec![0xc0 | number << 4];
        bytes.extend(version.to_be_bytes());
        bytes.extend([2, 7, 7, 1, 9]);
        if with_token {
            bytes.extend([1, 5]);
        }
        bytes.extend([4, 1, 2, 3, 4]);
        bytes
    }

    #[test]
    fn coalesced_packets_of_version_2_are_renumbered() {
        // RFC 9369, section 3.2: Initial 1, 0-RTT 2, Handshake 3, Retry 0.
        let mut datagram = packet(1, QUIC_V2, true);
        datagram.extend(packet(3, QUIC_V2, false));
        datagram.extend([0x40, 1, 2]);
        let before = datagram.clone();
        to_version1(&mut datagram);
        let second = packet(1, QUIC_V2, true).len();
        assert_eq!((datagram[0] & TYPE, datagram[second] & TYPE), (0, 2 << 4));
        assert_eq!(first_byte_of_version2(datagram[0]), before[0]);
        assert_eq!(first_byte_of_version2(datagram[second]), before[second]);
        let mut other = packet(1, 1, false);
        to_version1(&mut other);
        assert_eq!(other, packet(1, 1, false));
    }

    #[test]
    fn version_negotiation_lists_versions() {
        let mut negotiation = vec![0x80, 0, 0, 0, 0, 1, 7, 1, 9];
        negotiation.extend(1_u32.to_be_bytes());
        negotiation.extend(QUIC_V2.to_be_bytes());
        assert_eq!(versions_offered(&negotiation), Some(vec![1, QUIC_V2]));
        for other in [packet(3, 1, false), packet(0, QUIC_V2, true), Vec::new()] {
            assert_eq!(versions_offered(&other), None);
        }
    }

    #[test]
    fn arbitrary_bytes_are_harmless() {
        let mut seed = 1_u64;
        for _ in 0..20_000 {
            let mut bytes: Vec<u8> = (0..40)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (seed >> 56) as u8
                })
                .collect();
            bytes[1..5].copy_from_slice(&QUIC_V2.to_be_bytes());
            to_version1(&mut bytes);
            let _ = versions_offered(&bytes);
        }
    }

    #[test]
    fn varints_are_those_of_rfc_9000_appendix_a1() {
        for (bytes, value) in [
            (&[0x25_u8][..], 37),
            (&[0x7b, 0xbd], 15_293),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (
                &[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c],
                151_288_809_941_952_652,
            ),
        ] {
            assert_eq!(read_varint(bytes), Some((value, &[][..])));
        }
        assert_eq!(read_varint(&[0x7b]), None);
    }
}
