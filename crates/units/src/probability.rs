use crate::UnitError;
use core::fmt;
use core::str::FromStr;

const ALLOWED: &str = "from 0 to 1 (or 0 % to 100 %)";

/// A probability, checked to be from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

impl Probability {
    /// The probability of an impossible event.
    pub const ZERO: Self = Self(0.0);
    /// The probability of a certain event.
    pub const ONE: Self = Self(1.0);

    /// Creates a probability.
    ///
    /// # Errors
    ///
    /// Fails if `value` is below 0, above 1 or not a number.
    pub fn new(value: f64) -> Result<Self, UnitError> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err(out_of_range(&value.to_string()))
        }
    }

    /// Returns the number from 0 to 1.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Returns how many of 2^53 equally likely values count as a hit.
    pub(crate) fn threshold(self) -> u64 {
        (self.0 * (1_u64 << 53) as f64).round() as u64
    }
}

fn out_of_range(text: &str) -> UnitError {
    UnitError::OutOfRange {
        text: text.into(),
        quantity: "a probability",
        allowed: ALLOWED,
    }
}

/// Parses "1%", "0.048 %" or a bare number from 0 to 1.
impl FromStr for Probability {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let trimmed = text.trim();
        let (number, divisor) = match trimmed.strip_suffix('%') {
            Some(number) => (number.trim_end(), 100.0),
            None => (trimmed, 1.0),
        };
        let plain = !number.is_empty() && number.chars().all(|c| "0123456789.-".contains(c));
        let value = number.parse::<f64>().ok().filter(|_| plain);
        let value = value.ok_or_else(|| UnitError::NotANumber {
            text: trimmed.into(),
            quantity: "a probability",
            example: "1 %",
        })?;
        Self::new(value / divisor).map_err(|_| out_of_range(trimmed))
    }
}

/// Formats the bare number, which parses to the same value.
impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_checks() {
        assert_eq!("1%".parse::<Probability>().unwrap().get(), 0.01);
        assert_eq!("0.25".parse::<Probability>().unwrap().to_string(), "0.25");
        assert!(
            "101 %"
                .parse::<Probability>()
                .unwrap_err()
                .to_string()
                .contains("100 %")
        );
        assert!("-0.1".parse::<Probability>().is_err());
        assert!(
            "NaN"
                .parse::<Probability>()
                .unwrap_err()
                .to_string()
                .contains("1 %")
        );
        assert!(Probability::new(f64::NAN).is_err());
        assert_eq!(Probability::ONE.threshold(), 1 << 53);
    }
}
