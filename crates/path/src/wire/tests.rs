//! Super-packets against a plain reading of RFC 791, 8200, 9293 and 768.

use super::*;

/// Returns a TCP super-packet over IPv4 with PSH, FIN and CWR: 52 bytes of headers, then `payload`
/// bytes.
fn tcp_v4(payload: usize) -> Vec<u8> {
    let mut packet = vec![
        0x45, 0x02, 0, 0, 0x12, 0xff, 0x40, 0, 64, 6, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2,
    ];
    packet.extend(tcp_header());
    packet.extend((0..payload).map(|i| (i * 7 + i / 256) as u8));
    let length = packet.len() as u16;
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    packet
}

fn tcp_v6(payload: usize) -> Vec<u8> {
    let mut packet = vec![0x60, 0x20, 0, 1, 0, 0, 6, 64];
    packet.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    packet.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    packet.extend(tcp_header());
    packet.extend((0..payload).map(|i| (i * 3) as u8));
    packet
}

/// Returns a header of 32 bytes: twelve of options (time stamps), the sequence number about to
/// wrap.
fn tcp_header() -> Vec<u8> {
    let mut header = vec![0x01, 0xbb, 0xc0, 0x00];
    header.extend(0xffff_ff00_u32.to_be_bytes());
    header.extend(77_u32.to_be_bytes());
    header.extend([0x80, 0x80 | 0x10 | 0x08 | 0x01, 0x01, 0xf5, 0, 0, 0, 0]);
    header.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
    header
}

fn offload(segmentation: Segmentation, start: u16, offset: u16, size: u16) -> OffloadHeader {
    OffloadHeader {
        segmentation,
        with_cwr: false,
        segment_bytes: size,
        header_bytes: 0,
        checksum: Some((start, offset)),
    }
}

/// Returns the packet that holds some segments, its checksum completed if it stays one packet.
fn segment(packet: &[u8], shape: &Shape, range: (u16, u16), ecn: u8) -> (Vec<u8>, OffloadHeader) {
    let mut head = [0; HEADERS_MAX];
    let (length, offload) = shape.head(packet, range, ecn, &mut head);
    let mut cut_packet = head[..length].to_vec();
    cut_packet.extend(&packet[shape.payload(range.0, range.1)]);
    if offload.segmentation == Segmentation::None {
        complete_checksum(&mut cut_packet, offload.checksum.unwrap());
    }
    (cut_packet, offload)
}

/// Asserts what a receiver checks: the IPv4 header's sum, and the transport's over its pseudo
/// header.
fn assert_sound(packet: &[u8], protocol: u8) {
    let (ip_bytes, addresses) = if packet[0] >> 4 == 4 {
        let ip_bytes = usize::from(packet[0] & 15) * 4;
        assert_eq!(
            checksum::fold(checksum::add(0, &packet[..ip_bytes])),
            0xffff
        );
        let length = u16::from_be_bytes([packet[2], packet[3]]);
        assert_eq!(usize::from(length), packet.len());
        (ip_bytes, 12..20)
    } else {
        let length = u16::from_be_bytes([packet[4], packet[5]]);
        assert_eq!(usize::from(length) + 40, packet.len());
        (40, 8..40)
    };
    let mut pseudo = packet[addresses].to_vec();
    pseudo.extend(((packet.len() - ip_bytes) as u32).to_be_bytes());
    pseudo.extend([0, 0, 0, protocol]);
    let sum = checksum::add(checksum::add(0, &pseudo), &packet[ip_bytes..]);
    assert_eq!(checksum::fold(sum), 0xffff);
}

#[test]
fn tcp_segments_are_as_on_a_wire() {
    for (packet, start, kind) in [
        (tcp_v4(3000), 20, Segmentation::TcpV4),
        (tcp_v6(3000), 40, Segmentation::TcpV6),
    ] {
        let shape = Shape::parse(&packet, &offload(kind, start, 16, 1448)).unwrap();
        assert_eq!(shape.segments(), 3);
        let mut payload: Vec<u8> = Vec::new();
        let ip_bytes = usize::from(start);
        for index in 0..3u16 {
            let (cut_packet, offload) = segment(&packet, &shape, (index, index), 0b10);
            assert_eq!(offload.segmentation, Segmentation::None);
            assert_eq!(cut_packet.len() as u32, shape.wire_bytes(index));
            assert_sound(&cut_packet, 6);
            let tcp = &cut_packet[ip_bytes..];
            let sequence = 0xffff_ff00_u32.wrapping_add(u32::from(index) * 1448);
            assert_eq!(tcp[4..8], sequence.to_be_bytes());
            let flags = 0x10 | if index == 0 { 0x80 } else { 0 } | if index == 2 { 9 } else { 0 };
            assert_eq!(tcp[13], flags, "flags of segment {index}");
            if cut_packet[0] >> 4 == 4 {
                assert_eq!(cut_packet[4..6], (0x12ff + index).to_be_bytes());
            }
            payload.extend(&tcp[32..]);
        }
        assert_eq!(payload, packet[ip_bytes + 32..]);
    }
}

