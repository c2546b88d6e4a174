//! Splits super-packets into segments, and joins runs of them to packets.

use crate::checksum;
use eyelevel_netns::{OffloadHeader, Segmentation};
use std::ops::Range;

/// The longest headers that are parsed: IPv6 with some extensions, then TCP with options.
pub(crate) const HEADERS_MAX: usize = 256;

const TCP_FIN_PSH: u8 = 0x09;
const TCP_CWR: u8 = 0x80;

/// The division of a packet from a device into packets of wire size. A packet that is not a
/// super-packet has one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    kind: Kind,
    /// Bytes of IP and transport headers; with one segment of the IP header alone.
    headers: u16,
    /// The offset of the transport header.
    transport: u16,
    /// Payload bytes of each segment but the last.
    segment_bytes: u16,
    /// Bytes of the packet.
    length: u32,
    /// The offsets of a checksum to complete, as in [`OffloadHeader`].
    checksum: Option<(u16, u16)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Whole,
    Tcp,
    Udp,
}

impl Shape {
    /// Parses a packet as the device delivered it; `None` if its headers do not match the offload
    /// header.
    pub(crate) fn parse(packet: &[u8], offload: &OffloadHeader) -> Option<Self> {
        let length = u32::try_from(packet.len()).ok()?;
        let ip_headers = match packet.first()? >> 4 {
            4 => u16::from(packet[0] & 0x0f) * 4,
            _ => 40,
        };
        let whole = Self {
            kind: Kind::Whole,
            headers: ip_headers,
            transport: ip_headers,
            segment_bytes: 0,
            length,
            checksum: offload.checksum,
        };
        let fits = |start: u16, offset: u16| {
            usize::from(start) + usize::from(offset) + 2 <= packet.len() && start >= ip_headers
        };
        if offload.checksum.is_some_and(|(start, at)| !fits(start, at)) {
            return None;
        }
        let kind = match offload.segmentation {
            Segmentation::None => return Some(whole),
            Segmentation::TcpV4 | Segmentation::TcpV6 => Kind::Tcp,
            Segmentation::Udp => Kind::Udp,
        };
        let (transport, _) = offload.checksum?;
        let transport_bytes = match kind {
            Kind::Tcp => u16::from(packet.get(usize::from(transport) + 12)? >> 4) * 4,
            _ => 8,
        };
        let headers = transport + transport_bytes;
        let sound = usize::from(headers) <= packet.len().min(HEADERS_MAX)
            && transport_bytes >= if kind == Kind::Tcp { 20 } else { 8 }
            && offload.segment_bytes > 0;
        sound.then_some(Self {
            kind,
            headers,
            transport,
            segment_bytes: offload.segment_bytes,
            ..whole
        })
    }

    /// Returns the number of packets of wire size in it, at least one.
    pub(crate) fn segments(&self) -> u16 {
        match self.kind {
            Kind::Whole => 1,
            _ => self
                .payload_bytes()
                .div_ceil(u32::from(self.segment_bytes))
                .max(1) as u16,
        }
    }

    /// Returns the bytes of the packet as it arrived.
    pub(crate) fn length(&self) -> u32 {
        self.length
    }

    /// Returns the size of a segment on the wire.
    pub(crate) fn wire_bytes(&self, segment: u16) -> u32 {
        match self.kind {
            Kind::Whole => self.length,
            _ => u32::from(self.headers) + self.payload(segment, segment).len() as u32,
        }
    }

    /// Returns the range of the payload of the segments from `first` to `last` in the packet.
    pub(crate) fn payload(&self, first: u16, last: u16) -> Range<usize> {
        let headers = usize::from(self.headers);
        if self.kind == Kind::Whole {
            return headers..self.length as usize;
        }
        let size = usize::from(self.segment_bytes);
        let end = headers + (usize::from(last) + 1) * size;
        headers + usize::from(first) * size..end.min(self.length as usize)
    }

