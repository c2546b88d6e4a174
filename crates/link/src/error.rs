use eyelevel_units::UnitError;
use thiserror::Error;

/// Why stages cannot be built, in one line that names the place and the way out.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SpecError {
    /// A value is not what its quantity allows.
    #[error("{place}: {error}")]
    Unit {
        /// The stage and key.
        place: String,
        /// What is wrong with the value.
        error: UnitError,
    },
    /// A setting makes no sense.
    #[error("{place}: {problem}; {remedy}")]
    Setting {
        /// The stage and key.
        place: String,
        /// What is wrong.
        problem: String,
        /// What to write instead.
        remedy: String,
    },
}

impl SpecError {
    pub(crate) fn setting(
        place: impl Into<String>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Setting {
            place: place.into(),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }
}

/// Attaches the place to a quantity's own message.
pub(crate) trait At<T> {
    fn at(self, place: impl FnOnce() -> String) -> Result<T, SpecError>;
}

impl<T> At<T> for Result<T, UnitError> {
    fn at(self, place: impl FnOnce() -> String) -> Result<T, SpecError> {
        self.map_err(|error| SpecError::Unit {
            place: place(),
            error,
        })
    }
}
