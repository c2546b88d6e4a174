//! Records what a direction carried over time, in as many intervals as a trial's record can hold:
//! it yields the silences of a load and the bytes in flight, without a log of every packet.

use eyelevel_link::{Event, EventKind};
use eyelevel_units::Instant;
use serde::Serialize;

/// The most intervals: with them a load of half a second has a resolution of 1 ms, one of a minute
/// of 128 ms.
const INTERVALS_MAX: usize = 512;

const INTERVAL_MS_MIN: u64 = 1;

const NANOS_A_MS: u64 = 1_000_000;

/// One direction in intervals of equal length. When they are used up, each pair becomes one.
#[derive(Debug)]
pub(crate) struct Timeline {
    start: Option<Instant>,
    interval_ms: u64,
    intervals: Vec<Interval>,
    inside_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    released_bytes: u64,
    inside_bytes_max: u64,
}

/// A direction over time, for the trial's record. Times are the model's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TimelineSummary {
    /// Start of the first interval, the arrival of the first packet, by `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// Length of each interval: a power of two.
    pub interval_ms: u64,
    /// Bytes that left towards the receiver per interval, until the last interval with any.
    pub released_bytes: Vec<u64>,
    /// The most bytes that were inside at once per interval: queued, in transmission and in delay.
    pub inside_bytes_max: Vec<u64>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            start: None,
            interval_ms: INTERVAL_MS_MIN,
            intervals: Vec::with_capacity(INTERVALS_MAX),
            inside_bytes: 0,
        }
    }
}

impl Timeline {
    #[inline]
    pub(crate) fn event(&mut self, event: &Event) {
        let bytes = u64::from(event.wire_bytes);
        match event.kind {
            EventKind::Arrival | EventKind::Duplicated => {
                let place = self.advance_to(event.at);
                self.inside_bytes += bytes;
                let most = &mut self.intervals[place].inside_bytes_max;
                *most = self.inside_bytes.max(*most);
            }
            EventKind::Release => {
                let place = self.advance_to(event.at);
                self.intervals[place].released_bytes += bytes;
                self.inside_bytes -= bytes;
            }
            EventKind::Dropped { .. } => {
                self.advance_to(event.at);
                self.inside_bytes -= bytes;
            }
            _ => {}
        }
    }

    /// Restarts the intervals, keeping the bytes that are inside.
    pub(crate) fn restart(&mut self) {
        *self = Self {
            inside_bytes: self.inside_bytes,
            ..Self::default()
        };
    }

    /// Returns the summary; `None` if there was no packet.
    pub(crate) fn summary(&self) -> Option<TimelineSummary> {
        let mut used = self.intervals.iter();
        let last = used
            .rposition(|each| each.released_bytes > 0)
            .map_or(0, |at| at + 1);
        let intervals = &self.intervals[..last];
        Some(TimelineSummary {
            start_ns: self.start?.as_nanos(),
            interval_ms: self.interval_ms,
            released_bytes: intervals.iter().map(|each| each.released_bytes).collect(),
            inside_bytes_max: intervals.iter().map(|each| each.inside_bytes_max).collect(),
        })
    }

    /// Returns the index of the interval of `at`. It and those since the last event have the bytes
    /// that are inside.
    #[inline]
    fn advance_to(&mut self, at: Instant) -> usize {
        let start = *self.start.get_or_insert(at);
        let since_ns = at.since(start).as_nanos() as u64;
        let mut place = (since_ns / (self.interval_ms * NANOS_A_MS)) as usize;
        while place >= INTERVALS_MAX {
            self.join_pairs();
            place /= 2;
        }
        if place >= self.intervals.len() {
            let quiet = Interval {
                released_bytes: 0,
                inside_bytes_max: self.inside_bytes,
            };
            self.intervals.resize(place + 1, quiet);
        }
        place
    }

    fn join_pairs(&mut self) {
        self.interval_ms *= 2;
        let count = self.intervals.len();
        for place in 0..count.div_ceil(2) {
            let first = self.intervals[2 * place];
            let second = self.intervals.get(2 * place + 1).copied();
            let second = second.unwrap_or_default();
            self.intervals[place] = Interval {
                released_bytes: first.released_bytes + second.released_bytes,
                inside_bytes_max: first.inside_bytes_max.max(second.inside_bytes_max),
            };
        }
        self.intervals.truncate(count.div_ceil(2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eyelevel_link::DropReason;
    use std::time::Duration;

    fn at(timeline: &mut Timeline, ms: u64, kind: EventKind) {
        timeline.event(&Event {
            at: Instant::from_nanos((1000 + ms) * NANOS_A_MS),
            stage: 0,
            packet: Some(0),
            wire_bytes: 100,
            kind,
        });
    }

    #[test]
    fn released_and_inside_bytes_are_recorded_by_interval() {
        let mut timeline = Timeline::default();
        at(&mut timeline, 0, EventKind::Arrival);
        at(&mut timeline, 0, EventKind::Arrival);
        let (reason, queued) = (DropReason::Loss, Duration::ZERO);
        at(&mut timeline, 2, EventKind::Dropped { reason, queued });
        at(&mut timeline, 3, EventKind::Release);
        at(&mut timeline, 5, EventKind::Arrival);
        at(&mut timeline, 6, EventKind::Release);
        at(&mut timeline, 8, EventKind::Arrival);
        let summary = timeline.summary().expect("packets came");
        assert_eq!(summary.start_ns, 1000 * NANOS_A_MS);
        assert_eq!(summary.interval_ms, 1);
        assert_eq!(summary.released_bytes, [0, 0, 0, 100, 0, 0, 100]);
        assert_eq!(summary.inside_bytes_max, [200, 200, 200, 100, 0, 100, 100]);
    }

    #[test]
    fn a_long_load_has_longer_intervals_and_the_same_bytes() {
        let mut timeline = Timeline::default();
        for ms in (0..10_000).step_by(3) {
            at(&mut timeline, ms, EventKind::Arrival);
            at(&mut timeline, ms + 1, EventKind::Release);
        }
        let summary = timeline.summary().expect("packets came");
        assert_eq!(summary.interval_ms, 32);
        assert!(summary.released_bytes.len() <= INTERVALS_MAX);
        assert_eq!(summary.released_bytes.iter().sum::<u64>(), 3334 * 100);
        assert_eq!(summary.inside_bytes_max.iter().max(), Some(&100));
    }

    #[test]
    fn the_next_load_begins_with_the_bytes_inside() {
        let mut timeline = Timeline::default();
        at(&mut timeline, 0, EventKind::Arrival);
        timeline.restart();
        assert_eq!(timeline.summary(), None);
        at(&mut timeline, 7, EventKind::Arrival);
        at(&mut timeline, 8, EventKind::Release);
        let summary = timeline.summary().expect("packets came");
        assert_eq!(summary.start_ns, 1007 * NANOS_A_MS);
        assert_eq!(summary.inside_bytes_max, [200, 200]);
    }
}