    /// Writes the headers of one packet that holds the segments from `first` to `last`, with these
    /// ECN bits, into `out`. Returns their length and the offload header for the device.
    pub(crate) fn head(
        &self,
        packet: &[u8],
        (first, last): (u16, u16),
        ecn: u8,
        out: &mut [u8; HEADERS_MAX],
    ) -> (usize, OffloadHeader) {
        let headers = usize::from(self.headers);
        let out = &mut out[..headers];
        out.copy_from_slice(&packet[..headers]);
        let mut offload = OffloadHeader {
            checksum: self.checksum,
            ..OffloadHeader::default()
        };
        if self.kind != Kind::Whole {
            self.cut_transport(out, first, last, &mut offload);
        }
        set_ip(out, first, self.payload(first, last).len(), ecn, self.kind);
        if self.kind != Kind::Whole {
            self.sum_pseudo_header(out, self.payload(first, last).len());
        }
        (headers, offload)
    }

    fn payload_bytes(&self) -> u32 {
        self.length - u32::from(self.headers)
    }

    fn cut_transport(&self, out: &mut [u8], first: u16, last: u16, offload: &mut OffloadHeader) {
        let skipped = u32::from(first) * u32::from(self.segment_bytes);
        let payload = self.payload(first, last).len();
        let transport = &mut out[usize::from(self.transport)..];
        match self.kind {
            Kind::Tcp => {
                let sequence = u32::from_be_bytes(transport[4..8].try_into().expect("four bytes"));
                transport[4..8].copy_from_slice(&sequence.wrapping_add(skipped).to_be_bytes());
                if last + 1 < self.segments() {
                    transport[13] &= !TCP_FIN_PSH;
                }
                if first > 0 {
                    transport[13] &= !TCP_CWR;
                }
                offload.with_cwr = first < last && transport[13] & TCP_CWR != 0;
            }
            _ => {
                let length = (payload + 8) as u16;
                transport[4..6].copy_from_slice(&length.to_be_bytes());
            }
        }
        if first < last {
            offload.segment_bytes = self.segment_bytes;
            offload.header_bytes = self.headers;
            offload.segmentation = match (self.kind, out[0] >> 4) {
                (Kind::Tcp, 4) => Segmentation::TcpV4,
                (Kind::Tcp, _) => Segmentation::TcpV6,
                _ => Segmentation::Udp,
            };
        }
    }

    /// Writes the sum of the pseudo header, which includes the length, to the place of the
    /// checksum.
    fn sum_pseudo_header(&self, out: &mut [u8], payload: usize) {
        let Some((start, offset)) = self.checksum else {
            return;
        };
        let length = usize::from(self.headers - start) + payload;
        let protocol = if self.kind == Kind::Tcp { 6 } else { 17 };
        let addresses = if out[0] >> 4 == 4 { 12..20 } else { 8..40 };
        let sum = checksum::add(protocol + length as u32, &out[addresses]);
        let at = usize::from(start) + usize::from(offset);
        out[at..at + 2].copy_from_slice(&checksum::fold(sum).to_be_bytes());
    }
}

/// Sets length, identification, ECN bits and checksum of the IP header.
fn set_ip(out: &mut [u8], first: u16, payload: usize, ecn: u8, kind: Kind) {
    let length = out.len() + payload;
    if out[0] >> 4 != 4 {
        out[1] = out[1] & !0x30 | ecn << 4;
        if kind != Kind::Whole {
            out[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
        }
        return;
    }
    out[1] = out[1] & !0b11 | ecn;
    if kind != Kind::Whole {
        out[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        let identification = u16::from_be_bytes([out[4], out[5]]).wrapping_add(first);
        out[4..6].copy_from_slice(&identification.to_be_bytes());
    }
    out[10..12].fill(0);
    let ip_bytes = usize::from(out[0] & 0x0f) * 4;
    let sum = checksum::finish(checksum::add(0, &out[..ip_bytes]));
    out[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// Completes the checksum of a packet. UDP's zero means "none" and is written as its other form
/// (RFC 768).
pub(crate) fn complete_checksum(packet: &mut [u8], (start, offset): (u16, u16)) {
    let (start, at) = (usize::from(start), usize::from(start) + usize::from(offset));
    let sum = match checksum::finish(checksum::add(0, &packet[start..])) {
        0 => 0xffff,
        sum => sum,
    };
    packet[at..at + 2].copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests;
