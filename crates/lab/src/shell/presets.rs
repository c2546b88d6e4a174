//! Values from Python's tables: the networks by name, and the kinds of cross traffic.

use super::lab_process::sibling_program;
use crate::Error;
use eyelevel_link::StageSpec;
use serde::Deserialize;
use serde_json::Value;
use std::process::{Command, Stdio};

/// The output of the Python program that has the tables.
#[derive(Debug, Default, Deserialize)]
pub struct Tables {
    pub down: Vec<StageSpec>,
    pub up: Vec<StageSpec>,
    pub cross_traffic: Value,
}

/// Runs that program, if any value needs it.
pub fn query_tables(
    network: Option<&str>,
    traces: Option<&str>,
    cross: &[String],
) -> Result<Tables, Error> {
    if network.is_none() && traces.is_none() && cross.is_empty() {
        return Ok(Tables {
            cross_traffic: Value::Array(Vec::new()),
            ..Tables::default()
        });
    }
    let python = sibling_program("python3").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(&python);
    command.args(["-m", "eyelevel.plan.networks"]);
    command.args(network.iter().flat_map(|name| ["--network", name]));
    command.args(traces.iter().flat_map(|folder| ["--traces", folder]));
    command.args(cross.iter().flat_map(|text| ["--cross-traffic", text]));
    let failed = |reason: String| {
        Error::Shell(format!(
            "look a preset up: {reason}; install eyelevel again"
        ))
    };
    let done = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(format!("{}: {error}", python.display())))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(Error::Shell(said.trim().to_owned()));
    }
    serde_json::from_slice(&done.stdout).map_err(|error| failed(error.to_string()))
}
