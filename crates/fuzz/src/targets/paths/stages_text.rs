use super::stages;
use crate::targets::check_message;
use eyelevel_link::StageSpec;

/// Parses stages in the text form of the shell.
pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    match StageSpec::parse_text(text) {
        Ok(list) => stages::check(list),
        Err(error) => check_message(&error),
    }
}
