//! The command at the far end of a path, which is started first and ended last.

use super::lab_process::{Ready, ends_within};
use super::remarks::print_error;
use crate::Error;
use eyelevel_netns::end_command;
use eyelevel_units::refusal;
use std::fs::{read_link, read_to_string};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The wait for a listener: servers listen within milliseconds; a command that never does waits
/// this once.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(1);

/// The time between the request to end and the end of the lab, which nothing survives.
const END_TIMEOUT: Duration = Duration::from_secs(2);

const POLL: Duration = Duration::from_millis(2);

/// The listening state in /proc/net/tcp (include/net/tcp_states.h).
const TCP_LISTEN: &str = "0A";

/// A running command, ended on drop.
pub struct FarCommand(Child);

impl FarCommand {
    /// Runs `command` with `sh -c` at the far end and waits until something listens there, the
    /// command has ended, or [`LISTEN_TIMEOUT`] has passed. Its output goes to standard error, so
    /// that the near command's output can be piped.
    pub fn start(command: &str, ready: &Ready) -> Result<Self, Error> {
        let failed =
            |error: io::Error| Error::Shell(format!("run `{command}`: {}", refusal(&error)));
        let words = ["/bin/sh", "-c", command].map(str::to_owned);
        let output = io::stderr().as_fd().try_clone_to_owned().map_err(failed)?;
        let mut process = ready
            .command(Some(ready.server_tid), &words)?
            .stdin(Stdio::null())
            .stdout(output)
            // Ctrl-C is for the near command; this one ends with the path.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        await_listener(&mut process);
        if let Ok(Some(status)) = process.try_wait()
            && let Some(code) = status.code().filter(|code| *code != 0)
        {
            print_error(&format!(
                "the far command `{command}` ended at once with status {code}; correct it"
            ));
        }
        Ok(Self(process))
    }
}

impl Drop for FarCommand {
    /// Ends the command itself, so that the process that entered the lab for it reaps it and ends,
    /// too. If that one ended first, the command would become the child of a process outside, which
    /// may reap late, and the lab cannot end before all processes inside are reaped.
    fn drop(&mut self) {
        for kill in [false, true] {
            if let Ok(Some(_)) = self.0.try_wait() {
                return;
            }
            end_command(&self.0, kill);
            if ends_within(&mut self.0, END_TIMEOUT) {
                return;
            }
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn await_listener(process: &mut Child) {
    let entered = PathBuf::from(format!("/proc/{}", process.id()));
    let outside = read_link("/proc/self/ns/net").ok();
    let deadline = Instant::now() + LISTEN_TIMEOUT;
    while Instant::now() < deadline && matches!(process.try_wait(), Ok(None)) {
        let inside = read_link(entered.join("ns/net")).ok();
        if inside.is_some() && inside != outside && is_listening(&entered) {
            return;
        }
        thread::sleep(POLL);
    }
}

/// Whether a TCP socket listens or a UDP socket is bound in the process's network namespace.
fn is_listening(entered: &Path) -> bool {
    let table = |name: &str| read_to_string(entered.join("net").join(name)).unwrap_or_default();
    let tcp = ["tcp", "tcp6"].map(table).iter().any(|text| {
        let mut states = text
            .lines()
            .skip(1)
            .filter_map(|line| line.split_whitespace().nth(3));
        states.any(|state| state == TCP_LISTEN)
    });
    tcp || ["udp", "udp6"]
        .map(table)
        .iter()
        .any(|text| text.lines().count() > 1)
}