#[test]
fn a_run_of_segments_is_a_super_packet_again() {
    let packet = tcp_v4(5000);
    let offload_header = offload(Segmentation::TcpV4, 20, 16, 1448);
    let shape = Shape::parse(&packet, &offload_header).unwrap();
    let (cut_packet, again) = segment(&packet, &shape, (1, 3), 0b11);
    assert_eq!(again.segmentation, Segmentation::TcpV4);
    assert_eq!((again.segment_bytes, again.header_bytes), (1448, 52));
    assert!(!again.with_cwr, "only the first segment has the flag");
    // Segmented once more, it yields the same packets as the original, except for the marks.
    let inner = Shape::parse(&cut_packet, &again).unwrap();
    assert_eq!(inner.segments(), 3);
    for index in 0..3 {
        let direct = segment(&packet, &shape, (index + 1, index + 1), 0b11).0;
        assert_eq!(segment(&cut_packet, &inner, (index, index), 0b11).0, direct);
    }
    let (_, whole) = segment(&packet, &shape, (0, 3), 0b10);
    assert!(whole.with_cwr);
}

#[test]
fn udp_segments_have_lengths_of_their_own() {
    let mut packet = vec![
        0x45, 0, 0, 0, 0, 9, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2,
    ];
    packet.extend([0x01, 0xbb, 0xc0, 0, 0, 0, 0, 0]);
    packet.extend((0..2500).map(|i| i as u8));
    let shape = Shape::parse(&packet, &offload(Segmentation::Udp, 20, 6, 1200)).unwrap();
    assert_eq!(shape.segments(), 3);
    for (index, expected) in [(0, 1228), (1, 1228), (2, 128)] {
        assert_eq!(shape.wire_bytes(index), expected);
        let (cut_packet, _) = segment(&packet, &shape, (index, index), 0);
        assert_sound(&cut_packet, 17);
        assert_eq!(cut_packet[24..26], (expected as u16 - 20).to_be_bytes());
    }
    let (cut_packet, again) = segment(&packet, &shape, (0, 1), 0);
    assert_eq!(again.segmentation, Segmentation::Udp);
    assert_eq!(cut_packet[24..26], 2408u16.to_be_bytes());
}

#[test]
fn a_whole_packet_only_changes_its_mark() {
    let mut packet = tcp_v4(10);
    let none = OffloadHeader::default();
    let shape = Shape::parse(&packet, &none).unwrap();
    assert_eq!((shape.segments(), shape.wire_bytes(0)), (1, 62));
    let mut head = [0; HEADERS_MAX];
    let (length, offload_header) = shape.head(&packet, (0, 0), 0b11, &mut head);
    assert_eq!((length, offload_header), (20, none));
    assert_eq!(shape.payload(0, 0), 20..62);
    packet[1] = 0x03;
    packet[10..12].copy_from_slice(&head[10..12]);
    assert_eq!(packet[..20], head[..20]);
    assert_eq!(checksum::fold(checksum::add(0, &head[..20])), 0xffff);
}

#[test]
fn headers_that_do_not_fit_are_refused() {
    let packet = tcp_v4(100);
    let of = |start, offset, size| {
        Shape::parse(&packet, &offload(Segmentation::TcpV4, start, offset, size))
    };
    assert!(of(20, 16, 1448).is_some());
    assert!(of(20, 16, 0).is_none());
    assert!(of(150, 16, 1448).is_none());
    assert!(of(4, 16, 1448).is_none());
    assert!(Shape::parse(&[], &OffloadHeader::default()).is_none());
}

#[test]
fn a_udp_checksum_of_zero_is_written_as_ones() {
    // Words that sum to 0xffff give the checksum 0.
    let mut packet = vec![0xff, 0xff, 0, 0];
    complete_checksum(&mut packet, (0, 2));
    assert_eq!(packet[2..], [0xff, 0xff]);
}
