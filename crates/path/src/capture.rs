//! Captures packets at the servers' end of the path, as a file for Wireshark and tcpdump: whole
//! packets of wire size, when the servers sent them and when the path delivered them.

use crate::blocks::Blocks;
use crate::wire::{HEADERS_MAX, Shape, complete_checksum};
use eyelevel_units::Instant;
use std::collections::VecDeque;
use std::fs::File;
use std::time::Duration;

/// The magic number of nanosecond timestamps (draft-ietf-opsawg-pcap, section 4).
const MAGIC: u32 = 0xa1b2_3c4d;
const VERSION: [u16; 2] = [2, 4];
/// The longest IP packet; all of it is kept, since TLS could not be decrypted otherwise.
const SNAP_BYTES: u32 = 65_535;
/// `LINKTYPE_RAW`: packets begin with IPv4's or IPv6's header.
const LINK_TYPE: u32 = 101;
const RECORD_HEAD_BYTES: usize = 16;
const BLOCK_BYTES: usize = 256 * 1024;
/// The most blocks that wait for the disk: 64 MiB, beyond which packets are missing.
const BLOCKS_MAX: usize = 256;
/// The longest wait of a record for an earlier one: a packet is recorded with its arrival at the
/// device, and until it is read one of the other direction may leave. A packet that is read later
/// than this starves its trial anyway.
const REORDER: Duration = Duration::from_millis(100);
/// The most records that wait: 6 MB of whole packets.
const REORDER_RECORDS_MAX: usize = 4096;

/// The result of a capture.
#[derive(Debug, Default)]
pub(crate) struct CaptureEnd {
    pub packets: u64,
    pub lost: u64,
    /// The disk's error, if there was one.
    pub failure: Option<String>,
}

/// The path's side of the capture, which never waits for the disk.
pub(crate) struct Capture {
    blocks: Blocks,
    /// Records in the order of their times.
    waiting: VecDeque<CaptureRecord>,
    spare: Vec<Vec<u8>>,
    packets: u64,
    lost: u64,
}

struct CaptureRecord {
    at: Instant,
    bytes: Vec<u8>,
}

impl Capture {
    /// Starts the writer.
    pub(crate) fn start(file: File) -> Self {
        Self {
            blocks: Blocks::start(file, head(), BLOCK_BYTES, BLOCKS_MAX),
            waiting: VecDeque::new(),
            spare: Vec::new(),
            packets: 0,
            lost: 0,
        }
    }

    /// Records one segment of a super-packet, as it is on the wire with these ECN bits.
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
        let mut record = self.spare.pop().unwrap_or_default();
        record.clear();
        let ns = at.as_nanos();
        let numbers = [
            (ns / 1_000_000_000) as u32,
            (ns % 1_000_000_000) as u32,
            length as u32,
            length as u32,
        ];
        for number in numbers {
            record.extend_from_slice(&number.to_le_bytes());
        }
        record.extend_from_slice(&headers[..head_bytes]);
        record.extend_from_slice(payload);
        if let Some(checksum) = offload.checksum {
            complete_checksum(&mut record[RECORD_HEAD_BYTES..], checksum);
        }
        self.put_in_order(at, record);
    }

    fn put_in_order(&mut self, at: Instant, bytes: Vec<u8>) {
        let later = self.waiting.iter().rev().take_while(|each| each.at > at);
        let place = self.waiting.len() - later.count();
        self.waiting.insert(place, CaptureRecord { at, bytes });
        while let (Some(first), Some(last)) = (self.waiting.front(), self.waiting.back()) {
            let full = self.waiting.len() > REORDER_RECORDS_MAX;
            if !full && last.at.since(first.at) < REORDER {
                break;
            }
            self.write_first();
        }
    }

    fn write_first(&mut self) {
        let Some(record) = self.waiting.pop_front() else {
            return;
        };
        match self.blocks.room(record.bytes.len()) {
            Some(block) => {
                block.extend_from_slice(&record.bytes);
                self.packets += 1;
            }
            None => self.lost += 1,
        }
        self.spare.push(record.bytes);
    }

    /// Writes the rest and waits for the disk.
    pub(crate) fn finish(mut self) -> CaptureEnd {
        while !self.waiting.is_empty() {
            self.write_first();
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use eyelevel_netns::OffloadHeader;

    /// Returns an empty UDP packet over IPv4; the number is in the source port.
    fn packet(number: u8) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0];
        packet.extend_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2, 0, number, 1, 187, 0, 8, 0, 0]);
        packet
    }

    fn times_and_numbers(pushes: &[(u64, u8)]) -> (CaptureEnd, Vec<(u64, u8)>) {
        let path = std::env::temp_dir().join(format!(
            "eyelevel-capture-{}-{}",
            std::process::id(),
            pushes.len()
        ));
        let mut capture = Capture::start(File::create(&path).unwrap());
        for &(us, number) in pushes {
            let bytes = packet(number);
            let shape = Shape::parse(&bytes, &OffloadHeader::default()).unwrap();
            capture.push(Instant::from_nanos(us * 1000), &shape, &bytes, 0, 0);
        }
        let end = capture.finish();
        let file = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let records = file[head().len()..].chunks(RECORD_HEAD_BYTES + 28);
        let number = |record: &[u8], at: usize| {
            u64::from(u32::from_le_bytes(record[at..at + 4].try_into().unwrap()))
        };
        let read = records.map(|record| {
            let ns = number(record, 0) * 1_000_000_000 + number(record, 4);
            (ns / 1000, record[RECORD_HEAD_BYTES + 21])
        });
        (end, read.collect())
    }

    #[test]
    fn a_packet_read_after_another_left_is_recorded_at_its_arrival() {
        let (end, read) = times_and_numbers(&[(100, 1), (300, 2), (299, 3), (300, 4), (50, 5)]);
        assert_eq!(read, [(50, 5), (100, 1), (299, 3), (300, 2), (300, 4)]);
        assert_eq!((end.packets, end.lost, end.failure), (5, 0, None));
    }

    #[test]
    fn records_wait_for_earlier_ones_only_so_long_and_so_many() {
        let far_apart = [(1, 1), (200_001, 2), (2, 3)];
        let (_, read) = times_and_numbers(&far_apart);
        assert_eq!(read, [(1, 1), (2, 3), (200_001, 2)]);
        let many: Vec<_> = (0..=REORDER_RECORDS_MAX as u64 + 1)
            .map(|us| (us + 10, 1))
            .chain([(1, 2)])
            .collect();
        let (end, read) = times_and_numbers(&many);
        assert_eq!(end.packets as usize, many.len());
        let place = read.iter().position(|&(_, number)| number == 2).unwrap();
        assert_eq!(
            place, 2,
            "the two that were over the bound had been written"
        );
    }
}
