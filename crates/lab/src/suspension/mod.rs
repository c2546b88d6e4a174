//! Detects suspended processes of a load: one that was stopped, or everything.
//!
//! The kernel tells a stop to the parent alone, and neither a browser's renderers nor its network
//! service are children of ours. So the states of the lab's processes are read from its own `/proc`, a
//! few times a second. Of ourselves it shows by how late we are: somebody who only waited for a
//! processor was not stopped, and the kernel counts such waits.

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
use processes::{read_whole, stopped};

/// Two looks fit into 200 ms, so that a suspension of this length is seen whenever it begins.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// We were suspended if we come this much later than due: with a look's pause 180 ms at most.
const OWN_LATENESS_MIN: Duration = Duration::from_millis(80);
/// The most suspensions that are reported; one is enough to judge.
const TOLD_MAX: usize = 32;

/// What its processor time is found by.
const THREAD: &str = "suspension";
const EVERYTHING: &str = "the lab";

/// A suspended process, and for how long.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suspension {
    process: String,
    /// The first look that saw it.
    at_ns: u64,
    /// Until the first look that saw it no more.
    ms: f64,
}

/// Watches until it is asked for what it saw.
pub struct SuspensionWatch {
    asked: mpsc::Sender<Ask>,
    thread: JoinHandle<Vec<Suspension>>,
}

enum Ask {
    Forget,
    End,
}

impl SuspensionWatch {
    /// None where `/proc` is not the lab's own: nobody can say which processes are a load's.
    pub fn start(processes: Processes, driver: Driver, realtime: bool) -> Option<Self> {
        if !processes.are_the_labs() {
            return None;
        }
        let (asked, asks) = mpsc::channel();
        let watching = move || {
            // Before browsers, as a path's ends are: a look must not come late because of a load.
            let _ = realtime && request_realtime(RealtimePriority::Endpoint);
            watch(&asks, &processes, &driver)
        };
        let named = thread::Builder::new().name(THREAD.into());
        let thread = named.spawn(watching).ok()?;
        Some(Self { asked, thread })
    }

    /// What to call for a next load begins: what was before it is not its.
    pub fn forgetting(&self) -> impl Fn() + Send + 'static {
        let asked = self.asked.clone();
        move || drop(asked.send(Ask::Forget))
    }

    /// The suspensions, in the order in which they ended.
    ///
    /// # Errors
    /// After a panic.
    pub fn end(self) -> Result<Vec<Suspension>, Error> {
        let _ = self.asked.send(Ask::End);
        join(self.thread, THREAD)
    }
}

fn watch(asks: &mpsc::Receiver<Ask>, processes: &Processes, driver: &Driver) -> Vec<Suspension> {
    let mut seen = Seen::default();
    let waits = File::open("/proc/thread-self/schedstat").ok();
    let mut waited = waits.as_ref().map_or(Duration::ZERO, waited_for_processor);
    let mut due = monotonic_now() + LOOK_EVERY;
    loop {
        let ask = asks.recv_timeout(due.since(monotonic_now()));
        let now = monotonic_now();
        let waited_now = waits.as_ref().map_or(Duration::ZERO, waited_for_processor);
        seen.take_lateness(due, now, waited_now.saturating_sub(waited));
        waited = waited_now;
        seen.take_stopped(now, stopped(processes, driver));
        match ask {
            Err(RecvTimeoutError::Timeout) => (),
            Ok(Ask::Forget) => seen.forget(now),
            Ok(Ask::End) | Err(RecvTimeoutError::Disconnected) => return seen.end(now),
        }
        due = now + LOOK_EVERY;
    }
}

/// What looks have shown so far; pure.
#[derive(Default)]
struct Seen {
    /// Of processes by number: name, and since when.
    still: BTreeMap<u32, (String, Instant)>,
    over: Vec<Suspension>,
}

impl Seen {
    /// We were `due` and are here `now`, after we had `waited` for a processor meanwhile.
    fn take_lateness(&mut self, due: Instant, now: Instant, waited: Duration) {
        let late = now.since(due).saturating_sub(waited);
        if late >= OWN_LATENESS_MIN {
            self.tell(EVERYTHING.to_owned(), due, now);
        }
    }

    fn take_stopped(&mut self, now: Instant, stopped: Vec<(u32, String)>) {
        let mut before = std::mem::take(&mut self.still);
        for (number, name) in stopped {
            let since = before.remove(&number).unwrap_or((name, now));
            self.still.insert(number, since);
        }
        for (name, since) in before.into_values() {
            self.tell(name, since, now);
        }
    }

    /// What still stands began `now`.
    fn forget(&mut self, now: Instant) {
        self.over.clear();
        for (_, since) in self.still.values_mut() {
            *since = now;
        }
    }

    fn end(mut self, now: Instant) -> Vec<Suspension> {
        self.take_stopped(now, Vec::new());
        self.over
    }

    fn tell(&mut self, process: String, since: Instant, until: Instant) {
        if self.over.len() < TOLD_MAX {
            self.over.push(Suspension {
                process,
                at_ns: since.as_nanos(),
                ms: until.since(since).as_secs_f64() * 1e3,
            });
        }
    }
}

/// Processor waits of the calling thread so far, where the kernel counts them.
fn waited_for_processor(schedstat: &File) -> Duration {
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

    fn told(seen: Seen, now: Instant) -> Vec<(String, u64, f64)> {
        let over = seen.end(now).into_iter();
        over.map(|each| (each.process, each.at_ns / 1_000_000, each.ms))
            .collect()
    }

    #[test]
    fn a_stop_lasts_from_the_first_look_that_saw_it_to_the_first_that_did_not() {
        let mut seen = Seen::default();
        let (first, second) = ((7, "first".to_owned()), (8, "second".to_owned()));
        seen.take_stopped(at(100), vec![first.clone()]);
        seen.take_stopped(at(200), vec![first, second.clone()]);
        seen.take_stopped(at(300), vec![second]);
        let expected = [
            ("first".to_owned(), 100, 200.0),
            ("second".to_owned(), 200, 400.0),
        ];
        assert_eq!(told(seen, at(600)), expected);
    }

    #[test]
    fn who_waited_for_a_processor_did_not_stand_still() {
        let mut seen = Seen::default();
        seen.take_lateness(at(100), at(400), Duration::from_millis(250));
        seen.take_lateness(at(500), at(579), Duration::ZERO);
        assert_eq!(told(seen, at(600)), []);
        let mut seen = Seen::default();
        seen.take_lateness(at(100), at(400), Duration::from_millis(220));
        assert_eq!(told(seen, at(600)), [("the lab".to_owned(), 100, 300.0)]);
    }

    #[test]
    fn a_next_load_has_what_still_stands_and_not_what_is_over() {
        let mut seen = Seen::default();
        let each = (7, "one".to_owned());
        seen.take_stopped(at(100), vec![each.clone()]);
        seen.take_stopped(at(200), vec![]);
        seen.take_stopped(at(300), vec![each]);
        seen.forget(at(350));
        assert_eq!(told(seen, at(400)), [("one".to_owned(), 350, 50.0)]);
    }
}
