use super::TcpInfo;
use crate::LineLog;
use serde::Serialize;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// Twice in the shortest round trip of the preset networks; a look costs a microsecond.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(5);

/// One look at a TCP connection.
#[derive(Debug, Serialize)]
struct Sample<'a> {
    at_ns: u64,
    connection: u64,
    /// `accepted`, `ready` (the TLS handshake is complete), `sample` or `closed`.
    event: &'static str,
    #[serde(flatten)]
    info: &'a TcpInfo,
}

/// Writes down what the kernel says of a connection, again and again.
pub(super) struct Sampler {
    log: Arc<LineLog>,
    connection: u64,
    interval: Interval,
}

impl Sampler {
    /// For the connection of that number.
    pub fn new(log: Arc<LineLog>, connection: u64) -> Self {
        let mut interval = interval(SAMPLE_INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            log,
            connection,
            interval,
        }
    }

    /// Ready when it is time for a sample; the caller's task is woken at the next one.
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
