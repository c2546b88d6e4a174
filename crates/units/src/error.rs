use thiserror::Error;

/// Why a text or a number is not the quantity that was asked for. One line: what was read, what is
/// wrong with it, what would be right.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnitError {
    /// The text does not begin with a decimal number.
    #[error("{text:?} is not {quantity}: write a decimal number first, such as {example:?}")]
    NotANumber {
        /// What was read.
        text: String,
        /// The quantity asked for, with its article ("a rate").
        quantity: &'static str,
        /// A text that would do.
        example: &'static str,
    },
    /// The number is followed by no unit or by an unknown one.
    #[error("{text:?} is not {quantity}: {}, use one of {units}", unit_fault(.unit))]
    UnknownUnit {
        /// What was read.
        text: String,
        /// The quantity asked for, with its article.
        quantity: &'static str,
        /// What stood in the unit's place.
        unit: String,
        /// The units that are known.
        units: String,
    },
    /// The number is outside what the quantity can hold.
    #[error("{text:?} is not {quantity}: it must be {allowed}")]
    OutOfRange {
        /// What was read.
        text: String,
        /// The quantity asked for, with its article.
        quantity: &'static str,
        /// The range in words.
        allowed: &'static str,
    },
}

fn unit_fault(unit: &str) -> String {
    match unit {
        "" => "it has no unit".into(),
        unit => format!("unknown unit {unit:?}"),
    }
}
