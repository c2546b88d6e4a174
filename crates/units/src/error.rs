use thiserror::Error;

/// The reason why a text or a number is not a valid quantity. One line: what was read, what is
/// wrong with it, what would be right.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnitError {
    /// The text does not begin with a decimal number.
    #[error("{text:?} is not {quantity}: write a decimal number first, such as {example:?}")]
    NotANumber {
        /// The text that was read.
        text: String,
        /// The expected quantity with its article ("a rate").
        quantity: &'static str,
        /// A valid text.
        example: &'static str,
    },
    /// The number is followed by no unit or by an unknown one.
    #[error("{text:?} is not {quantity}: {}, use one of {units}", unit_fault(.unit))]
    UnknownUnit {
        /// The text that was read.
        text: String,
        /// The expected quantity with its article.
        quantity: &'static str,
        /// The text in place of the unit.
        unit: String,
        /// The known units.
        units: String,
    },
    /// The number is outside the quantity's range.
    #[error("{text:?} is not {quantity}: it must be {allowed}")]
    OutOfRange {
        /// The text that was read.
        text: String,
        /// The expected quantity with its article.
        quantity: &'static str,
        /// The allowed range in words.
        allowed: &'static str,
    },
}

fn unit_fault(unit: &str) -> String {
    match unit {
        "" => "it has no unit".into(),
        unit => format!("unknown unit {unit:?}"),
    }
}
