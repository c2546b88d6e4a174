//! Detects suspended processes of a load: one that was stopped, or the whole lab.
//!
//! The kernel reports a stop only to the parent, and neither a browser's renderers nor its network
//! service are children of ours. So the states of the lab's processes are read from its own
//! `/proc`, a few times a second. A suspension of this process itself shows as lateness, minus the
//! time that it waited for a processor, which the kernel counts.

mod processes;

use crate::Error;
use crate::threads::join;
use eyelevel_netns::{RealtimePriority, monotonic_now, request_realtime};
use eyelevel_units::Instant;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub use processes::{Driver, Processes};
use processes::{find_stopped, read_whole};

/// The interval between samples; two fit into 200 ms, so that a suspension of this length is always
/// seen.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);
/// The lateness of a sample from which this process counts as suspended: with the sample interval,
/// 180 ms at most.
const OWN_LATENESS_MIN: Duration = Duration::from_millis(80);
/// The most suspensions that are reported; one is enough to judge.
const SUSPENSIONS_MAX: usize = 32;

/// The thread's name, by which its processor time is found.
const THREAD: &str = "suspension";
const EVERYTHING: &str = "the lab";

/// A suspended process, and the duration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suspension {
    process: String,
    /// The time of the first sample that saw it.
    at_ns: u64,
    /// The duration until the first sample that no longer saw it.
    ms: f64,
}

/// A thread that watches for suspensions.
pub struct SuspensionWatch {
    commands: mpsc::Sender<Command>,
    thread: JoinHandle<Vec<Suspension>>,
}

enum Command {
    Forget,
    End,
}

impl SuspensionWatch {
    /// Starts the watch, or returns `None` if `/proc` is not the lab's own, so that a load's
    /// processes cannot be identified.
    pub fn start(processes: Processes, driver: Driver, realtime: bool) -> Option<Self> {
        if !processes.is_labs_own() {
            return None;
        }
        let (sender, commands) = mpsc::channel();
        let watching = move || {
            // Before browsers, like a path's threads: a sample must not be late because of a load.
            let _ = realtime && request_realtime(RealtimePriority::Endpoint);
            watch(&commands, &processes, &driver)
        };
        let named = thread::Builder::new().name(THREAD.into());
        let thread = named.spawn(watching).ok()?;
        Some(Self {
            commands: sender,
            thread,
        })
    }

    /// Returns a function to call when the next load begins, which discards what was seen before.
    pub fn forget_callback(&self) -> impl Fn() + Send + 'static {
        let commands = self.commands.clone();
        move || drop(commands.send(Command::Forget))
    }

    /// Returns the suspensions, in the order in which they ended.
    ///
    /// # Errors
    ///
    /// Fails after a panic.
    pub fn end(self) -> Result<Vec<Suspension>, Error> {
        let _ = self.commands.send(Command::End);
        join(self.thread, THREAD)
    }
}

fn watch(
    commands: &mpsc::Receiver<Command>,
    processes: &Processes,
    driver: &Driver,
) -> Vec<Suspension> {
    let mut seen = Detector::default();
    let waits = File::open("/proc/thread-self/schedstat").ok();
    let mut waited = waits.as_ref().map_or(Duration::ZERO, read_processor_wait);
    let mut due = monotonic_now() + SAMPLE_INTERVAL;
    loop {
        let ask = commands.recv_timeout(due.since(monotonic_now()));
        let now = monotonic_now();
        let waited_now = waits.as_ref().map_or(Duration::ZERO, read_processor_wait);
        seen.add_sample(due, now, waited_now.saturating_sub(waited));
        waited = waited_now;
        seen.update_stopped(now, find_stopped(processes, driver));
        match ask {
            Err(RecvTimeoutError::Timeout) => (),
            Ok(Command::Forget) => seen.forget(now),
            Ok(Command::End) | Err(RecvTimeoutError::Disconnected) => return seen.end(now),
        }
        due = now + SAMPLE_INTERVAL;
    }
}

