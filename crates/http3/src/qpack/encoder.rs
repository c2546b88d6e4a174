use super::index::Key;
use super::indexed_table::IndexedTable;
use super::instructions::{
    FromDecoder, write_capacity, write_duplicate, write_insert, write_insert_dynamic,
    write_insert_static,
};
use super::lines::{Name, Written, write_line, write_prefix};
use super::reader::{ReadError, Reader};
use super::sections::Sections;
use super::seen::RecentFields;
use super::static_table::{self, StaticMatch};
use super::{ENTRY_OVERHEAD_BYTES, Field, FieldLine, Indexing, size};
use crate::error::{Code, Error};
use bytes::Bytes;

/// An encoder of field sections for the peer's decoder.
#[derive(Debug, Default)]
pub struct Encoder {
    table: IndexedTable,
    sections: Sections,
    /// The most entries by the peer's SETTINGS, which determines the range of required insert
    /// counts.
    entries_max: u64,
    blocked_streams_max: u64,
    seen: RecentFields,
    /// Instructions for the peer's decoder.
    instructions: Vec<u8>,
    /// An incomplete instruction of the peer's decoder.
    begun: Vec<u8>,
}

/// The state of a section being encoded.
struct SectionState {
    /// Whether it may refer to entries that the peer may not have.
    may_block: bool,
    /// Whether instructions may be written.
    may_insert: bool,
    /// The index after that of the newest entry referred to.
    required: u64,
    /// The oldest entry referred to.
    oldest: u64,
}

impl Encoder {
    /// Creates an encoder without a dynamic table, until the peer's SETTINGS are known.
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies the peer's SETTINGS, and the part of its table to use.
    pub fn on_settings(&mut self, offered_bytes: u64, table_bytes: u64, blocked_streams_max: u64) {
        self.entries_max = offered_bytes / ENTRY_OVERHEAD_BYTES;
        self.blocked_streams_max = blocked_streams_max;
        let capacity = table_bytes.min(offered_bytes);
        if capacity > 0 {
            self.table.set_capacity(capacity);
            write_capacity(&mut self.instructions, capacity);
        }
    }

    /// Returns the size of the table in use.
    pub fn table_bytes(&self) -> u64 {
        self.table.capacity()
    }

