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

/// What an entry counts for beside its name and value (RFC 9204, section 3.2.1).
const ENTRY_OVERHEAD_BYTES: u64 = 32;

/// A field: a name and a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Lower case.
    pub name: Bytes,
    /// As it is.
    pub value: Bytes,
}

impl Field {
    /// What it counts for, in a table and in a section.
    pub fn size(&self) -> u64 {
        size(&self.name, &self.value)
    }
}

/// A field to be coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldLine<'a> {
    /// Lower case.
    pub name: &'a [u8],
    /// As it is.
    pub value: &'a [u8],
    /// Whether it goes into the dynamic table.
    pub indexing: Indexing,
}

/// Whether a field goes into the dynamic table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexing {
    /// Where there is room.
    Allowed,
    /// It is not worth the room: the value does not come again.
    Skipped,
    /// Nobody on the way may put it into a table (RFC 9204, section 7.1.3).
    Never,
}

fn size(name: &[u8], value: &[u8]) -> u64 {
    (name.len() + value.len()) as u64 + ENTRY_OVERHEAD_BYTES
}
