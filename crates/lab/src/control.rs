//! What ends a lab: a command, the end of its input, or a signal.

use crate::Error;
use crate::emit::{ErrorEvent, emit};
use crate::threads::runtime;
use std::io::BufRead;
use std::sync::mpsc;
use std::thread;

/// Blocks until a command, the end of the input or a signal asks for the end.
pub fn wait_for_stop(commands: impl BufRead + Send + 'static) -> Result<(), Error> {
    let (asked, stop) = mpsc::channel();
    let on_signal = asked.clone();
    thread::spawn(move || {
        for line in commands.lines() {
            let Ok(line) = line else { break };
            if serde_json::from_str::<Command>(&line).is_ok() {
                break;
            }
            emit(&ErrorEvent {
                message: format!("unknown command {line:?}; known: stop"),
            });
        }
        let _ = asked.send(());
    });
    let runtime = runtime()?;
    thread::spawn(move || {
        runtime.block_on(signalled());
        let _ = on_signal.send(());
    });
    let _ = stop.recv();
    Ok(())
}

#[derive(serde::Deserialize)]
#[serde(tag = "command", rename_all = "lowercase", deny_unknown_fields)]
enum Command {
    Stop,
}

async fn signalled() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => (),
        _ = terminate.recv() => (),
    }
}
