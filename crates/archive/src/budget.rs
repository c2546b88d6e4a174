//! What reading one file may take.

use crate::error::Damage;
use crate::exchange::Exchange;
use crate::exchange::header::Header;
use crate::limits::{
    INFLATED_BYTES_ALLOWANCE, INFLATED_BYTES_MAX, INFLATED_RATIO_MAX, RECORDS_MAX,
};

/// The least that an allocator hands out for a name (glibc, 64 bit: `MINSIZE` of malloc.c), bytes.
const ALLOCATION_BYTES_MIN: usize = 32;

/// The most that is decoded of one body for a look at its coding, and the least, which shows what a
/// decoder gives of something else, bytes.
const LOOK_BYTES_MAX: u64 = 16 << 20;
const LOOK_BYTES_MIN: u64 = 256;

/// What one file may still take, over all its members: records, and bytes of memory for what is
/// inflated, for lists of fields and for what is kept more than once.
///
/// Bodies and values of fields are slices of the file or of what was inflated, and cost nothing
/// more.
#[derive(Debug)]
pub struct ReadBudget {
    bytes_max: u64,
    bytes_left: u64,
    records_left: u64,
    looks_left: u64,
}

impl ReadBudget {
    /// The budget of a file of `file_bytes`.
    pub fn for_file(file_bytes: u64) -> Self {
        let by_size = file_bytes.saturating_mul(INFLATED_RATIO_MAX);
        let bytes_max = INFLATED_BYTES_MAX.min(by_size.saturating_add(INFLATED_BYTES_ALLOWANCE));
        ReadBudget {
            bytes_max,
            bytes_left: bytes_max,
            records_left: RECORDS_MAX,
            looks_left: bytes_max,
        }
    }

    /// The budget of all bodies of a site.
    pub fn for_bodies(exchanges: &[Exchange]) -> Self {
        Self::for_file(exchanges.iter().map(|each| each.body.len() as u64).sum())
    }

    /// What is left, bytes.
    pub fn bytes_left(&self) -> u64 {
        self.bytes_left
    }

    /// Takes inflated `bytes` from the budget, or refuses.
    pub fn spend(&mut self, bytes: u64) -> Result<(), Damage> {
        let left = self.bytes_left.checked_sub(bytes);
        self.bytes_left = left.ok_or_else(|| self.inflates_too_far())?;
        Ok(())
    }

    /// Takes `bytes` of memory beside what is inflated from the budget, or refuses.
    pub fn keep(&mut self, bytes: u64) -> Result<(), Damage> {
        let left = self.bytes_left.checked_sub(bytes);
        self.bytes_left = left.ok_or(Damage::TakesTooMuch {
            bytes_max: self.bytes_max,
        })?;
        Ok(())
    }

    /// How much of a body is decoded to see whether it has its coding, bytes: nothing of it is kept,
    /// and what is decoded of all bodies of a file is bounded.
    pub fn looks_left(&self) -> u64 {
        self.looks_left.clamp(LOOK_BYTES_MIN, LOOK_BYTES_MAX)
    }

    /// Takes `bytes` that were decoded for such a look.
    pub fn look(&mut self, bytes: u64) {
        self.looks_left = self.looks_left.saturating_sub(bytes);
    }

    /// Refuses where `bytes` of memory, needed for a moment, are more than what is left.
    pub fn check_room(&self, bytes: u64) -> Result<(), Damage> {
        let fits = bytes <= self.bytes_left;
        fits.then_some(()).ok_or(Damage::TakesTooMuch {
            bytes_max: self.bytes_max,
        })
    }

    /// Takes the memory of a list of fields from the budget, or refuses: a field of three bytes
    /// (`a:` and its line end) costs 88.
    pub fn keep_fields(&mut self, fields: &Vec<Header>) -> Result<(), Damage> {
        let list_bytes = fields.capacity() * size_of::<Header>();
        let names = fields.iter().map(|field| field.name.capacity());
        let name_bytes: usize = names.map(|bytes| bytes.max(ALLOCATION_BYTES_MIN)).sum();
        self.keep((list_bytes + name_bytes) as u64)
    }

    /// Takes the memory of one exchange from the budget, or refuses: itself, its fields and its
    /// texts. Its bodies are whoever's made them.
    pub fn keep_exchange(&mut self, exchange: &Exchange) -> Result<(), Damage> {
        let url = &exchange.url;
        let initiator_bytes = exchange.initiator.as_ref().map_or(0, String::capacity);
        let text_bytes = [&url.host, &url.path_and_query, &exchange.reason]
            .map(String::capacity)
            .iter()
            .sum::<usize>();
        self.keep((size_of::<Exchange>() + text_bytes + initiator_bytes) as u64)?;
        self.keep_fields(&exchange.request_headers)?;
        self.keep_fields(&exchange.response_headers)
    }

    /// Takes one record from the budget, or refuses.
    pub fn take_record(&mut self) -> Result<(), Damage> {
        let left = self.records_left.checked_sub(1);
        self.records_left = left.ok_or(Damage::TooManyRecords {
            records_max: RECORDS_MAX,
        })?;
        Ok(())
    }

    /// That more is inflated than the budget has.
    pub fn inflates_too_far(&self) -> Damage {
        Damage::InflatesTooFar {
            bytes_max: self.bytes_max,
        }
    }
}
