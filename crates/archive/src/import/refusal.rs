//! Why a whole file is not imported, and what helps.

use std::fmt;

/// Why a whole file is refused: what is wrong with its container, or that it holds too much.
#[derive(Debug)]
pub struct Refusal {
    reason: String,
    remedy: &'static str,
}

impl Refusal {
    /// More than is read of one file.
    pub fn too_large(reason: impl fmt::Display) -> Self {
        Self {
            reason: reason.to_string(),
            remedy: "; export it in parts",
        }
    }

    /// A sentence that has its remedy already.
    pub fn with_remedy(reason: impl fmt::Display) -> Self {
        Self {
            reason: reason.to_string(),
            remedy: "",
        }
    }

    /// The same with the place before it.
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
