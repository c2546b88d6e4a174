//! Gzip members, inflated one by one within a budget.

use std::io::Read;

use bytes::Bytes;

use crate::error::Damage;
use crate::limits::{INFLATED_BYTES_ALLOWANCE, INFLATED_BYTES_MAX, INFLATED_RATIO_MAX};

/// The first two bytes of a gzip member (RFC 1952, section 2.3.1).
pub const MAGIC: &[u8] = &[0x1f, 0x8b];

/// How much one file may still inflate to.
#[derive(Debug)]
pub struct InflateBudget {
    bytes_max: u64,
    bytes_left: u64,
}

impl InflateBudget {
    /// The budget of a file of `file_bytes`.
    pub fn for_file(file_bytes: u64) -> Self {
        let by_size = file_bytes.saturating_mul(INFLATED_RATIO_MAX);
        let bytes_max = INFLATED_BYTES_MAX.min(by_size.saturating_add(INFLATED_BYTES_ALLOWANCE));
        InflateBudget {
            bytes_max,
            bytes_left: bytes_max,
        }
    }

    /// What is left, bytes.
    pub fn bytes_left(&self) -> u64 {
        self.bytes_left
    }

    /// Takes `bytes` from the budget, or refuses.
    pub fn spend(&mut self, bytes: u64) -> Result<(), Damage> {
        let left = self.bytes_left.checked_sub(bytes);
        self.bytes_left = left.ok_or(Damage::InflatesTooFar {
            bytes_max: self.bytes_max,
        })?;
        Ok(())
    }
}

/// Inflates the member at the beginning of `input`, its checksum and length verified.
///
/// Returns its content and the number of bytes that the member takes in `input`.
pub fn inflate_member(input: &[u8], budget: &mut InflateBudget) -> Result<(Bytes, usize), Damage> {
    if !input.starts_with(MAGIC) {
        return Err(Damage::Gzip("no gzip header is there".to_owned()));
    }
    let mut decoder = flate2::bufread::GzDecoder::new(input);
    let mut content = Vec::new();
    let within_budget = budget.bytes_left().saturating_add(1);
    let inflated = decoder
        .by_ref()
        .take(within_budget)
        .read_to_end(&mut content)
        .map_err(|error| Damage::Gzip(error.to_string()))? as u64;
    budget.spend(inflated)?;
    let consumed = input.len() - decoder.into_inner().len();
    Ok((Bytes::from(content), consumed))
}
