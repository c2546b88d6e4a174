//! Writes a file in blocks: the path fills them and never waits, a thread writes them to the disk.

use std::fs::File;
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// The path's side of a file.
pub(crate) struct Blocks {
    filling: Vec<u8>,
    block_bytes: usize,
    blocks: usize,
    blocks_max: usize,
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    writer: JoinHandle<Option<String>>,
}

impl Blocks {
    /// Starts the writer with the file's `head`. Blocks of `block_bytes` are allocated when they
    /// are first needed, at most `blocks_max`; passing one on costs the path at most a wake-up of
    /// the writer.
    pub(crate) fn start(file: File, head: Vec<u8>, block_bytes: usize, blocks_max: usize) -> Self {
        let (full, to_write) = sync_channel(blocks_max);
        let (give_back, empty) = channel();
        let writer = thread::spawn(move || write(file, &head, &to_write, &give_back));
        Self {
            filling: Vec::new(),
            block_bytes,
            blocks: 0,
            blocks_max,
            full,
            empty,
            writer,
        }
    }

    /// Returns the block to append `bytes` to, which fit; `None` if every block waits for the disk.
    #[inline]
    pub(crate) fn room(&mut self, bytes: usize) -> Option<&mut Vec<u8>> {
        if self.filling.len() + bytes > self.filling.capacity() && !self.next() {
            return None;
        }
        Some(&mut self.filling)
    }

    /// Passes the current block to the writer.
    pub(crate) fn submit(&mut self) {
        if !self.filling.is_empty() {
            // There is room for every block, so this only fails once the writer is gone.
            let _ = self.full.try_send(std::mem::take(&mut self.filling));
        }
    }

    /// Writes the rest followed by `tail` and waits for the disk; returns its error, if there was
    /// one.
    pub(crate) fn finish(mut self, tail: &[u8]) -> Option<String> {
        // The path has ended: allocating and waiting are allowed here.
        self.filling.extend_from_slice(tail);
        let _ = self.full.send(self.filling);
        drop(self.full);
        self.writer
            .join()
            .unwrap_or_else(|_| Some("its thread panicked".into()))
    }

    fn next(&mut self) -> bool {
        self.submit();
        if self.filling.capacity() > 0 {
            return true;
        }
        match self.empty.try_recv() {
            Ok(block) => self.filling = block,
            Err(TryRecvError::Empty) if self.blocks < self.blocks_max => {
                self.blocks += 1;
                self.filling = Vec::with_capacity(self.block_bytes);
            }
            Err(_) => return false,
        }
        true
    }
}

/// Writes blocks until the path's side is dropped. After an error it discards them.
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
