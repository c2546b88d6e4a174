//! The path's log: records of each packet's events, in their order.

pub(crate) mod check;
pub(crate) mod comparison;
pub(crate) mod head;
pub(crate) mod record;

use crate::blocks::Blocks;
use crate::log::record::{RECORD_BYTES, Record};
use eyelevel_units::Instant;
use std::fs::File;
use std::time::Duration;

/// The size of a block: 2048 records.
const BLOCK_BYTES: usize = 2048 * RECORD_BYTES;
/// The most blocks of one direction: 64 MiB.
const BLOCKS_MAX: usize = 1024;
/// The time after which a block that is not full is passed on, when a packet arrives or leaves.
const HAND_OVER: Duration = Duration::from_millis(100);

/// The result of a log.
#[derive(Debug, Default)]
pub(crate) struct LogEnd {
    pub records: u64,
    pub lost: u64,
    /// The disk's error, if there was one.
    pub failure: Option<String>,
}

/// The path's side of the log: never waits, never allocates beyond [`BLOCKS_MAX`] blocks.
pub(crate) struct Log {
    blocks: Blocks,
    handed_over: Instant,
    records: u64,
    /// Records that had no room, and those of them that the log does not mention yet.
    lost: u64,
    unreported: u64,
}

impl Log {
    /// Starts the writer; `head` is the file's first line, without its line end.
    pub(crate) fn start(file: File, head: &str) -> Self {
        let head = format!("{head}\n").into_bytes();
        Self {
            blocks: Blocks::start(file, head, BLOCK_BYTES, BLOCKS_MAX),
            handed_over: Instant::ZERO,
            records: 0,
            lost: 0,
            unreported: 0,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, record: &Record) {
        let Some(block) = self.blocks.room(2 * RECORD_BYTES) else {
            self.lost += 1;
            self.unreported += 1;
            return;
        };
        if self.unreported > 0 {
            let lost = Record::lost(record.at_ns, std::mem::take(&mut self.unreported));
            block.extend_from_slice(&lost.to_bytes());
            self.records += 1;
        }
        block.extend_from_slice(&record.to_bytes());
        self.records += 1;
    }

    /// Passes on records that have waited for a while.
    #[inline]
    pub(crate) fn submit_late(&mut self, now: Instant) {
        if now.since(self.handed_over) >= HAND_OVER {
            self.handed_over = now;
            self.blocks.submit();
        }
    }

    /// Writes the rest and waits for the disk.
    pub(crate) fn finish(mut self) -> LogEnd {
        let mut tail = Vec::new();
        if self.unreported > 0 {
            tail.extend_from_slice(&Record::lost(0, self.unreported).to_bytes());
            self.records += 1;
        }
        LogEnd {
            records: self.records,
            lost: self.lost,
            failure: self.blocks.finish(&tail),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::record::RecordKind;
    use std::io::Read;
    use std::os::fd::OwnedFd;
    use std::thread;

    fn record(packet: u64) -> Record {
        Record {
            packet,
            ..Record::lost(0, 0)
        }
    }

    /// A pipe stands in for a disk that is too slow: nothing is read until it is full.
    #[test]
    fn records_without_room_are_counted_where_they_are_missing() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut log = Log::start(File::from(OwnedFd::from(writer)), "{}");
        let total = (BLOCKS_MAX + 10) * BLOCK_BYTES / RECORD_BYTES;
        (0..total as u64).for_each(|packet| log.push(&record(packet)));
        let lost = log.lost;
        assert!(lost > 0);
        let reading = thread::spawn(move || {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).unwrap();
            bytes
        });
        let end = log.finish();
        assert_eq!((end.lost, end.failure), (lost, None));
        let bytes = reading.join().unwrap();
        let records: Vec<Record> = bytes[3..]
            .chunks_exact(RECORD_BYTES)
            .map(|chunk| Record::parse(chunk.try_into().unwrap()).unwrap())
            .collect();
        assert_eq!(records.len() as u64, end.records);
        let told: u64 = records
            .iter()
            .filter(|r| r.kind == RecordKind::Lost)
            .map(|r| r.value)
            .sum();
        assert_eq!(told, lost);
    }

    #[test]
    fn a_disk_that_refuses_is_reported() {
        let file = File::open("/dev/null").unwrap();
        let mut log = Log::start(file, "{}");
        log.push(&record(1));
        assert!(log.finish().failure.is_some());
    }
}
