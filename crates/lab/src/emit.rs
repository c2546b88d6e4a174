//! Events: JSON lines on standard output, whole lines only, whichever thread writes them.

use serde::Serialize;
use std::io::Write;

/// Writes one event. A reader that is gone is noticed elsewhere: its end of standard input closes.
pub fn emit(event: &impl Serialize) {
    let _ = write(event);
}

/// Writes one event, or ends the process where its reader is gone: probes that nobody waits for
/// must not overlap those of whoever was started in its place.
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

/// The last event of a lab that could not go on.
#[derive(Serialize)]
#[serde(tag = "event", rename = "error")]
pub struct ErrorEvent {
    /// The attempt, its subject and the remedy.
    pub message: String,
}
