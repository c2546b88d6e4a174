use super::TcpInfo;
use crate::LineLog;
use serde::Serialize;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// The interval of samples: two in the shortest round trip of the preset networks; a sample costs a
/// microsecond.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(5);

/// One sample of a TCP connection.
#[derive(Debug, Serialize)]
struct Sample<'a> {
    at_ns: u64,
    connection: u64,
    /// `accepted`, `ready` (the TLS handshake is complete), `sample` or `closed`.
    event: &'static str,
    #[serde(flatten)]
    info: &'a TcpInfo,
}

/// A periodic log of the kernel's state of a connection.
pub(super) struct Sampler {
    log: Arc<LineLog>,
    connection: u64,
    interval: Interval,
}

impl Sampler {
    /// Creates the sampler of the connection with that number.
    pub fn new(log: Arc<LineLog>, connection: u64) -> Self {
        let mut interval = interval(SAMPLE_INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            log,
            connection,
            interval,
        }
    }

    /// Returns ready when a sample is due; the caller's task is woken at the next one.
    pub fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut due = Poll::Pending;
        while self.interval.poll_tick(context).is_ready() {
            due = Poll::Ready(());
        }
        due
    }

    pub fn write(&self, at_ns: u64, event: &'static str, info: &TcpInfo) {
        self.log.json(&Sample {
            at_ns,
            connection: self.connection,
            event,
            info,
        });
    }
}
