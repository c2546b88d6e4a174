use super::stages;
use crate::targets::check_message;
use eyelevel_link::StageSpec;
use eyelevel_units::one_line;

/// Parses stages in the JSON form of configurations and logs.
pub(crate) fn run(input: &[u8]) {
    match serde_json::from_slice::<Vec<StageSpec>>(input) {
        Ok(list) => stages::check(list),
        Err(error) => check_message(&one_line(&error.to_string())),
    }
}
