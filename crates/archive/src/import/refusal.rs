//! Errors that refuse a whole file on import.

use std::fmt;

/// The reason why a file is refused, an invalid container or a bound, with its remedy.
#[derive(Debug)]
pub struct Refusal {
    reason: String,
    remedy: &'static str,
}

impl Refusal {
    /// Creates a refusal of a file that exceeds a bound.
    pub fn too_large(reason: impl fmt::Display) -> Self {
        Self {
            reason: reason.to_string(),
            remedy: "; export it in parts",
        }
    }

    /// Creates a refusal from a sentence that includes its remedy.
    pub fn with_remedy(reason: impl fmt::Display) -> Self {
        Self {
            reason: reason.to_string(),
            remedy: "",
        }
    }

    /// Prefixes the reason with a place.
    #[must_use]
    pub fn at(self, place: impl fmt::Display) -> Self {
        Self {
            reason: format!("{place}: {}", self.reason),
            ..self
        }
    }
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Self {
            reason,
            remedy: "; copy or export it again",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.reason, self.remedy)
    }
}
