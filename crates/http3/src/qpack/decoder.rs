use super::instructions::{FromDecoder, FromEncoder};
use super::reader::{ReadError, Reader};
use super::table::Table;
use super::{ENTRY_OVERHEAD_BYTES, Field, static_table};
use crate::error::{Code, Error};
use bytes::Bytes;
use std::collections::BTreeSet;

/// The result of decoding a field section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// Its fields.
    Fields(Vec<Field>),
    /// It refers to entries that have not arrived.
    Blocked,
    /// Its fields are larger than allowed and were discarded.
    TooLarge,
}

/// A decoder of the peer's field sections.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    table_bytes_max: u64,
    blocked_streams_max: u64,
    blocked: BTreeSet<u64>,
    /// An incomplete instruction of the peer's encoder.
    begun: Vec<u8>,
    /// Instructions for the peer's encoder.
    instructions: Vec<u8>,
    /// Inserts that were acknowledged to the peer.
    acknowledged: u64,
}

impl Decoder {
    /// Creates a decoder with the limits in our SETTINGS: the bytes of the table, and the streams
    /// that may be blocked on inserts.
    pub fn new(table_bytes_max: u64, blocked_streams_max: u64) -> Self {
        Self {
            table: Table::default(),
            table_bytes_max,
            blocked_streams_max,
            blocked: BTreeSet::new(),
            begun: Vec::new(),
            instructions: Vec::new(),
            acknowledged: 0,
        }
    }

    /// Processes the next bytes of the peer's encoder; returns whether entries were inserted, which
    /// may unblock sections.
    ///
    /// # Errors
    /// An invalid instruction, with the scope of the connection.
    pub fn on_encoder_stream(&mut self, bytes: &[u8]) -> Result<bool, Error> {
        let before = self.table.inserted();
        let mut begun = std::mem::take(&mut self.begun);
        begun.extend_from_slice(bytes);
        let mut reader = Reader::new(&begun);
        loop {
            let mut ahead = reader.clone();
            match FromEncoder::read(&mut ahead, self.table.capacity()) {
                Ok(instruction) => self.apply(instruction)?,
                Err(ReadError::Short) => break,
                Err(ReadError::Wrong(reason)) => return Err(encoder_error(reason)),
            }
            reader = ahead;
        }
        let read = begun.len() - reader.remaining();
        begun.drain(..read);
        self.begun = begun;
        Ok(self.table.inserted() > before)
    }

    /// Decodes a section of that stream. If it is blocked, call again once
    /// [`Self::on_encoder_stream`] returns true.
    ///
    /// # Errors
    /// An invalid section, or more blocked streams than allowed, with the scope of the connection.
    pub fn decode(
        &mut self,
        stream: u64,
        section: &[u8],
        section_bytes_max: u64,
    ) -> Result<Decoded, Error> {
        let mut reader = Reader::new(section);
        let required = self.required(&mut reader)?;
        if required > self.table.inserted() {
            self.blocked.insert(stream);
            if self.blocked.len() as u64 > self.blocked_streams_max {
                return Err(decompression_failed(
                    "more streams are blocked than allowed",
                ));
            }
            return Ok(Decoded::Blocked);
        }
        self.blocked.remove(&stream);
        let base = base(&mut reader, required)?;
        let mut fields = Vec::new();
        let mut left = section_bytes_max;
        while reader.remaining() > 0 {
            let line = Line { required, base };
            let field = self.field(&mut reader, line, section_bytes_max)?;
            match left.checked_sub(field.size()) {
                Some(rest) => left = rest,
                None => {
                    self.cancel(stream);
                    return Ok(Decoded::TooLarge);
                }
            }
            fields.push(field);
        }
        if required > 0 {
            FromDecoder::Acknowledged(stream).write(&mut self.instructions);
            self.acknowledged = self.acknowledged.max(required);
        }
        Ok(Decoded::Fields(fields))
    }

    /// Cancels a stream, whose sections will not be read.
    pub fn cancel(&mut self, stream: u64) {
        self.blocked.remove(&stream);
        // Without a table no section can refer to it (RFC 9204, section 2.2.2.2).
        if self.table_bytes_max > 0 {
            FromDecoder::Cancelled(stream).write(&mut self.instructions);
        }
    }

    /// Returns the bytes to write to our decoder's stream, and removes them.
    pub fn take_instructions(&mut self) -> Vec<u8> {
        let unknown = self.table.inserted() - self.acknowledged;
        if unknown > 0 {
            FromDecoder::Received(unknown).write(&mut self.instructions);
            self.acknowledged += unknown;
        }
        std::mem::take(&mut self.instructions)
    }

    /// Returns the size of the table that the peer's encoder uses now.
    pub fn table_bytes(&self) -> u64 {
        self.table.capacity()
    }

