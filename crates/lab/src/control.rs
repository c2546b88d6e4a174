//! Commands to a running lab, and its end: by a command, the end of its input, or a signal.

use crate::Error;
use crate::emit::{ErrorEvent, emit};
use crate::threads::runtime;
use std::io::BufRead;
use std::sync::mpsc;
use std::thread;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A handler for SIGINT and SIGTERM, active from its creation. Before, process 1 of a process
/// namespace ignores them, so it is created before the lab is announced.
pub struct Signals {
    runtime: Runtime,
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub fn listen() -> Result<Self, Error> {
        let runtime = runtime()?;
        let guard = runtime.enter();
        let heard = |kind| {
            signal(kind).map_err(|error| Error::Thread {
                part: "signals",
                reason: error.to_string(),
            })
        };
        let interrupt = heard(SignalKind::interrupt())?;
        let terminate = heard(SignalKind::terminate())?;
        drop(guard);
        Ok(Self {
            runtime,
            interrupt,
            terminate,
        })
    }

    fn wait(mut self) {
        self.runtime.block_on(async {
            tokio::select! {
                _ = self.interrupt.recv() => (),
                _ = self.terminate.recv() => (),
            }
        });
    }
}

/// Blocks until a command, the end of the input or a signal requests the end. `revisit` begins the
/// next page load.
pub fn wait_for_stop(
    commands: impl BufRead + Send + 'static,
    signals: Signals,
    revisit: impl Fn() + Send + 'static,
) {
    let (stop_sender, stop) = mpsc::channel();
    let on_signal = stop_sender.clone();
    thread::spawn(move || {
        for line in commands.lines() {
            let Ok(line) = line else { break };
            match serde_json::from_str(&line) {
                Ok(Command::Stop) => break,
                Ok(Command::Revisit) => revisit(),
                Err(_) => emit(&ErrorEvent {
                    message: format!("unknown command {line:?}; known: stop, revisit"),
                }),
            }
        }
        let _ = stop_sender.send(());
    });
    thread::spawn(move || {
        signals.wait();
        let _ = on_signal.send(());
    });
    let _ = stop.recv();
}

#[derive(serde::Deserialize)]
#[serde(tag = "command", rename_all = "lowercase", deny_unknown_fields)]
enum Command {
    Stop,
    Revisit,
}
