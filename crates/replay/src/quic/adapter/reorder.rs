//! A stream that is reassembled here.
//!
//! noq keeps at most 1024 chunks of a stream that wait for missing data before them, and closes the
//! connection beyond that (`MAX_CHUNKS` in its `assembler.rs`). A browser or a kernel does not: a
//! BBR window over 760 ms has thousands of packets, of which a slow start that overshoots loses
//! many. Chunks that are read as they arrive do not count.

use bytes::{Buf, Bytes};
use noq::{ReadError, UnorderedRecvStream};
use std::collections::BTreeMap;
use std::pin::pin;
use std::task::{Context, Poll, ready};

/// The most buffered data, ten windows of a stream: it can exceed one window, since data that is
/// read is credited.
const WAITING_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The receiving side of a stream, read as it arrives and returned in order.
pub(super) struct Reordered {
    pub stream: UnorderedRecvStream,
    pieces: Pieces,
}

/// The reason why reading stopped.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReorderError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("more than {WAITING_BYTES_MAX} bytes wait for one that is missing before them")]
    TooMuchWaits,
}

impl Reordered {
    pub fn new(stream: UnorderedRecvStream) -> Self {
        Self {
            stream,
            pieces: Pieces::default(),
        }
    }

    /// Returns the next bytes in order; `None` at the end.
    pub fn poll_chunk(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, ReorderError>> {
        loop {
            if let Some(bytes) = self.pieces.pop() {
                return Poll::Ready(Ok(Some(bytes)));
            }
            // Safe to drop when pending: noq keeps the waker with the connection.
            let read = pin!(self.stream.read_chunk(usize::MAX)).poll(context);
            // noq reports the end only after every byte.
            let Some(chunk) = ready!(read)? else {
                return Poll::Ready(Ok(None));
            };
            self.pieces.push(chunk.offset, chunk.bytes);
            if self.pieces.waiting_bytes > WAITING_BYTES_MAX {
                return Poll::Ready(Err(ReorderError::TooMuchWaits));
            }
        }
    }
}

/// The received chunks by offset; every byte is returned once.
#[derive(Debug, Default)]
struct Pieces {
    /// The offset of the next byte in order.
    next: u64,
    waiting: BTreeMap<u64, Bytes>,
    waiting_bytes: usize,
}

impl Pieces {
    fn push(&mut self, offset: u64, bytes: Bytes) {
        let known = self.waiting.get(&offset).map_or(0, Bytes::len);
        if bytes.len() > known {
            self.waiting_bytes += bytes.len() - known;
            self.waiting.insert(offset, bytes);
        }
    }

    fn pop(&mut self) -> Option<Bytes> {
        while let Some(first) = self.waiting.first_entry()
            && *first.key() <= self.next
        {
            let (offset, mut bytes) = first.remove_entry();
            self.waiting_bytes -= bytes.len();
            let repeated = self.next - offset;
            if repeated < bytes.len() as u64 {
                bytes.advance(repeated as usize);
                self.next += bytes.len() as u64;
                return Some(bytes);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_out_every_byte_once_and_in_order() {
        let body: Vec<u8> = (0..=255).collect();
        let mut pieces = Pieces::default();
        let mut given = Vec::new();
        // Gaps, a repetition, chunks that overlap on either side, one within another.
        for (offset, end) in [
            (10, 20),
            (40, 60),
            (10, 20),
            (15, 45),
            (41, 50),
            (0, 10),
            (5, 62),
            (100, 256),
            (62, 100),
            (0, 256),
        ] {
            pieces.push(offset as u64, Bytes::copy_from_slice(&body[offset..end]));
            while let Some(bytes) = pieces.pop() {
                given.extend_from_slice(&bytes);
            }
            assert_eq!(given, body[..given.len()], "after {offset} to {end}");
        }
        assert_eq!(given, body);
        assert_eq!((pieces.waiting.len(), pieces.waiting_bytes), (0, 0));
    }
}
