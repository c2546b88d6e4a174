//! Errors of applying edits.

use eyelevel_units::one_line;

/// An error from applying edits.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An edit does not fit the recording.
    #[error("cannot apply the edit `{}`: {}", one_line(edit), one_line(reason))]
    Refused {
        /// The edit, as its author wrote it.
        edit: String,
        /// The problem and the remedy.
        reason: String,
    },
    /// A consequence of the edits cannot be applied to an object.
    #[error("cannot edit {}: {}", one_line(url), one_line(reason))]
    Object {
        /// The object that would change.
        url: String,
        /// The problem and the remedy.
        reason: String,
    },
    /// A page has no Early Hints.
    #[error("cannot send Early Hints for {}: {}", one_line(url), one_line(reason))]
    EarlyHints {
        /// The page.
        url: String,
        /// The problem and the remedy.
        reason: String,
    },
}

/// Why one edit or one object is refused, without its name, which the caller adds.
pub type Reason = String;
