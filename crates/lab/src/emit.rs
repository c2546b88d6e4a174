//! Events as JSON lines on standard output, written atomically by any thread.

use serde::Serialize;
use std::io::Write;

/// Writes an event. A closed reader is detected elsewhere, by the end of standard input.
pub fn emit(event: &impl Serialize) {
    let _ = write(event);
}

/// Writes an event, or exits if the reader is gone: abandoned probes must not overlap those of a
/// process started in its place.
pub fn emit_or_exit(event: &impl Serialize) {
    if write(event).is_err() {
        std::process::exit(1);
    }
}

fn write(event: &impl Serialize) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(event).expect("events hold no maps with foreign keys");
    tracing::debug!(target: "eyelevel_lab::event", "{}", String::from_utf8_lossy(&line));
    line.push(b'\n');
    let mut output = std::io::stdout().lock();
    output.write_all(&line)?;
    output.flush()
}

/// The last event of a lab that failed.
#[derive(Serialize)]
#[serde(tag = "event", rename = "error")]
pub struct ErrorEvent {
    /// The attempt, subject and remedy.
    pub message: String,
}
