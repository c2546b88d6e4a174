//! The only parser and formatter of "number unit" texts. Decimal digits are scaled as integers, so
//! "10.5 Mbit/s" is exactly 10 500 000 bit/s, without binary fractions.

use crate::UnitError;
use core::fmt;

/// The name of a kind of quantity, and its units.
pub(crate) struct Kind {
    /// The name with its article, for messages.
    pub quantity: &'static str,
    /// A text that parses.
    pub example: &'static str,
    /// The allowed range in words.
    pub allowed: &'static str,
    /// The units with the number of base units in each, smallest first; aliases follow their unit.
    pub units: &'static [(&'static str, u64)],
}

/// The most decimal places; further ones would be below any base unit and are refused.
const DECIMALS_MAX: usize = 18;

impl Kind {
    /// Parses `text` and returns the value in base units, rounded to the nearest.
    pub(crate) fn parse(&self, text: &str) -> Result<u64, UnitError> {
        let trimmed = text.trim();
        let end = trimmed
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(trimmed.len());
        let (number, unit) = (&trimmed[..end], trimmed[end..].trim_start());
        if trimmed.starts_with('-') {
            return Err(self.out_of_range(text));
        }
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = whole.len() + fraction.len();
        if digits == 0 || fraction.contains('.') || fraction.len() > DECIMALS_MAX {
            return Err(self.not_a_number(text));
        }
        let scale = self.scale(text, unit)?;
        let value = scale_decimal(whole, fraction, scale).ok_or_else(|| self.out_of_range(text))?;
        Ok(value)
    }

    fn scale(&self, text: &str, unit: &str) -> Result<u64, UnitError> {
        let found = self.units.iter().find(|(name, _)| *name == unit);
        let found = found.or_else(|| {
            self.units
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(unit))
        });
        found
            .map(|(_, scale)| *scale)
            .ok_or_else(|| UnitError::UnknownUnit {
                text: text.trim().into(),
                quantity: self.quantity,
                unit: unit.into(),
                units: self
                    .units
                    .iter()
                    .map(|(name, _)| *name)
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }

    /// Formats `value` without loss, in the largest unit that is not larger than it.
    pub(crate) fn format(&self, value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let largest = self.units.iter().rev().find(|(_, scale)| *scale <= value);
        let (_, scale) = largest.unwrap_or(&self.units[0]);
        let (unit, _) = self
            .units
            .iter()
            .find(|(_, other)| other == scale)
            .expect("it is listed");
        let decimals = scale.ilog10() as usize;
        let fraction = format!("{:0decimals$}", value % scale);
        let fraction = fraction.trim_end_matches('0');
        match (decimals, fraction) {
            (0, _) | (_, "") => write!(f, "{} {unit}", value / scale),
            _ => write!(f, "{}.{fraction} {unit}", value / scale),
        }
    }

    pub(crate) fn out_of_range(&self, text: &str) -> UnitError {
        UnitError::OutOfRange {
            text: text.trim().into(),
            quantity: self.quantity,
            allowed: self.allowed,
        }
    }

    fn not_a_number(&self, text: &str) -> UnitError {
        UnitError::NotANumber {
            text: text.trim().into(),
            quantity: self.quantity,
            example: self.example,
        }
    }
}

/// Returns `whole.fraction * scale`, rounded half up, or `None` if it exceeds 64 bits.
fn scale_decimal(whole: &str, fraction: &str, scale: u64) -> Option<u64> {
    let whole = if whole.is_empty() {
        0
    } else {
        whole.parse::<u64>().ok()?
    };
    let divisor = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let fraction = if fraction.is_empty() {
        0
    } else {
        fraction.parse::<u64>().ok()?
    };
    let part = (u128::from(fraction) * u128::from(scale) * 2 + divisor) / (divisor * 2);
    u64::try_from(u128::from(whole) * u128::from(scale) + part).ok()
}
