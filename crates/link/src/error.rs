use eyelevel_units::UnitError;
use thiserror::Error;

/// An error of a stage's settings, whose one-line message names the place and the remedy.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SpecError {
    /// A value outside what its quantity allows.
    #[error("{place}: {error}")]
    Unit {
        /// The stage and key.
        place: String,
        /// The error of the value.
        error: UnitError,
    },
    /// An invalid setting.
    #[error("{place}: {problem}; {remedy}")]
    Setting {
        /// The stage and key.
        place: String,
        /// The problem.
        problem: String,
        /// The correct form.
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

/// An extension that adds the place to a quantity's error.
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
