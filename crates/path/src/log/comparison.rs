//! Compares a log with the pure model, which must produce the same outcomes from the log's
//! arrivals.

use crate::log::record::{Record, RecordKind};
use eyelevel_link::{Direction, Ecn, Event, EventKind, Observer, Packet};
use eyelevel_units::Instant;
use serde::Serialize;
use std::collections::VecDeque;
use std::net::IpAddr;

/// The most differences reported; the comparison ends there.
pub(super) const DIFFERENCES_MAX: usize = 10;

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LogCheck {
    /// Packets that were fed to the model.
    pub arrivals: u64,
    /// Records that were compared with the model's.
    pub compared: u64,
    /// The first differences, one line each.
    pub differences: Vec<String>,
}

/// The model's events that are still to be found in the log.
#[derive(Default)]
pub(super) struct Fates {
    pub of_packets: VecDeque<Record>,
    pub unused: VecDeque<Record>,
}

impl Observer<()> for Fates {
    fn event(&mut self, event: &Event) {
        let is_unused = event.kind == EventKind::Unused;
        let events = if is_unused {
            &mut self.unused
        } else {
            &mut self.of_packets
        };
        events.extend(Record::from_event(event));
    }

    fn wants_unused(&self) -> bool {
        true
    }
}

/// The model's direction, compared with the log's records.
pub(super) struct Comparison {
    direction: Direction<(), Fates>,
    addresses: Vec<IpAddr>,
    /// Unused opportunities of the log that the model has not reported yet. A trace reports them
    /// when the next packet reaches it, which may be long after their time: behind a delay no
    /// record has that time.
    unused: VecDeque<Record>,
    found: LogCheck,
}

impl Comparison {
    pub(super) fn new(direction: Direction<(), Fates>) -> Self {
        Self {
            direction,
            addresses: Vec::new(),
            unused: VecDeque::new(),
            found: LogCheck::default(),
        }
    }

    /// Returns whether there is room for a further difference.
    pub(super) fn continues(&self) -> bool {
        self.found.differences.len() < DIFFERENCES_MAX
    }

    /// Compares the log's next record.
    pub(super) fn take(&mut self, record: &Record) {
        match record.kind {
            RecordKind::Arrival => self.arrive(record),
            RecordKind::Address => self.addresses.push(record.named_address()),
            RecordKind::Release | RecordKind::Refused => self.release(record),
            RecordKind::Read => (),
            RecordKind::Unused => self.unused.push_back(*record),
            _ => self.fate(record),
        }
        self.compare_unused();
    }

    fn compare_unused(&mut self) {
        while !self.unused.is_empty() {
            let Some(theirs) = self.direction.observer_mut().unused.pop_front() else {
                break;
            };
            if let Some(record) = self.unused.pop_front() {
                self.compare(&record, theirs, record, "fate");
            }
        }
    }

    /// Advances the model if the log's last opportunities belong to a packet still on its way.
    pub(super) fn end(mut self) -> LogCheck {
        while !self.unused.is_empty()
            && let Some(at) = self.direction.poll_timeout()
        {
            self.direction.poll_transmit(at);
            self.compare_unused();
        }
        let left = DIFFERENCES_MAX.saturating_sub(self.found.differences.len());
        for record in self.unused.drain(..).take(left).collect::<Vec<_>>() {
            self.differ(format!("{record:?}: the model says nothing of it"));
        }
        self.found
    }

    fn arrive(&mut self, record: &Record) {
        self.found.arrivals += 1;
        let address = (record.value >> 32).checked_sub(1);
        let packet = Packet {
            flow: record.value as u32,
            address: address.and_then(|at| self.addresses.get(at as usize).copied()),
            ecn: Ecn::from_bits(record.reason),
            ..Packet::new(record.wire_bytes, ())
        };
        let now = Instant::from_nanos(record.at_ns);
        let number = self.direction.handle_packet(now, packet);
        self.compare(record, number, record.packet, "number");
    }

    fn release(&mut self, record: &Record) {
        let now = Instant::from_nanos(record.at_ns);
        match self.direction.poll_transmit(now) {
            Some(release) => {
                let theirs = (release.number, release.at.as_nanos());
                self.compare(record, theirs, (record.packet, record.at_ns), "release");
            }
            None => self.differ(format!("{record:?}: the model releases nothing then")),
        }
    }

    fn fate(&mut self, record: &Record) {
        // If the model has reported more already, the last arrival caused it.
        if self.direction.observer().of_packets.is_empty() {
            self.direction
                .handle_timeout(Instant::from_nanos(record.at_ns));
        }
        match self.direction.observer_mut().of_packets.pop_front() {
            Some(fate) => self.compare(record, fate, *record, "fate"),
            None => self.differ(format!("{record:?}: the model says nothing of it")),
        }
    }

    fn compare<T: PartialEq + std::fmt::Debug>(
        &mut self,
        record: &Record,
        model: T,
        log: T,
        what: &str,
    ) {
        self.found.compared += 1;
        if model != log {
            self.differ(format!("{record:?}: by the model its {what} is {model:?}"));
        }
    }

    fn differ(&mut self, line: String) {
        self.found.differences.push(line);
    }
}
