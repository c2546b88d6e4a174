//! The lab that a shell runs in: a separate process with the usual protocol (`spec/lab-events.md`).

use super::watch::View;
use crate::Error;
use eyelevel_netns::allowed_cores;
use eyelevel_units::refusal;
use serde::Deserialize;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// The wait for a lab, which is up in 30 ms on a quiet machine; a busy one may take many times
/// that.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// The wait for the summary after the stop command; then the lab is killed.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// How much of the lab's standard error a message quotes.
const ERROR_BYTES_MAX: u64 = 4000;

/// What a command inside needs from the lab's `ready` event.
#[derive(Debug, Deserialize)]
pub struct Ready {
    init_pid: u32,
    pub server_tid: u32,
    server_address: String,
    server_address6: Option<String>,
    reserved_cores: Option<Vec<usize>>,
}

impl Ready {
    /// Returns a command that runs `words` on the client's side, or on that of the thread
    /// `server_tid`, with the far end's addresses in its environment.
    pub fn command(&self, server_tid: Option<u32>, words: &[String]) -> Result<Command, Error> {
        let mut command = Command::new(own_binary()?);
        command.args(["enter", "--pid", &self.init_pid.to_string()]);
        if let Some(thread) = server_tid {
            command.args(["--server-tid", &thread.to_string()]);
        }
        if let Some(cores) = self.cores(server_tid.is_some()) {
            command.args(["--cores", &cores.join(",")]);
        }
        command.arg("--").args(words);
        let own = [
            ("FAR", self.server_address.as_str()),
            ("FAR6", self.server_address6.as_deref().unwrap_or_default()),
        ];
        for (name, address) in own {
            if let Some(outer) = std::env::var_os(format!("EYELEVEL_{name}")) {
                command.env(format!("EYELEVEL_OUTER_{name}"), outer);
            }
            command.env(format!("EYELEVEL_{name}"), address);
        }
        // bash reads its own prompt from a file; it runs this command before the prompt.
        command.env(
            "PROMPT_COMMAND",
            "PS1=\"[path] $PS1\"; unset PROMPT_COMMAND",
        );
        Ok(command)
    }

    /// Returns the caller's cores without the reserved one for a near command, and the lab's own
    /// for one at the far end; `None` for all.
    fn cores(&self, is_far: bool) -> Option<Vec<String>> {
        let kept = self.reserved_cores.as_ref()?;
        let near = allowed_cores().ok()?.into_iter();
        let cores = near.filter(|core| kept.contains(core) == is_far);
        Some(cores.map(|core| core.to_string()).collect())
    }
}

/// A running lab, killed on drop.
pub struct LabProcess {
    pub ready: Ready,
    running: Running,
}

struct Running {
    process: Child,
    input: Option<ChildStdin>,
    events: Receiver<Value>,
    errors: Option<thread::JoinHandle<String>>,
}

impl LabProcess {
    /// Starts the lab; the events of its `path` go to `view`.
    pub fn start(config: &Value, view: Option<View>) -> Result<Self, Error> {
        let failed = |error| Error::Shell(format!("start the lab: {}", refusal(&error)));
        // A separate process group, because a terminal's Ctrl-C is for the command.
        let mut process = Command::new(own_binary()?)
            .arg("up")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let (sender, events) = mpsc::channel();
        if let Some(output) = process.stdout.take() {
            thread::spawn(move || read_events(output, &sender, view.as_ref()));
        }
        let errors = process.stderr.take().map(|errors| {
            thread::spawn(move || {
                let mut text = String::new();
                let _ = errors.take(ERROR_BYTES_MAX).read_to_string(&mut text);
                text
            })
        });
        let mut running = Running {
            input: process.stdin.take(),
            process,
            events,
            errors,
        };
        running.send(&config.to_string());
        let ready = running.await_event("ready", READY_TIMEOUT)?;
        let ready = serde_json::from_value(ready).map_err(|error| {
            Error::Shell(format!(
                "read the lab's `ready`: {error}; install eyelevel again"
            ))
        })?;
        Ok(Self { ready, running })
    }

    /// Stops the lab in order. Returns its `summary` event.
    pub fn stop(mut self) -> Result<Value, Error> {
        self.running.send("{\"command\": \"stop\"}");
        self.running.await_event("summary", STOP_TIMEOUT)
    }
}

impl Running {
    /// Sends a command. A broken pipe is ignored: the lab has ended, and its last event has the
    /// reason.
    fn send(&mut self, line: &str) {
        if let Some(input) = &mut self.input {
            let _ = input.write_all(format!("{line}\n").as_bytes());
        }
    }

    fn await_event(&mut self, kind: &str, timeout: Duration) -> Result<Value, Error> {
        let deadline = Instant::now() + timeout;
        let mut last_error = None;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(event) if event["event"] == kind => return Ok(event),
                Ok(event) if event["event"] == "error" => {
                    let message = event["message"].as_str().unwrap_or_default().to_owned();
                    if kind == "ready" {
                        return Err(Error::Shell(message));
                    }
                    last_error = Some(message);
                }
                Ok(_) => (),
                Err(RecvTimeoutError::Timeout) => {
                    let waited = timeout.as_secs();
                    let message = format!(
                        "the lab gave no `{kind}` within {waited} s; run `eyelevel doctor` to see what \
                         this machine lacks"
                    );
                    return Err(Error::Shell(message));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let reason = last_error.unwrap_or_else(|| self.read_last_errors());
                    return Err(Error::Shell(format!("the lab ended: {reason}")));
                }
            }
        }
    }

    fn read_last_errors(&mut self) -> String {
        let stderr_text = self.errors.take().and_then(|reader| reader.join().ok());
        match stderr_text.as_deref().map(str::trim) {
            None | Some("") => "it said nothing; run `eyelevel doctor`".to_owned(),
            Some(text) => text.to_owned(),
        }
    }
}

impl Drop for Running {
    /// Closing its input ends the lab; the kernel then ends everything inside.
    fn drop(&mut self) {
        drop(self.input.take());
        if !ends_within(&mut self.process, Duration::from_secs(1)) {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

/// Whether `process` ends within `limit`.
pub fn ends_within(process: &mut Child, limit: Duration) -> bool {
    const STEP: Duration = Duration::from_millis(1);
    let deadline = Instant::now() + limit;
    loop {
        match process.try_wait() {
            Ok(None) if Instant::now() < deadline => thread::sleep(STEP),
            Ok(None) => return false,
            Ok(Some(_)) | Err(_) => return true,
        }
    }
}

fn read_events(output: ChildStdout, sender: &Sender<Value>, view: Option<&View>) {
    for line in BufReader::new(output).lines() {
        let Ok(line) = line else { return };
        let event = serde_json::from_str(&line).unwrap_or_else(
            |_| serde_json::json!({"event": "error", "message": format!("the lab wrote {line:?}; install eyelevel again")}),
        );
        if event["event"] != "path" {
            if sender.send(event).is_err() {
                return;
            }
        } else if let Some(view) = view {
            view.update(&event);
        }
    }
}

fn own_binary() -> Result<PathBuf, Error> {
    std::env::current_exe()
        .map_err(|error| Error::Shell(format!("find this program: {}", refusal(&error))))
}

/// Returns the path of a program in this one's folder.
pub fn sibling_program(name: &str) -> Option<PathBuf> {
    let path = own_binary().ok()?.with_file_name(name);
    path.exists().then_some(path)
}
