use super::{CHUNK_BYTES, H2_FRAME_HEADER_BYTES};
use crate::StackConfig;

/// The number of chunks that fill the bound of unsent bytes: a late response then finds between
/// three quarters and all of it ahead, whatever the transport is.
const PARTS: usize = 4;
/// The bytes that TLS adds to a record: 29 with AES-GCM in version 1.2 (RFC 5288, section 3), 22 in
/// 1.3.
const RECORD_OVERHEAD_BYTES: usize = 29;

/// The limits of how far a protocol and its transport may run ahead of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Body bytes that a response passes on at once.
    pub chunk_bytes: usize,
    /// The chunk's size in the transport, with a frame's head and TLS overhead.
    pub chunk_wire_bytes: usize,
    /// Bytes that may be granted and not yet accepted by the transport.
    pub pending_bytes_max: usize,
    /// Bytes that may be granted and not yet sent, in whichever layer; `None`: what the transport
    /// holds does not count.
    pub unsent_bytes_max: Option<usize>,
}

impl Room {
    /// Returns a stack's limits; `pending_bytes_max` computes the bytes that its protocol may be
    /// given ahead, from the chunk size.
    pub fn for_stack(stack: &StackConfig, pending_bytes_max: fn(usize) -> usize) -> Self {
        let unsent_bytes_max = stack.unsent_bytes_max.map(|bytes| bytes as usize);
        let records = |bytes: usize| bytes.div_ceil(stack.tls_record_bytes) * RECORD_OVERHEAD_BYTES;
        let whole = CHUNK_BYTES + H2_FRAME_HEADER_BYTES;
        let most = whole + records(whole);
        let chunk_wire_bytes = unsent_bytes_max.map_or(most, |bytes| (bytes / PARTS).min(most));
        let chunk_bytes = chunk_wire_bytes - H2_FRAME_HEADER_BYTES - records(chunk_wire_bytes);
        let chunk_bytes = match unsent_bytes_max {
            Some(_) => chunk_bytes.min(CHUNK_BYTES),
            None => CHUNK_BYTES,
        };
        Self {
            chunk_bytes,
            chunk_wire_bytes,
            pending_bytes_max: pending_bytes_max(chunk_bytes),
            unsent_bytes_max,
        }
    }

    /// Returns the unsent bytes up to which another chunk is granted.
    pub fn threshold_bytes(&self) -> Option<usize> {
        Some(self.unsent_bytes_max? - self.chunk_wire_bytes)
    }

    /// Returns whether another chunk may be granted.
    pub fn has_room(&self, pending: usize, unsent: usize) -> bool {
        let waiting = || pending.div_ceil(self.chunk_bytes) * self.chunk_wire_bytes + unsent;
        let fits = self.threshold_bytes().is_none_or(|most| waiting() <= most);
        pending < self.pending_bytes_max && fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HttpVersion;

    fn room(unsent_bytes_max: Option<u32>, tls_record_bytes: usize) -> Room {
        let stack = StackConfig {
            unsent_bytes_max,
            tls_record_bytes,
            ..StackConfig::tuned("t", HttpVersion::H2)
        };
        Room::for_stack(&stack, |_| usize::MAX)
    }

    #[test]
    fn whole_chunks_with_their_overhead_fill_the_bound() {
        for (unsent, record) in [(16_384, 4096), (16_384, 512), (4096, 64), (65_536, 4096)] {
            let room = room(Some(unsent), record);
            let framed = room.chunk_bytes + H2_FRAME_HEADER_BYTES;
            let wire = framed + framed.div_ceil(record) * RECORD_OVERHEAD_BYTES;
            assert!(wire <= room.chunk_wire_bytes, "{room:?}");
            assert!(room.chunk_wire_bytes * PARTS <= unsent as usize);
            let mut pending = 0;
            while room.has_room(pending, 0) {
                pending += room.chunk_bytes;
            }
            assert!(pending > 0 && pending <= unsent as usize, "{room:?}");
        }
    }

    #[test]
    fn without_a_bound_a_chunk_fills_two_records_and_unsent_bytes_do_not_count() {
        let room = room(None, 4096);
        assert_eq!(room.chunk_bytes, CHUNK_BYTES);
        assert!(room.has_room(0, usize::MAX / 2));
    }
}
