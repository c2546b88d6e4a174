//! The path log's way to the disk: the path fills blocks, a thread of its own writes them.

use crate::record::{RECORD_BYTES, Record};
use eyelevel_units::Instant;
use std::fs::File;
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// 2048 records: one hand-over costs the path a wake-up of the writer at most.
const BLOCK_BYTES: usize = 2048 * RECORD_BYTES;
/// Blocks of one direction, made when they are first needed: 64 MiB.
const BLOCKS_MAX: usize = 1024;
/// A block that is not full is handed over after this time, when a packet comes or goes.
const HAND_OVER: Duration = Duration::from_millis(100);

/// What became of a log.
#[derive(Debug, Default)]
pub(crate) struct LogEnd {
    pub records: u64,
    pub lost: u64,
    /// What the disk said, where it refused.
    pub failure: Option<String>,
}

/// The path's end: never waits, never allocates beyond [`BLOCKS_MAX`] blocks.
pub(crate) struct Log {
    block: Vec<u8>,
    blocks: usize,
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    handed_over: Instant,
    records: u64,
    /// Records that had no room, and those of them that the log does not tell of yet.
    lost: u64,
    untold: u64,
    writer: JoinHandle<Option<String>>,
}

impl Log {
    /// Starts the writer; `head` is the file's first line, without its end.
    pub(crate) fn start(file: File, head: &str) -> Self {
        let (full, to_write) = sync_channel(BLOCKS_MAX);
        let (give_back, empty) = channel();
        let head = format!("{head}\n").into_bytes();
        let writer = thread::spawn(move || write(file, &head, &to_write, &give_back));
        Self {
            block: Vec::new(),
            blocks: 0,
            full,
            empty,
            handed_over: Instant::ZERO,
            records: 0,
            lost: 0,
            untold: 0,
            writer,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, record: &Record) {
        if self.block.len() + 2 * RECORD_BYTES > self.block.capacity() && !self.next_block() {
            self.lost += 1;
            self.untold += 1;
            return;
        }
        if self.untold > 0 {
            let lost = Record::lost(record.at_ns, std::mem::take(&mut self.untold));
            self.block.extend_from_slice(&lost.to_bytes());
            self.records += 1;
        }
        self.block.extend_from_slice(&record.to_bytes());
        self.records += 1;
    }

    /// Hands over what has been waiting for a while.
    #[inline]
    pub(crate) fn hand_over_late(&mut self, now: Instant) {
        if now.since(self.handed_over) >= HAND_OVER {
            self.handed_over = now;
            if !self.block.is_empty() {
                self.hand_over();
            }
        }
    }

    /// Writes the rest and waits for the disk.
    pub(crate) fn finish(mut self) -> LogEnd {
        if self.untold > 0 {
            if !self.next_block() {
                self.block = Vec::with_capacity(RECORD_BYTES);
            }
            let lost = Record::lost(0, self.untold);
            self.block.extend_from_slice(&lost.to_bytes());
            self.records += 1;
        }
        // The path has ended: waiting is allowed here.
        let _ = self.full.send(std::mem::take(&mut self.block));
        drop(self.full);
        let failure = self
            .writer
            .join()
            .unwrap_or_else(|_| Some("its thread panicked".into()));
        LogEnd {
            records: self.records,
            lost: self.lost,
            failure,
        }
    }

    fn next_block(&mut self) -> bool {
        if !self.block.is_empty() {
            self.hand_over();
        }
        if self.block.capacity() > 0 {
            return true;
        }
        match self.empty.try_recv() {
            Ok(block) => self.block = block,
            Err(TryRecvError::Empty) if self.blocks < BLOCKS_MAX => {
                self.blocks += 1;
                self.block = Vec::with_capacity(BLOCK_BYTES);
            }
            Err(_) => return false,
        }
        true
    }

    fn hand_over(&mut self) {
        // There is room for every block, so this only fails once the writer is gone.
        let _ = self.full.try_send(std::mem::take(&mut self.block));
    }
}

/// Writes blocks until the path's end is dropped. After a refusal it only takes them.
fn write(
    mut file: File,
    head: &[u8],
    to_write: &Receiver<Vec<u8>>,
    give_back: &Sender<Vec<u8>>,
) -> Option<String> {
    let mut failure = file.write_all(head).err();
    while let Ok(mut block) = to_write.recv() {
        if failure.is_none() {
            failure = file.write_all(&block).err();
        }
        block.clear();
        let _ = give_back.send(block);
    }
    failure.map(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RecordKind;
    use std::io::Read;
    use std::os::fd::OwnedFd;

    fn record(packet: u64) -> Record {
        Record {
            packet,
            ..Record::lost(0, 0)
        }
    }

    /// A pipe stands in for a disk that does not keep up: nothing is read until it is full.
    #[test]
    fn what_does_not_fit_is_counted_where_it_is_missing() {
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
