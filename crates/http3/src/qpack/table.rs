use super::Field;
use std::collections::VecDeque;

/// The dynamic table (RFC 9204, section 3.2). Entries are identified by their absolute index: the
/// number of earlier inserts.
#[derive(Debug, Default)]
pub(super) struct Table {
    entries: VecDeque<Field>,
    evicted: u64,
    bytes: u64,
    capacity: u64,
}

impl Table {
    /// Returns how many entries were ever inserted.
    pub fn inserted(&self) -> u64 {
        self.evicted + self.entries.len() as u64
    }

    /// Returns the absolute index of the oldest entry.
    pub fn oldest(&self) -> u64 {
        self.evicted
    }

    /// Returns its capacity in bytes.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns the free bytes.
    pub fn free(&self) -> u64 {
        self.capacity - self.bytes
    }

    /// Changes the capacity, and evicts entries that no longer fit.
    pub fn set_capacity(&mut self, capacity: u64) {
        self.capacity = capacity;
        while self.bytes > self.capacity {
            self.evict();
        }
    }

    /// Returns the entry with that absolute index; `None` if it is not there, or no longer.
    pub fn get(&self, absolute: u64) -> Option<&Field> {
        let at = absolute.checked_sub(self.evicted)?;
        self.entries.get(usize::try_from(at).ok()?)
    }

    /// Adds an entry and evicts the oldest as needed; returns false if it is larger than the whole
    /// table.
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

    /// Evicts the oldest entry.
    pub fn evict(&mut self) -> Option<Field> {
        let gone = self.entries.pop_front()?;
        self.bytes -= gone.size();
        self.evicted += 1;
        Some(gone)
    }

    /// Returns entries from the oldest on, with their absolute indices.
    pub fn oldest_first(&self) -> impl Iterator<Item = (u64, &Field)> {
        (self.evicted..).zip(&self.entries)
    }
}