/// The state of the detection, without input or output.
#[derive(Default)]
struct Detector {
    /// Stopped processes by number, with name and start.
    still: BTreeMap<u32, (String, Instant)>,
    over: Vec<Suspension>,
}

impl Detector {
    /// Records a sample that was `due` and taken `now`, after `waited` for a processor meanwhile.
    fn add_sample(&mut self, due: Instant, now: Instant, waited: Duration) {
        let late = now.since(due).saturating_sub(waited);
        if late >= OWN_LATENESS_MIN {
            self.add(EVERYTHING.to_owned(), due, now);
        }
    }

    fn update_stopped(&mut self, now: Instant, stopped: Vec<(u32, String)>) {
        let mut before = std::mem::take(&mut self.still);
        for (number, name) in stopped {
            let since = before.remove(&number).unwrap_or((name, now));
            self.still.insert(number, since);
        }
        for (name, since) in before.into_values() {
            self.add(name, since, now);
        }
    }

    /// Discards the past; current suspensions begin `now`.
    fn forget(&mut self, now: Instant) {
        self.over.clear();
        for (_, since) in self.still.values_mut() {
            *since = now;
        }
    }

    fn end(mut self, now: Instant) -> Vec<Suspension> {
        self.update_stopped(now, Vec::new());
        self.over
    }

    fn add(&mut self, process: String, since: Instant, until: Instant) {
        if self.over.len() < SUSPENSIONS_MAX {
            self.over.push(Suspension {
                process,
                at_ns: since.as_nanos(),
                ms: until.since(since).as_secs_f64() * 1e3,
            });
        }
    }
}

/// Returns how long the calling thread has waited for a processor, if the kernel counts it.
fn read_processor_wait(schedstat: &File) -> Duration {
    let text = read_whole(schedstat).unwrap_or_default();
    let field = text.split_whitespace().nth(1);
    Duration::from_nanos(field.and_then(|ns| ns.parse().ok()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn end_and_round(seen: Detector, now: Instant) -> Vec<(String, u64, f64)> {
        let over = seen.end(now).into_iter();
        over.map(|each| (each.process, each.at_ns / 1_000_000, each.ms))
            .collect()
    }

    #[test]
    fn a_stop_lasts_from_its_first_sample_to_the_first_without_it() {
        let mut seen = Detector::default();
        let (first, second) = ((7, "first".to_owned()), (8, "second".to_owned()));
        seen.update_stopped(at(100), vec![first.clone()]);
        seen.update_stopped(at(200), vec![first, second.clone()]);
        seen.update_stopped(at(300), vec![second]);
        let expected = [
            ("first".to_owned(), 100, 200.0),
            ("second".to_owned(), 200, 400.0),
        ];
        assert_eq!(end_and_round(seen, at(600)), expected);
    }

    #[test]
    fn processor_waits_are_not_suspensions() {
        let mut seen = Detector::default();
        seen.add_sample(at(100), at(400), Duration::from_millis(250));
        seen.add_sample(at(500), at(579), Duration::ZERO);
        assert_eq!(end_and_round(seen, at(600)), []);
        let mut seen = Detector::default();
        seen.add_sample(at(100), at(400), Duration::from_millis(220));
        assert_eq!(
            end_and_round(seen, at(600)),
            [("the lab".to_owned(), 100, 300.0)]
        );
    }

    #[test]
    fn a_next_load_has_only_current_suspensions() {
        let mut seen = Detector::default();
        let each = (7, "one".to_owned());
        seen.update_stopped(at(100), vec![each.clone()]);
        seen.update_stopped(at(200), vec![]);
        seen.update_stopped(at(300), vec![each]);
        seen.forget(at(350));
        assert_eq!(
            end_and_round(seen, at(400)),
            [("one".to_owned(), 350, 50.0)]
        );
    }
}
