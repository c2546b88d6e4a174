//! The budget of memory and records for reading one file.

use crate::error::Damage;
use crate::exchange::Exchange;
use crate::exchange::header::Header;
use crate::limits::{
    INFLATED_BYTES_ALLOWANCE, INFLATED_BYTES_MAX, INFLATED_RATIO_MAX, RECORDS_MAX,
};

/// The smallest block that an allocator returns (glibc, 64 bit: `MINSIZE` of malloc.c), bytes.
const ALLOCATION_BYTES_MIN: usize = 32;

/// The largest and the smallest amount of a body that is decoded to detect its coding, bytes. The
/// smallest still shows how a decoder reacts to other content.
const SNIFF_BYTES_MAX: u64 = 16 << 20;
const SNIFF_BYTES_MIN: u64 = 256;

/// What reading one file may still take, over all its members: records, and bytes of memory for
/// inflated content, for lists of fields and for copies.
///
/// Bodies and field values are slices of the file or of inflated content, so they cost nothing
/// more.
#[derive(Debug)]
pub struct ReadBudget {
    bytes_max: u64,
    bytes_left: u64,
    records_left: u64,
    sniff_bytes_left: u64,
}

impl ReadBudget {
    /// Returns the budget for a file of `file_bytes`.
    pub fn for_file(file_bytes: u64) -> Self {
        let by_size = file_bytes.saturating_mul(INFLATED_RATIO_MAX);
        let bytes_max = INFLATED_BYTES_MAX.min(by_size.saturating_add(INFLATED_BYTES_ALLOWANCE));
        ReadBudget {
            bytes_max,
            bytes_left: bytes_max,
            records_left: RECORDS_MAX,
            sniff_bytes_left: bytes_max,
        }
    }

    /// Returns the budget for decoding the bodies of all `exchanges`.
    pub fn for_bodies(exchanges: &[Exchange]) -> Self {
        Self::for_file(exchanges.iter().map(|each| each.body.len() as u64).sum())
    }

    /// Returns the bytes left.
    pub fn bytes_left(&self) -> u64 {
        self.bytes_left
    }

    /// Spends `bytes` of inflated content, or fails if fewer are left.
    pub fn spend(&mut self, bytes: u64) -> Result<(), Damage> {
        let left = self.bytes_left.checked_sub(bytes);
        self.bytes_left = left.ok_or_else(|| self.inflates_too_far())?;
        Ok(())
    }

    /// Spends `bytes` of memory other than inflated content, or fails if fewer are left.
    pub fn spend_memory(&mut self, bytes: u64) -> Result<(), Damage> {
        let left = self.bytes_left.checked_sub(bytes);
        self.bytes_left = left.ok_or(Damage::TakesTooMuch {
            bytes_max: self.bytes_max,
        })?;
        Ok(())
    }

    /// Returns how much of a body may be decoded to detect its coding, bytes. The result is
    /// discarded; the bound limits what is decoded over all bodies of a file.
    pub fn sniff_bytes_left(&self) -> u64 {
        self.sniff_bytes_left
            .clamp(SNIFF_BYTES_MIN, SNIFF_BYTES_MAX)
    }

    /// Spends `bytes` that were decoded to detect a coding.
    pub fn spend_sniff(&mut self, bytes: u64) {
        self.sniff_bytes_left = self.sniff_bytes_left.saturating_sub(bytes);
    }

    /// Fails if `bytes` of temporary memory are more than what is left.
    pub fn check_fits(&self, bytes: u64) -> Result<(), Damage> {
        let fits = bytes <= self.bytes_left;
        fits.then_some(()).ok_or(Damage::TakesTooMuch {
            bytes_max: self.bytes_max,
        })
    }

    /// Spends the memory of a list of fields, or fails: a field of three bytes (`a:` and its line
    /// end) costs 88.
    pub fn spend_fields(&mut self, fields: &Vec<Header>) -> Result<(), Damage> {
        let list_bytes = fields.capacity() * size_of::<Header>();
        let names = fields.iter().map(|field| field.name.capacity());
        let name_bytes: usize = names.map(|bytes| bytes.max(ALLOCATION_BYTES_MIN)).sum();
        self.spend_memory((list_bytes + name_bytes) as u64)
    }

    /// Spends the memory of one exchange, its fields and its texts, or fails. Bodies are charged
    /// where they are created.
    pub fn spend_exchange(&mut self, exchange: &Exchange) -> Result<(), Damage> {
        let url = &exchange.url;
        let initiator_bytes = exchange.initiator.as_ref().map_or(0, String::capacity);
        let text_bytes = [&url.host, &url.path_and_query, &exchange.reason]
            .map(String::capacity)
            .iter()
            .sum::<usize>();
        self.spend_memory((size_of::<Exchange>() + text_bytes + initiator_bytes) as u64)?;
        self.spend_fields(&exchange.request_headers)?;
        self.spend_fields(&exchange.response_headers)
    }

    /// Spends one record, or fails if none is left.
    pub fn take_record(&mut self) -> Result<(), Damage> {
        let left = self.records_left.checked_sub(1);
        self.records_left = left.ok_or(Damage::TooManyRecords {
            records_max: RECORDS_MAX,
        })?;
        Ok(())
    }

    /// Returns the error for a file that inflates beyond its budget.
    pub fn inflates_too_far(&self) -> Damage {
        Damage::InflatesTooFar {
            bytes_max: self.bytes_max,
        }
    }
}
