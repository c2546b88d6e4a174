use super::index::Key;

/// The number of literal fields remembered; one is inserted when it repeats, if a section may not
/// refer to entries that the peer may not have.
const SEEN_MAX: usize = 128;

/// The last fields that were written as literals, by their hashes.
#[derive(Debug, Default)]
pub(super) struct RecentFields {
    hashes: Vec<u64>,
    /// The index of the oldest, once all are used.
    next: usize,
}

impl RecentFields {
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
