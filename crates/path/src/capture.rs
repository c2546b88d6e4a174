//! What the servers' end of the path saw, as a file for Wireshark and tcpdump: whole packets of wire
//! size, when the servers sent them and when the path handed them over.

use crate::blocks::Blocks;
use crate::wire::{HEADERS_MAX, Shape, complete_checksum};
use eyelevel_units::Instant;
use std::fs::File;

/// Nanosecond timestamps (draft-ietf-opsawg-pcap, section 4).
const MAGIC: u32 = 0xa1b2_3c4d;
const VERSION: [u16; 2] = [2, 4];
/// The longest IP packet; all of it is kept, or TLS could not be read.
const SNAP_BYTES: u32 = 65_535;
/// `LINKTYPE_RAW`: packets begin with IPv4's or IPv6's header.
const LINK_TYPE: u32 = 101;
const RECORD_HEAD_BYTES: usize = 16;
const BLOCK_BYTES: usize = 256 * 1024;
/// Blocks on their way to the disk: 64 MiB, beyond which packets are missing.
const BLOCKS_MAX: usize = 256;

/// What became of a capture.
#[derive(Debug, Default)]
pub(crate) struct CaptureEnd {
    pub packets: u64,
    pub lost: u64,
    /// What the disk said, where it refused.
    pub failure: Option<String>,
}

/// The path's end: never waits for the disk.
pub(crate) struct Capture {
    blocks: Blocks,
    packets: u64,
    lost: u64,
}

impl Capture {
    /// Starts the writer.
    pub(crate) fn start(file: File) -> Self {
        Self {
            blocks: Blocks::start(file, head(), BLOCK_BYTES, BLOCKS_MAX),
            packets: 0,
            lost: 0,
        }
    }

    /// One segment of a super-packet, as it is on the wire with these ECN bits.
    pub(crate) fn push(
        &mut self,
        at: Instant,
        shape: &Shape,
        packet: &[u8],
        segment: u16,
        ecn: u8,
    ) {
        let mut headers = [0; HEADERS_MAX];
        let range = (segment, segment);
        let (head_bytes, offload) = shape.head(packet, range, ecn, &mut headers);
        let payload = &packet[shape.payload(range.0, range.1)];
        let length = head_bytes + payload.len();
        let Some(block) = self.blocks.room(RECORD_HEAD_BYTES + length) else {
            self.lost += 1;
            return;
        };
        let ns = at.as_nanos();
        let numbers = [
            (ns / 1_000_000_000) as u32,
            (ns % 1_000_000_000) as u32,
            length as u32,
            length as u32,
        ];
        for number in numbers {
            block.extend_from_slice(&number.to_le_bytes());
        }
        let start = block.len();
        block.extend_from_slice(&headers[..head_bytes]);
        block.extend_from_slice(payload);
        if let Some(checksum) = offload.checksum {
            complete_checksum(&mut block[start..], checksum);
        }
        self.packets += 1;
    }

    /// Writes the rest and waits for the disk.
    pub(crate) fn finish(self) -> CaptureEnd {
        CaptureEnd {
            packets: self.packets,
            lost: self.lost,
            failure: self.blocks.finish(&[]),
        }
    }
}

fn head() -> Vec<u8> {
    let mut head = MAGIC.to_le_bytes().to_vec();
    VERSION
        .iter()
        .for_each(|part| head.extend_from_slice(&part.to_le_bytes()));
    // Time zone and accuracy are zero in every file.
    head.extend_from_slice(&[0; 8]);
    head.extend_from_slice(&SNAP_BYTES.to_le_bytes());
    head.extend_from_slice(&LINK_TYPE.to_le_bytes());
    head
}
