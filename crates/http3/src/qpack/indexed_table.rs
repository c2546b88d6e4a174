use super::Field;
use super::index::{Index, Key};
use super::table::Table;

/// Entries in the oldest part of a full table are not referred to any more but copied, or they could
/// never go (RFC 9204, section 2.1.1.1): the part that holds one over so much of the table.
const DRAINING_SHARE: u64 = 4;

/// The encoder's dynamic table, in which fields are found and room is made.
#[derive(Debug, Default)]
pub(super) struct IndexedTable {
    table: Table,
    index: Index,
}

impl IndexedTable {
    /// How many entries were ever inserted.
    pub fn inserted(&self) -> u64 {
        self.table.inserted()
    }

    /// Bytes that may be in it.
    pub fn capacity(&self) -> u64 {
        self.table.capacity()
    }

    /// Sets the capacity of the table, which is empty.
    pub fn set_capacity(&mut self, capacity: u64) {
        self.table.set_capacity(capacity);
    }

    /// The entry with that absolute index; none where it is not there, or not any more.
    pub fn get(&self, absolute: u64) -> Option<&Field> {
        self.table.get(absolute)
    }

    /// The newest entry that is this field.
    pub fn field(&self, key: Key, name: &[u8], value: &[u8]) -> Option<u64> {
        self.index.field(&self.table, key, name, value)
    }

    /// The newest entry of this name.
    pub fn name(&self, key: Key, name: &[u8]) -> Option<u64> {
        self.index.name(&self.table, key, name)
    }

    /// The newest entry below `below` that is the same as this one.
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

    /// Makes room for so many bytes with entries below `below`; nothing goes where that is not
    /// enough.
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
                let key = Key::of(&entry.name, &entry.value);
                self.index.remove(key, absolute);
            }
        }
        true
    }

    /// The first entry that is not among those that are to go soon, of which none is at or above
    /// `below`.
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
