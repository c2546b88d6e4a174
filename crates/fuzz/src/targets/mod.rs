//! Fuzz targets, one parser per file, grouped by the part that reads.

pub(crate) mod paths;
pub(crate) mod prober;
pub(crate) mod servers;
pub(crate) mod sites;

/// Checks that a message is one line and not empty.
pub(crate) fn check_message(error: &impl std::fmt::Display) {
    let message = error.to_string();
    assert!(!message.is_empty(), "an empty message");
    assert!(!message.contains('\n'), "not one line: {message:?}");
}
