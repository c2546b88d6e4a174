use super::Field;
use std::collections::VecDeque;

/// The dynamic table (RFC 9204, section 3.2). Entries are named by their absolute index: how many
/// were inserted before.
#[derive(Debug, Default)]
pub(super) struct Table {
    entries: VecDeque<Field>,
    evicted: u64,
    bytes: u64,
    capacity: u64,
}

impl Table {
    /// How many entries were ever inserted.
    pub fn inserted(&self) -> u64 {
        self.evicted + self.entries.len() as u64
    }

    /// The absolute index of the oldest entry that is there.
    pub fn oldest(&self) -> u64 {
        self.evicted
    }

    /// Bytes that may be in it.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes that are free.
    pub fn free(&self) -> u64 {
        self.capacity - self.bytes
    }

    /// Changes the capacity, with which entries go that do not fit any more.
    pub fn set_capacity(&mut self, capacity: u64) {
        self.capacity = capacity;
        while self.bytes > self.capacity {
            self.evict();
        }
    }

    /// The entry with that absolute index; none where it is not there, or not any more.
    pub fn get(&self, absolute: u64) -> Option<&Field> {
        let at = absolute.checked_sub(self.evicted)?;
        self.entries.get(usize::try_from(at).ok()?)
    }

    /// Adds an entry, with which the oldest go; false where it is larger than the whole table.
    pub fn insert(&mut self, field: Field) -> bool {
        let size = field.size();
        if size > self.capacity {
            return false;
        }
        while self.free() < size {
            self.evict();
        }
        self.bytes += size;
        self.entries.push_back(field);
        true
    }

    /// The oldest entry goes.
    pub fn evict(&mut self) -> Option<Field> {
        let gone = self.entries.pop_front()?;
        self.bytes -= gone.size();
        self.evicted += 1;
        Some(gone)
    }

    /// Entries from the oldest on, with their absolute indices.
    pub fn oldest_first(&self) -> impl Iterator<Item = (u64, &Field)> {
        (self.evicted..).zip(&self.entries)
    }
}
