//! Instructions on QPACK's two streams (RFC 9204, sections 4.3 and 4.4).

use super::bits::{write_number, write_string};
use super::reader::{ReadError, Reader};
use bytes::Bytes;

/// An instruction of an encoder to the other end's decoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FromEncoder {
    Capacity(u64),
    /// An insert with the name of an entry of the static table.
    InsertStatic(u64, Bytes),
    /// An insert with the name of an entry of the dynamic table, counted from the newest.
    InsertDynamic(u64, Bytes),
    Insert(Bytes, Bytes),
    /// The index of an entry to duplicate, counted from the newest.
    Duplicate(u64),
}

impl FromEncoder {
    /// Reads the next instruction; names and values may have `bytes_max` each.
    pub fn read(reader: &mut Reader<'_>, bytes_max: u64) -> Result<Self, ReadError> {
        let first = reader.peek().ok_or(ReadError::Short)?;
        Ok(if first & 0x80 != 0 {
            let index = reader.number(6)?;
            let value = reader.string(7, bytes_max)?;
            if first & 0x40 != 0 {
                Self::InsertStatic(index, value)
            } else {
                Self::InsertDynamic(index, value)
            }
        } else if first & 0x40 != 0 {
            let name = reader.string(5, bytes_max)?;
            Self::Insert(name, reader.string(7, bytes_max)?)
        } else if first & 0x20 != 0 {
            Self::Capacity(reader.number(5)?)
        } else {
            Self::Duplicate(reader.number(5)?)
        })
    }
}

pub(super) fn write_capacity(to: &mut Vec<u8>, capacity: u64) {
    write_number(to, 0x20, 5, capacity);
}

pub(super) fn write_insert_static(to: &mut Vec<u8>, index: u64, value: &[u8]) {
    write_number(to, 0xc0, 6, index);
    write_string(to, 0, 7, value);
}

pub(super) fn write_insert_dynamic(to: &mut Vec<u8>, from_newest: u64, value: &[u8]) {
    write_number(to, 0x80, 6, from_newest);
    write_string(to, 0, 7, value);
}

pub(super) fn write_insert(to: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    write_string(to, 0x40, 5, name);
    write_string(to, 0, 7, value);
}

pub(super) fn write_duplicate(to: &mut Vec<u8>, from_newest: u64) {
    write_number(to, 0, 5, from_newest);
}

/// An instruction of a decoder to the other end's encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FromDecoder {
    /// The oldest unacknowledged section of a stream was decoded.
    Acknowledged(u64),
    /// A stream's sections will not be read.
    Cancelled(u64),
    /// The number of further inserts received.
    Received(u64),
}

impl FromDecoder {
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        let first = reader.peek().ok_or(ReadError::Short)?;
        Ok(if first & 0x80 != 0 {
            Self::Acknowledged(reader.number(7)?)
        } else if first & 0x40 != 0 {
            Self::Cancelled(reader.number(6)?)
        } else {
            Self::Received(reader.number(6)?)
        })
    }

    pub fn write(self, to: &mut Vec<u8>) {
        match self {
            Self::Acknowledged(stream) => write_number(to, 0x80, 7, stream),
            Self::Cancelled(stream) => write_number(to, 0x40, 6, stream),
            Self::Received(count) => write_number(to, 0x00, 6, count),
        }
    }
}
