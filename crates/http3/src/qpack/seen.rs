use super::index::Key;

/// Fields that were written as literals and are inserted when they come again, where a section may
/// not refer to what the peer may not have.
const SEEN_MAX: usize = 128;

/// The last fields that were written as literals, by their hashes.
#[derive(Debug, Default)]
pub(super) struct Seen {
    hashes: Vec<u64>,
    /// The place of the oldest, once all are taken.
    next: usize,
}

impl Seen {
    pub fn contains(&self, key: Key) -> bool {
        self.hashes.contains(&key.field)
    }

    pub fn add(&mut self, key: Key) {
        if self.hashes.len() < SEEN_MAX {
            self.hashes.push(key.field);
        } else {
            self.hashes[self.next] = key.field;
            self.next = (self.next + 1) % SEEN_MAX;
        }
    }
}
