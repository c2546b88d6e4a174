//! `eyelevel-lab path-check`: what the pure link says of a log.

use crate::Error;
use crate::config::load_stage_files;
use crate::emit::emit;
use eyelevel_path::check_log;
use eyelevel_units::refusal;
use std::fs::File;
use std::path::Path;

/// A check ran and found a difference; 1 is for a check that could not run.
const EXIT_DIFFERS: i32 = 2;

/// Feeds a log's arrivals to the link again and compares.
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
