use super::StreamId;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// The bytes held by a transport that sends stream by stream, and the order of its chunks.
///
/// noq sends all that a stream holds before it turns to the next with data, in the order in which
/// streams got data. A chunk for a stream that still holds an earlier one would thus overtake other
/// streams' chunks: it waits until the earlier one has left.
#[derive(Debug)]
pub(super) struct Sending {
    /// Whether chunks leave in the order in which they were granted; else the transport decides.
    ordered: bool,
    streams: HashMap<u64, StreamState>,
    numbers: HashMap<StreamId, u64>,
    unsent: u64,
    /// The response whose chunk the transport has not accepted yet.
    handed: Option<StreamId>,
    /// The response that got the last chunk.
    last: Option<StreamId>,
    /// Streams that refused data.
    refused: HashSet<u64>,
    refused_watch: Stopwatch,
    dry_watch: Stopwatch,
}

/// A stopwatch for how long a condition holds.
#[derive(Debug, Default)]
struct Stopwatch {
    since: Option<Instant>,
    total: Duration,
}

impl Stopwatch {
    fn set(&mut self, holds: bool, now: Instant) {
        match self.since {
            None if holds => self.since = Some(now),
            Some(since) if !holds => {
                self.total += now.saturating_duration_since(since);
                self.since = None;
            }
            _ => {}
        }
    }

    fn read(&self, now: Instant) -> Duration {
        let since = |since| now.saturating_duration_since(since);
        self.total + self.since.map_or(Duration::ZERO, since)
    }
}

#[derive(Debug, Default)]
struct StreamState {
    written: u64,
    /// The largest offset that was sent.
    sent: u64,
    /// Whether it ever got a chunk; before that it holds a head alone.
    has_body: bool,
    closed: bool,
}

impl StreamState {
    fn unsent(&self) -> u64 {
        self.written.saturating_sub(self.sent)
    }
}

impl Sending {
    pub fn new(ordered: bool) -> Self {
        Self {
            ordered,
            streams: HashMap::new(),
            numbers: HashMap::new(),
            unsent: 0,
            handed: None,
            last: None,
            refused: HashSet::new(),
            refused_watch: Stopwatch::default(),
            dry_watch: Stopwatch::default(),
        }
    }

    pub fn on_open(&mut self, stream: u64, id: StreamId) {
        self.numbers.insert(id, stream);
        self.streams.entry(stream).or_default();
    }

    pub fn on_refused(&mut self, stream: u64) {
        if self.streams.contains_key(&stream) {
            self.refused.insert(stream);
        }
    }

    /// Updates the stopwatches; `has_more` is whether a response that has begun has more data.
    pub fn update_idle_times(&mut self, has_more: bool, now: Instant) {
        let is_dry = self.unsent == 0;
        let is_refused = is_dry && !self.refused.is_empty();
        self.refused_watch.set(is_refused, now);
        self.dry_watch.set(is_dry && has_more && !is_refused, now);
    }

    pub fn refused_time(&self, now: Instant) -> Duration {
        self.refused_watch.read(now)
    }

    pub fn dry_time(&self, now: Instant) -> Duration {
        self.dry_watch.read(now)
    }

    pub fn on_written(&mut self, stream: u64, bytes: u64) {
        self.refused.remove(&stream);
        self.change(stream, |stream_state| stream_state.written += bytes);
    }

    /// Records sent bytes; retransmissions do not count.
    pub fn on_sent(&mut self, stream: u64, end: u64) {
        self.change(stream, |stream_state| {
            stream_state.sent = stream_state.sent.max(end)
        });
    }

    pub fn on_reset(&mut self, stream: u64) {
        self.refused.remove(&stream);
        if let Some(stream_state) = self.streams.remove(&stream) {
            self.unsent -= stream_state.unsent();
        }
    }

    /// Changes a stream's state; streams without a response are the protocol's own and do not
    /// count.
    fn change(&mut self, stream: u64, change: impl FnOnce(&mut StreamState)) {
        let Some(stream_state) = self.streams.get_mut(&stream) else {
            return;
        };
        let before = stream_state.unsent();
        change(stream_state);
        self.unsent = self.unsent + stream_state.unsent() - before;
        if stream_state.closed && stream_state.unsent() == 0 {
            self.streams.remove(&stream);
        }
    }

    /// Records that the transport accepted or returned a chunk.
    pub fn on_taken(&mut self, id: StreamId) {
        self.handed = self.handed.filter(|handed| *handed != id);
    }

