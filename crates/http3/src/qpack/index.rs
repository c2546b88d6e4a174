use super::table::Table;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The indices of fields in a dynamic table.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The newest entry, by name and value.
    fields: HashMap<u64, u64, BuildHasherDefault<IdentityHasher>>,
    /// The newest entry, by name.
    names: HashMap<u64, u64, BuildHasherDefault<IdentityHasher>>,
}

/// The hashes of a name and of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub name: u64,
    pub field: u64,
}

impl Key {
    pub fn new(name: &[u8], value: &[u8]) -> Self {
        let name = fnv(FNV_OFFSET, name);
        Self {
            name,
            // A byte that no name contains separates the two.
            field: fnv(fnv(name, b"\n"), value),
        }
    }
}

impl Index {
    pub fn insert(&mut self, key: Key, absolute: u64) {
        self.fields.insert(key.field, absolute);
        self.names.insert(key.name, absolute);
    }

    /// Removes an entry.
    pub fn remove(&mut self, key: Key, absolute: u64) {
        for (map, hash) in [(&mut self.fields, key.field), (&mut self.names, key.name)] {
            if map.get(&hash) == Some(&absolute) {
                map.remove(&hash);
            }
        }
    }

    /// Returns the newest entry that equals the field.
    pub fn field(&self, table: &Table, key: Key, name: &[u8], value: &[u8]) -> Option<u64> {
        let absolute = *self.fields.get(&key.field)?;
        let entry = table.get(absolute)?;
        (entry.name == name && entry.value == value).then_some(absolute)
    }

    /// Returns the newest entry of this name.
    pub fn name(&self, table: &Table, key: Key, name: &[u8]) -> Option<u64> {
        let absolute = *self.names.get(&key.name)?;
        (table.get(absolute)?.name == name).then_some(absolute)
    }
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// Hashes with FNV-1a. A client that constructs collisions only spoils its own connection's
/// compression, since results are compared.
fn fnv(start: u64, bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME);
    bytes.iter().fold(start, step)
}

/// A hasher for keys that are hashes already.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = fnv(self.0, bytes);
    }

    fn write_u64(&mut self, value: u64) {
        // The map uses the low bits for the bucket and the high ones for its tags.
        self.0 = value ^ value >> 32;
    }
}
