//! What reading one file may take.

use crate::error::Damage;
use crate::exchange::Exchange;
use crate::limits::{
    INFLATED_BYTES_ALLOWANCE, INFLATED_BYTES_MAX, INFLATED_RATIO_MAX, RECORDS_MAX,
};

/// What one file may still take, over all its members: inflated bytes and records.
#[derive(Debug)]
pub struct ReadBudget {
    bytes_max: u64,
    bytes_left: u64,
    records_left: u64,
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
