use super::Field;
use super::index::{Index, Key};
use super::table::Table;

/// The divisor of the table's oldest part, one over this of its bytes. Entries in that part of a
/// full table are copied instead of referred to, or they could never be evicted (RFC 9204, section
/// 2.1.1.1).
const DRAINING_SHARE: u64 = 4;

/// The encoder's dynamic table, with lookup and eviction.
#[derive(Debug, Default)]
pub(super) struct IndexedTable {
    table: Table,
    index: Index,
}

impl IndexedTable {
    /// Returns how many entries were ever inserted.
    pub fn inserted(&self) -> u64 {
        self.table.inserted()
    }

    /// Returns its capacity in bytes.
    pub fn capacity(&self) -> u64 {
        self.table.capacity()
    }

    /// Sets the capacity of the table, which is empty.
    pub fn set_capacity(&mut self, capacity: u64) {
        self.table.set_capacity(capacity);
    }

    /// Returns the entry with that absolute index; `None` if it is not there, or no longer.
    pub fn get(&self, absolute: u64) -> Option<&Field> {
        self.table.get(absolute)
    }

    /// Returns the newest entry that equals the field.
    pub fn field(&self, key: Key, name: &[u8], value: &[u8]) -> Option<u64> {
        self.index.field(&self.table, key, name, value)
    }

    /// Returns the newest entry of this name.
    pub fn name(&self, key: Key, name: &[u8]) -> Option<u64> {
        self.index.name(&self.table, key, name)
    }

    /// Returns the newest entry below `below` that equals this one.
    pub fn copy_below(&self, entry: &Field, below: u64) -> Option<u64> {
        let known = self.table.oldest_first().take_while(|(at, _)| *at < below);
        known
            .filter(|(_, each)| *each == entry)
            .last()
            .map(|(absolute, _)| absolute)
    }

    /// Adds an entry, for which there is room.
    pub fn add(&mut self, field: Field, key: Key) -> u64 {
        let absolute = self.table.inserted();
        self.table.insert(field);
        self.index.insert(key, absolute);
        absolute
    }

    /// Evicts entries below `below` to make room for `bytes`; none if that would not suffice.
    pub fn make_room(&mut self, bytes: u64, below: u64) -> bool {
        let (mut free, mut gone) = (self.table.free(), 0);
        for (absolute, entry) in self.table.oldest_first() {
            if free >= bytes || absolute >= below {
                break;
            }
            free += entry.size();
            gone += 1;
        }
        if free < bytes {
            return false;
        }
        for _ in 0..gone {
            let absolute = self.table.oldest();
            if let Some(entry) = self.table.evict() {
                let key = Key::new(&entry.name, &entry.value);
                self.index.remove(key, absolute);
            }
        }
        true
    }

    /// Returns the first entry that is not about to be evicted; none at or above `below` is.
    pub fn draining(&self, below: u64) -> u64 {
        let wanted = self.table.capacity() / DRAINING_SHARE;
        let mut free = self.table.free();
        for (absolute, entry) in self.table.oldest_first() {
            if free >= wanted || absolute >= below {
                return absolute;
            }
            free += entry.size();
        }
        self.table.inserted()
    }
}
