//! Why edits cannot be applied.

use eyelevel_units::one_line;

/// Why edits cannot be applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An edit does not fit the recording.
    #[error("cannot apply the edit `{}`: {}", one_line(edit), one_line(reason))]
    Refused {
        /// The edit, as its author wrote it.
        edit: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// What follows from the edits cannot be done.
    #[error("cannot edit {}: {}", one_line(url), one_line(reason))]
    Object {
        /// The object that would change.
        url: String,
        /// What is wrong, and what to do.
        reason: String,
    },
}

/// Why one edit or one object is refused, without its name: whoever knows it adds it.
pub type Reason = String;