    fn apply(&mut self, instruction: FromEncoder) -> Result<(), Error> {
        let field = match instruction {
            FromEncoder::Capacity(capacity) => {
                if capacity > self.table_bytes_max {
                    return Err(encoder_error("a table larger than allowed"));
                }
                self.table.set_capacity(capacity);
                return Ok(());
            }
            FromEncoder::InsertStatic(index, value) => {
                let entry = static_table::get(index);
                let entry = entry.ok_or(encoder_error("no such entry of the static table"))?;
                Field { value, ..entry }
            }
            FromEncoder::InsertDynamic(from_newest, value) => Field {
                value,
                ..self.entry_from_newest(from_newest)?
            },
            FromEncoder::Insert(name, value) => Field { name, value },
            FromEncoder::Duplicate(from_newest) => self.entry_from_newest(from_newest)?,
        };
        if !self.table.insert(field) {
            return Err(encoder_error("an entry larger than the table"));
        }
        Ok(())
    }

    fn entry_from_newest(&self, from_newest: u64) -> Result<Field, Error> {
        let absolute = (self.table.inserted().checked_sub(1))
            .and_then(|newest| newest.checked_sub(from_newest));
        let entry = absolute.and_then(|absolute| self.table.get(absolute));
        entry
            .cloned()
            .ok_or(encoder_error("no such entry of the dynamic table"))
    }

    /// Reads the required insert count (RFC 9204, section 4.5.1.1).
    fn required(&self, reader: &mut Reader<'_>) -> Result<u64, Error> {
        let coded = reader.number(8).map_err(decode_error)?;
        if coded == 0 {
            return Ok(0);
        }
        let entries_max = self.table_bytes_max / ENTRY_OVERHEAD_BYTES;
        let wrong = || decompression_failed("a required insert count that cannot be");
        let range = 2 * entries_max;
        if coded > range {
            return Err(wrong());
        }
        let value_max = self.table.inserted() + entries_max;
        let wrapped = value_max / range * range;
        let mut required = wrapped + coded - 1;
        if required > value_max {
            required = required.checked_sub(range).ok_or_else(wrong)?;
        }
        if required == 0 {
            Err(wrong())
        } else {
            Ok(required)
        }
    }

    fn field(&self, reader: &mut Reader<'_>, line: Line, bytes_max: u64) -> Result<Field, Error> {
        let first = reader.peek().unwrap_or_default();
        let with_value = |entry: Field, reader: &mut Reader<'_>| {
            let value = reader.string(7, bytes_max).map_err(decode_error)?;
            Ok(Field { value, ..entry })
        };
        if first & 0x80 != 0 {
            let index = reader.number(6).map_err(decode_error)?;
            self.entry(line, first & 0x40 != 0, index)
        } else if first & 0x40 != 0 {
            let index = reader.number(4).map_err(decode_error)?;
            with_value(self.entry(line, first & 0x10 != 0, index)?, reader)
        } else if first & 0x20 != 0 {
            let name = reader.string(3, bytes_max).map_err(decode_error)?;
            let value = Bytes::new();
            with_value(Field { name, value }, reader)
        } else if first & 0x10 != 0 {
            let index = reader.number(4).map_err(decode_error)?;
            self.post_base_entry(line, index)
        } else {
            let index = reader.number(3).map_err(decode_error)?;
            with_value(self.post_base_entry(line, index)?, reader)
        }
    }

    fn entry(&self, line: Line, is_static: bool, index: u64) -> Result<Field, Error> {
        if is_static {
            return static_table::get(index)
                .ok_or(decompression_failed("no such entry of the static table"));
        }
        let absolute = line
            .base
            .checked_sub(1)
            .and_then(|last| last.checked_sub(index));
        self.at(line, absolute)
    }

    fn post_base_entry(&self, line: Line, index: u64) -> Result<Field, Error> {
        self.at(line, line.base.checked_add(index))
    }

    fn at(&self, line: Line, absolute: Option<u64>) -> Result<Field, Error> {
        let absolute = absolute.filter(|absolute| *absolute < line.required);
        let entry = absolute.and_then(|absolute| self.table.get(absolute));
        entry
            .cloned()
            .ok_or(decompression_failed("no such entry of the dynamic table"))
    }
}

/// The base of a section's references.
#[derive(Clone, Copy)]
struct Line {
    required: u64,
    base: u64,
}

/// Reads the base (RFC 9204, section 4.5.1.2).
fn base(reader: &mut Reader<'_>, required: u64) -> Result<u64, Error> {
    let is_less = reader.peek().unwrap_or_default() & 0x80 != 0;
    let delta = reader.number(7).map_err(decode_error)?;
    let base = if is_less {
        required
            .checked_sub(delta)
            .and_then(|base| base.checked_sub(1))
    } else {
        required.checked_add(delta)
    };
    base.ok_or(decompression_failed("a base below zero"))
}

fn decode_error(why: ReadError) -> Error {
    match why {
        ReadError::Short => decompression_failed("a field section that breaks off"),
        ReadError::Wrong(reason) => decompression_failed(reason),
    }
}

const fn decompression_failed(reason: &'static str) -> Error {
    Error::connection(Code::DecompressionFailed, reason)
}

const fn encoder_error(reason: &'static str) -> Error {
    Error::connection(Code::EncoderStreamError, reason)
}
