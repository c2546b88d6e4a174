use std::io::{Error, ErrorKind};

/// System errors with their remedies. `REFUSALS` of `eyelevel/base/errors.py` has the same ones,
/// and `tests/crates/test_remedies.py` compares both.
const REMEDIES: [(ErrorKind, &str); 12] = [
    (
        ErrorKind::NotFound,
        "check its name, as seen from this folder",
    ),
    (
        ErrorKind::PermissionDenied,
        "change its permissions, or run this as a user who is allowed to",
    ),
    (ErrorKind::IsADirectory, "name a file"),
    (ErrorKind::NotADirectory, "name a folder"),
    (ErrorKind::AlreadyExists, "name another one"),
    (
        ErrorKind::StorageFull,
        "make room on it, then run this again",
    ),
    (ErrorKind::QuotaExceeded, "make room, then run this again"),
    (
        ErrorKind::ReadOnlyFilesystem,
        "choose a place on another disk",
    ),
    (ErrorKind::InvalidFilename, "give it a shorter name"),
    (ErrorKind::AddrInUse, "name another port"),
    (ErrorKind::OutOfMemory, "end other programs"),
    (
        ErrorKind::InvalidData,
        "give one that is whole, in the format that is asked for",
    ),
];

const OTHERWISE: &str = "check that it is there and can be used";

/// Formats a system error with its remedy.
pub fn refusal(error: &Error) -> String {
    let known = REMEDIES.iter().find(|(kind, _)| *kind == error.kind());
    let way_out = known.map_or(OTHERWISE, |(_, way_out)| way_out);
    format!("{error}; {way_out}")
}

#[cfg(test)]
mod tests {
    use super::{ErrorKind, refusal};

    #[test]
    fn every_refusal_has_a_remedy() {
        let absent = std::fs::read("/none/such").unwrap_err();
        assert!(
            refusal(&absent).ends_with("(os error 2); check its name, as seen from this folder")
        );
        let other = ErrorKind::ConnectionReset.into();
        assert!(refusal(&other).ends_with("; check that it is there and can be used"));
    }
}
