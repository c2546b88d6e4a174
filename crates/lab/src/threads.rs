//! The threads besides the servers': resolver and path, and what all threads share.

use crate::Error;
use crate::emit::emit;
use eyelevel_archive::Origin;
use eyelevel_netns::{RealtimePriority, monotonic_now, request_realtime, set_timer_slack_minimum};
use eyelevel_path::{Path, PathState, PathSummary, Watch};
use eyelevel_replay::dns;
use serde::Serialize;
use std::net::IpAddr;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The resolver's address on the client's own loopback: its packets never pass the emulated path,
/// so that a lost one cannot decide a page load.
pub const NAMESERVER: &str = "127.0.0.1";

/// Starts the resolver, a thread in the client's network namespace.
pub fn start_resolver(origins: &[Origin], realtime: bool) -> Result<(), Error> {
    let table = dns::table(origins.iter().map(|o| (o.host.as_str(), o.address)));
    let (ready, bound) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let _ = realtime && request_realtime(RealtimePriority::Endpoint);
        let runtime = match runtime() {
            Ok(runtime) => runtime,
            Err(error) => return drop(ready.send(Err(error))),
        };
        runtime.block_on(async {
            let address = (NAMESERVER.parse::<IpAddr>().expect("a literal"), 53).into();
            match dns::Responder::bind(address, table).await {
                Ok(responder) => {
                    let _ = ready.send(Ok(()));
                    responder.run().await;
                }
                Err(error) => drop(ready.send(Err(error.into()))),
            }
        });
    });
    bound.recv().unwrap_or_else(|_| {
        Err(Error::Thread {
            part: "resolver",
            reason: "it did not start".into(),
        })
    })
}

/// Emits the path's counts at an interval until the lab ends.
pub fn start_watch(watch: Watch, interval_ms: u64) {
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_millis(interval_ms));
            emit(&PathEvent {
                at_ns: clock_ns(),
                state: watch.read(),
            });
        }
    });
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "path")]
struct PathEvent {
    at_ns: u64,
    #[serde(flatten)]
    state: PathState,
}

pub fn start_path(
    path: Path,
    realtime: bool,
) -> Result<(JoinHandle<Result<PathSummary, Error>>, bool), Error> {
    let (ready, started) = mpsc::sync_channel(1);
    let thread = thread::spawn(move || {
        set_timer_slack_minimum();
        let realtime = realtime && request_realtime(RealtimePriority::Path);
        let _ = ready.send(realtime);
        Ok(path.run(realtime)?)
    });
    let realtime = started.recv().unwrap_or_default();
    Ok((thread, realtime))
}

pub fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Error::Thread {
            part: "runtime",
            reason: e.to_string(),
        })
}

pub fn join<T>(thread: JoinHandle<T>, part: &'static str) -> Result<T, Error> {
    thread.join().map_err(|_| Error::Thread {
        part,
        reason: "a panic, reported above".into(),
    })
}

pub fn clock_ns() -> u64 {
    monotonic_now().as_nanos()
}

/// Returns the processor time of one of this process's threads, or `None` if the kernel does not
/// account for it.
pub fn cpu_ns(tid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{tid}/schedstat")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}
