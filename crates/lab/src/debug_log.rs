//! The lab's debug log, on request: traces of its threads, and of h2, noq and rustls.

use crate::threads::clock_ns;
use eyelevel_replay::LineLog;
use std::fmt;
use std::sync::Arc;
use tracing::Level;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

/// A clock in seconds of `CLOCK_MONOTONIC`, as in records, captures and other logs.
struct Monotonic;

impl FormatTime for Monotonic {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        let now_ns = clock_ns();
        let (s, us) = (now_ns / 1_000_000_000, now_ns / 1000 % 1_000_000);
        write!(writer, "{s}.{us:06}")
    }
}

/// Writes everything up to the level DEBUG to `log`, from now on and for the whole process.
pub fn start(log: Arc<LineLog>) {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(Level::DEBUG)
        .with_ansi(false)
        .with_timer(Monotonic)
        .with_thread_names(true)
        .with_writer(log);
    // A process has one lab, so that nothing else can have set a subscriber.
    let _ = subscriber.try_init();
}
