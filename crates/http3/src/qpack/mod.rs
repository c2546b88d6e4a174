//! QPACK (RFC 9204): field sections that refer to a table which both ends build.

mod bits;
mod decoder;
mod encoder;
mod huffman;
mod index;
mod indexed_table;
mod instructions;
mod lines;
pub(crate) mod reader;
mod sections;
mod seen;
mod static_table;
mod table;

pub use decoder::{Decoded, Decoder};
pub use encoder::Encoder;

use bytes::Bytes;

/// The overhead of an entry in addition to its name and value (RFC 9204, section 3.2.1).
const ENTRY_OVERHEAD_BYTES: u64 = 32;

/// A field: a name and a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name, in lower case.
    pub name: Bytes,
    /// The value, unchanged.
    pub value: Bytes,
}

impl Field {
    /// Returns its size in a table and in a section.
    pub fn size(&self) -> u64 {
        size(&self.name, &self.value)
    }
}

/// A field to encode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldLine<'a> {
    /// The name, in lower case.
    pub name: &'a [u8],
    /// The value, unchanged.
    pub value: &'a [u8],
    /// Whether it goes into the dynamic table.
    pub indexing: Indexing,
}

/// Whether a field goes into the dynamic table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexing {
    /// Yes, if there is room.
    Allowed,
    /// No, because the value will not repeat.
    Skipped,
    /// No, and no intermediary may put it into a table either (RFC 9204, section 7.1.3).
    Never,
}

fn size(name: &[u8], value: &[u8]) -> u64 {
    (name.len() + value.len()) as u64 + ENTRY_OVERHEAD_BYTES
}
