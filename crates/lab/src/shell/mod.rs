//! `eyelevel path`: runs a command behind an emulated path. It runs without Python, which alone
//! takes longer to start than the path does.

mod arguments;
mod cross_traffic;
mod far;
mod lab_process;
mod presets;
mod remarks;
mod table;
mod watch;

pub use arguments::ShellArguments;
pub use remarks::print_error;

use crate::Error;
use eyelevel_netns::{block_signals, pending_signal, relay_signals_to, wait_for_child};
use eyelevel_units::refusal;
use far::FarCommand;
use lab_process::{LabProcess, Ready};
use std::process::Command;
use watch::{View, WATCH_INTERVAL_MS};

/// The number that shells add to a signal for the exit status of a process that it ended.
const SIGNAL_EXIT: i32 = 128;

/// Runs the command behind the path. Returns its exit status.
pub fn run(arguments: &ShellArguments) -> Result<i32, Error> {
    let view = arguments.watch.then(View::default);
    let mut config = arguments.config()?;
    if view.is_some() {
        config["watch_interval_ms"] = WATCH_INTERVAL_MS.into();
    }
    // Signals wait until the path is complete, or gone; in between they are the command's to
    // handle.
    block_signals()?;
    let lab = LabProcess::start(&config, view.clone())?;
    let status = run_inside(arguments, &lab.ready, view.as_ref());
    let summary = lab.stop();
    let (status, summary) = (status?, summary?);
    if let Some(found) = &summary["cross_traffic"].as_object() {
        cross_traffic::report(found, arguments.log.as_deref())?;
    }
    remarks::report(&summary["path"], arguments.log.as_deref());
    Ok(status)
}

fn run_inside(
    arguments: &ShellArguments,
    ready: &Ready,
    view: Option<&View>,
) -> Result<i32, Error> {
    let _far = arguments
        .far
        .as_deref()
        .map(|command| FarCommand::start(command, ready))
        .transpose()?;
    if let Some(signal) = pending_signal() {
        return Ok(SIGNAL_EXIT + signal);
    }
    let mut command = ready.command(None, &arguments.command_or_shell())?;
    let output = view.map(|_| capture_output(&mut command)).transpose()?;
    let started = command.spawn();
    // It holds the writing ends of the pipe, which would otherwise never end.
    drop(command);
    let mut child =
        started.map_err(|error| Error::Shell(format!("run a command: {}", refusal(&error))))?;
    relay_signals_to(&child)?;
    if let Some((view, output)) = view.zip(output) {
        view.follow(output);
    }
    let status = wait_for_child(&mut child)?;
    if let Some(view) = view {
        view.end();
    }
    Ok(status)
}

/// Joins both outputs of `command` in one pipe.
fn capture_output(command: &mut Command) -> Result<std::io::PipeReader, Error> {
    let made = std::io::pipe().and_then(|(reader, writer)| {
        command.stdout(writer.try_clone()?).stderr(writer);
        Ok(reader)
    });
    made.map_err(|error| {
        Error::Shell(format!(
            "make a pipe for the command's output: {}",
            refusal(&error)
        ))
    })
}
