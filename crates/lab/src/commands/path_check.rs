//! `eyelevel-lab path-check`: compares a path log with the pure link.

use crate::Error;
use crate::config::load_stage_files;
use crate::emit::emit;
use eyelevel_path::check_log;
use eyelevel_units::refusal;
use std::fs::File;
use std::path::Path;

/// The exit status of a check that found a difference; 1 is for a check that could not run.
const EXIT_DIFFERS: i32 = 2;

/// Replays a log's arrivals through the link and compares the results.
pub fn run(file: &Path) -> Result<i32, Error> {
    let failed = |error: &dyn std::fmt::Display| {
        Error::Config(format!("check the path log {}: {error}", file.display()))
    };
    let opened = File::open(file).map_err(|error| failed(&refusal(&error)))?;
    let found = check_log(opened, &mut |stage| {
        load_stage_files(stage).map_err(|error| error.to_string())
    })
    .map_err(|error| failed(&error))?;
    emit(&found);
    Ok(if found.differences.is_empty() {
        0
    } else {
        EXIT_DIFFERS
    })
}
