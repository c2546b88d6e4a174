//! The memory of packets inside the path: large chunks that are filled from the front and reused
//! once the last packet in them is gone. No packet is copied, none has an allocation of its own.

use eyelevel_netns::READ_BYTES_MAX;

/// The size of a chunk: room for 16 super-packets or 700 packets of wire size.
const CHUNK_BYTES: usize = 1 << 20;
/// The most free chunks kept; a queue that was once long frees the others.
const FREE_CHUNKS_MAX: usize = 64;

/// The chunks of one direction.
#[derive(Default)]
pub(crate) struct Arena {
    chunks: Vec<Chunk>,
    /// Free chunks; those with memory are at the end and are used first.
    free: Vec<u32>,
    free_with_memory: usize,
    current: Option<u32>,
    /// Filled bytes of the current chunk.
    filled: usize,
}

#[derive(Default)]
struct Chunk {
    bytes: Box<[u8]>,
    /// The number of packets in the chunk.
    held: u32,
}

impl Arena {
    /// Returns room for one read of any size.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        let current = match self.current {
            Some(current) if self.chunks[current as usize].held == 0 => {
                self.filled = 0;
                current
            }
            Some(current) if self.filled + READ_BYTES_MAX <= CHUNK_BYTES => current,
            _ => {
                self.filled = 0;
                self.take_chunk()
            }
        };
        self.current = Some(current);
        &mut self.chunks[current as usize].bytes[self.filled..]
    }

    /// Keeps the first `length` bytes of the room for `packets` packets. Returns the chunk and the
    /// position in it.
    pub(crate) fn keep(&mut self, length: usize, packets: u16) -> (u32, u32) {
        let current = self.current.expect("room was asked for before");
        self.chunks[current as usize].held += u32::from(packets);
        let at = self.filled as u32;
        self.filled += length.next_multiple_of(64);
        (current, at)
    }

    pub(crate) fn bytes(&self, chunk: u32, at: u32, length: u32) -> &[u8] {
        &self.chunks[chunk as usize].bytes[at as usize..(at + length) as usize]
    }

    /// Counts one more packet in the chunk.
    pub(crate) fn hold(&mut self, chunk: u32) {
        self.chunks[chunk as usize].held += 1;
    }

    /// Releases a packet of the chunk.
    pub(crate) fn release(&mut self, chunk: u32) {
        let entry = &mut self.chunks[chunk as usize];
        entry.held -= 1;
        if entry.held > 0 || self.current == Some(chunk) {
            return;
        }
        if self.free_with_memory < FREE_CHUNKS_MAX {
            self.free_with_memory += 1;
            self.free.push(chunk);
        } else {
            entry.bytes = Box::default();
            self.free.insert(0, chunk);
        }
    }

    fn take_chunk(&mut self) -> u32 {
        // The previous chunk is freed by the last packet in it.
        let index = self.free.pop().unwrap_or_else(|| {
            self.chunks.push(Chunk::default());
            self.chunks.len() as u32 - 1
        });
        let chunk = &mut self.chunks[index as usize];
        if chunk.bytes.is_empty() {
            chunk.bytes = vec![0; CHUNK_BYTES].into_boxed_slice();
        } else {
            self.free_with_memory -= 1;
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_reused_when_its_packets_are_gone() {
        let mut arena = Arena::default();
        let mut places = Vec::new();
        for value in 0..100u8 {
            arena.room()[..1500].fill(value);
            places.push(arena.keep(1500, 1));
        }
        for (value, (chunk, at)) in places.iter().enumerate() {
            assert!(
                arena
                    .bytes(*chunk, *at, 1500)
                    .iter()
                    .all(|b| *b == value as u8)
            );
        }
        while arena.chunks.len() < 3 {
            arena.room();
            places.push(arena.keep(60_000, 1));
        }
        places.drain(..).for_each(|(chunk, _)| arena.release(chunk));
        for _ in 0..1000 {
            arena.room();
            let (chunk, _) = arena.keep(60_000, 2);
            arena.hold(chunk);
            (0..3).for_each(|_| arena.release(chunk));
        }
        assert_eq!(arena.chunks.len(), 3);
    }

    #[test]
    fn there_is_always_room_for_the_longest_read() {
        let mut arena = Arena::default();
        for _ in 0..40 {
            assert!(arena.room().len() >= READ_BYTES_MAX);
            arena.keep(READ_BYTES_MAX, 1);
        }
    }

    #[test]
    fn a_long_queue_gives_memory_back() {
        let mut arena = Arena::default();
        let mut places = Vec::new();
        for _ in 0..200 * 15 {
            arena.room();
            places.push(arena.keep(65_000, 1));
        }
        let with_memory =
            |arena: &Arena| arena.chunks.iter().filter(|c| !c.bytes.is_empty()).count();
        assert!(with_memory(&arena) >= 180);
        places.drain(..).for_each(|(chunk, _)| arena.release(chunk));
        assert!(with_memory(&arena) <= FREE_CHUNKS_MAX + 1);
        for _ in 0..200 * 15 {
            arena.room();
            places.push(arena.keep(65_000, 1));
        }
        assert!(arena.chunks.len() <= 202);
    }
}