    /// Encodes a section of these fields, for that stream. `may_insert` is whether the result of
    /// [`Self::take_instructions`] so far was sent; else only entries are used that the peer is
    /// known to have.
    pub fn encode<'a>(
        &mut self,
        stream: u64,
        fields: impl IntoIterator<Item = FieldLine<'a>>,
        may_insert: bool,
    ) -> Vec<u8> {
        let may_refer = self.sections.may_add();
        let may_block = self.sections.may_block(stream, self.blocked_streams_max);
        let mut state = SectionState {
            may_block: may_refer && may_block && may_insert,
            may_insert: may_refer && may_insert,
            required: 0,
            oldest: u64::MAX,
        };
        let written: Vec<Written<'a>> = fields
            .into_iter()
            .map(|line| self.choose(line, &mut state, may_refer))
            .collect();
        let mut section = Vec::with_capacity(64);
        write_prefix(&mut section, state.required, self.entries_max);
        for each in &written {
            write_line(&mut section, each, state.required);
        }
        if state.required > 0 {
            self.sections.add(stream, state.required, state.oldest);
        }
        section
    }

    /// Returns the bytes to write to our encoder's stream, before the sections encoded so far, and
    /// removes them.
    pub fn take_instructions(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.instructions)
    }

    /// Processes the next bytes of the peer's decoder.
    ///
    /// # Errors
    /// An invalid instruction, with the scope of the connection.
    pub fn on_decoder_stream(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let wrong = |reason| Error::connection(Code::DecoderStreamError, reason);
        let mut begun = std::mem::take(&mut self.begun);
        begun.extend_from_slice(bytes);
        let mut reader = Reader::new(&begun);
        loop {
            let mut ahead = reader.clone();
            match FromDecoder::read(&mut ahead) {
                Ok(FromDecoder::Acknowledged(stream)) => self.sections.on_acknowledged(stream),
                Ok(FromDecoder::Cancelled(stream)) => {
                    self.sections.on_cancelled(stream);
                    Ok(())
                }
                Ok(FromDecoder::Received(count)) => {
                    self.sections.on_received(count, self.table.inserted())
                }
                Err(ReadError::Short) => break,
                Err(ReadError::Wrong(reason)) => Err(reason),
            }
            .map_err(wrong)?;
            reader = ahead;
        }
        let read = begun.len() - reader.remaining();
        begun.drain(..read);
        self.begun = begun;
        Ok(())
    }

    fn choose<'a>(
        &mut self,
        line: FieldLine<'a>,
        state: &mut SectionState,
        may_refer: bool,
    ) -> Written<'a> {
        let FieldLine {
            name,
            value,
            indexing,
        } = line;
        let in_static = static_table::find(name, value);
        if let (Some(StaticMatch::Whole(index)), true) = (in_static, indexing != Indexing::Never) {
            return Written::Static(index);
        }
        let bytes = size(name, value);
        let key = Key::new(name, value);
        // As h2 does: an entry of more than three quarters of the table would empty it.
        if may_refer && indexing == Indexing::Allowed && bytes * 4 <= self.table.capacity() * 3 {
            if let Some(found) = self.table.field(key, name, value) {
                if let Some(absolute) = self.refer(found, key, bytes, state) {
                    return Written::Dynamic(state.use_entry(absolute));
                }
            } else if (state.may_block || self.seen.contains(key))
                && state.may_insert
                && self.make_room(bytes, state)
            {
                let absolute = self.insert(name, value, key, in_static);
                if state.may_block {
                    return Written::Dynamic(state.use_entry(absolute));
                }
            } else {
                self.seen.add(key);
            }
        }
        let name = match in_static {
            Some(StaticMatch::Whole(index) | StaticMatch::Name(index)) => Name::Static(index),
            None => self.name(name, key, state, may_refer),
        };
        Written::Literal(name, value, indexing)
    }

    /// Returns the entry to refer to instead of the newest one found; `None` if the peer may not
    /// have it and the stream may not block.
    fn refer(&mut self, found: u64, key: Key, bytes: u64, state: &SectionState) -> Option<u64> {
        let is_known = found < self.sections.received();
        let is_draining = state.may_insert && found < self.draining(state);
        if is_draining && self.make_room_except(found, bytes, state) {
            write_duplicate(&mut self.instructions, self.table.inserted() - 1 - found);
            let field = self.table.get(found)?.clone();
            let copy = self.table.add(field, key);
            if state.may_block {
                return Some(copy);
            }
        }
        if is_known || state.may_block {
            return Some(found);
        }
        // An older copy may suffice.
        let entry = self.table.get(found)?;
        self.table.copy_below(entry, self.sections.received())
    }

    /// Returns a reference to a name in the dynamic table, if it is allowed.
    fn name<'a>(
        &self,
        name: &'a [u8],
        key: Key,
        state: &mut SectionState,
        may_refer: bool,
    ) -> Name<'a> {
        let found = self.table.name(key, name);
        let usable =
            |absolute: &u64| may_refer && (state.may_block || *absolute < self.sections.received());
        match found.filter(usable) {
            Some(absolute) => Name::Dynamic(state.use_entry(absolute)),
            None => Name::Literal(name),
        }
    }

    fn insert(
        &mut self,
        name: &[u8],
        value: &[u8],
        key: Key,
        in_static: Option<StaticMatch>,
    ) -> u64 {
        let to = &mut self.instructions;
        match (in_static, self.table.name(key, name)) {
            (Some(StaticMatch::Whole(index) | StaticMatch::Name(index)), _) => {
                write_insert_static(to, index, value);
            }
            (None, Some(absolute)) => {
                write_insert_dynamic(to, self.table.inserted() - 1 - absolute, value);
            }
            (None, None) => write_insert(to, name, value),
        }
        let field = Field {
            name: Bytes::copy_from_slice(name),
            value: Bytes::copy_from_slice(value),
        };
        self.table.add(field, key)
    }

    /// Returns the first entry that must not be evicted, since the peer may not have it or may
    /// still need it.
    fn evictable_below(&self, state: &SectionState) -> u64 {
        self.sections.needed_from().min(state.oldest)
    }

    /// Evicts entries to make room; none if that would not suffice.
    fn make_room(&mut self, bytes: u64, state: &SectionState) -> bool {
        let below = self.evictable_below(state);
        self.table.make_room(bytes, below)
    }

    /// Evicts entries to make room, except for `kept`, which is to be copied.
    fn make_room_except(&mut self, kept: u64, bytes: u64, state: &SectionState) -> bool {
        let below = self.evictable_below(state).min(kept);
        self.table.make_room(bytes, below)
    }

    /// Returns the first entry that is not about to be evicted.
    fn draining(&self, state: &SectionState) -> u64 {
        // An entry that this section refers to cannot be copied into the room that it occupies.
        self.table.draining(state.oldest)
    }
}

impl SectionState {
    fn use_entry(&mut self, absolute: u64) -> u64 {
        self.required = self.required.max(absolute + 1);
        self.oldest = self.oldest.min(absolute);
        absolute
    }
}