    pub fn on_close(&mut self, id: StreamId) {
        let Some(stream) = self.numbers.remove(&id) else {
            return;
        };
        self.refused.remove(&stream);
        if let Some(stream_state) = self.streams.get_mut(&stream) {
            stream_state.closed = true;
            if stream_state.unsent() == 0 {
                self.streams.remove(&stream);
            }
        }
    }

    /// Stops waiting for a chunk that the transport does not accept, so that others can go.
    pub fn on_stall(&mut self) {
        self.handed = None;
    }

    /// Returns the bytes that are written and not sent.
    pub fn unsent(&self) -> usize {
        usize::try_from(self.unsent).unwrap_or(usize::MAX)
    }

    /// Hands a chunk to a response if it is its turn, and returns whether it did.
    pub fn try_hand_over(&mut self, id: StreamId) -> bool {
        if !self.ordered {
            return true;
        }
        let stream_state = self.numbers.get(&id).and_then(|n| self.streams.get_mut(n));
        let overtakes =
            |stream_state: &&mut StreamState| stream_state.has_body && stream_state.unsent() > 0;
        if self.handed.is_some()
            || (self.last != Some(id) && stream_state.as_ref().is_some_and(overtakes))
        {
            return false;
        }
        if let Some(stream_state) = stream_state {
            stream_state.has_body = true;
        }
        (self.handed, self.last) = (Some(id), Some(id));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::core::Scheduler;
    use super::super::{Priority, Room};
    use super::*;

    fn ids() -> (StreamId, StreamId) {
        let mut scheduler = Scheduler::new(Room {
            chunk_bytes: 1,
            chunk_wire_bytes: 1,
            pending_bytes_max: 1,
            unsent_bytes_max: None,
        });
        let mut open = || scheduler.open(Priority::default(), 1);
        (open(), open())
    }

    #[test]
    fn a_chunk_waits_until_the_streams_earlier_one_has_left() {
        let (a, b) = ids();
        let mut sending = Sending::new(true);
        sending.on_open(0, a);
        sending.on_open(4, b);
        // A head is no chunk.
        sending.on_written(0, 10);
        assert!(sending.try_hand_over(a));
        assert!(!sending.try_hand_over(b), "one at a time");
        sending.on_written(0, 100);
        sending.on_taken(a);
        assert!(sending.try_hand_over(a), "nobody was given anything since");
        sending.on_written(0, 100);
        sending.on_taken(a);
        assert!(sending.try_hand_over(b));
        sending.on_written(4, 100);
        sending.on_taken(b);
        assert!(!sending.try_hand_over(a));
        sending.on_sent(0, 209);
        assert!(!sending.try_hand_over(a));
        sending.on_sent(0, 210);
        assert!(sending.try_hand_over(a));
        assert_eq!(sending.unsent(), 100);
    }

    #[test]
    fn time_without_anything_unsent_is_the_clients_or_the_servers() {
        let (a, _) = ids();
        let mut sending = Sending::new(true);
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        sending.on_open(0, a);
        sending.on_written(0, 100);
        sending.update_idle_times(true, at(0));
        sending.on_refused(0);
        sending.update_idle_times(true, at(10));
        sending.on_sent(0, 100);
        sending.update_idle_times(true, at(30));
        sending.on_written(0, 50);
        sending.update_idle_times(true, at(70));
        sending.on_sent(0, 150);
        sending.update_idle_times(true, at(80));
        sending.update_idle_times(false, at(95));
        assert_eq!(sending.refused_time(at(200)), Duration::from_millis(40));
        assert_eq!(sending.dry_time(at(200)), Duration::from_millis(15));
    }

    #[test]
    fn retransmitted_or_reset_bytes_are_not_unsent() {
        let (a, b) = ids();
        let mut sending = Sending::new(true);
        sending.on_open(0, a);
        sending.on_open(4, b);
        sending.on_written(0, 1000);
        sending.on_written(4, 500);
        sending.on_sent(0, 600);
        sending.on_sent(0, 300);
        assert_eq!(sending.unsent(), 900);
        sending.on_reset(4);
        assert_eq!(sending.unsent(), 400);
        sending.on_sent(4, 500);
        sending.on_close(a);
        assert_eq!(sending.unsent(), 400);
        sending.on_sent(0, 1000);
        sending.on_close(b);
        assert_eq!(sending.unsent(), 0);
        assert!(sending.streams.is_empty() && sending.numbers.is_empty());
    }
}
