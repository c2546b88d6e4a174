//! A log against the pure model: the same arrivals must have the same fates.

use crate::log::head::{FORMAT, LogHead, VERSION};
use crate::log::record::{RECORD_BYTES, Record, RecordKind};
use eyelevel_link::{Direction, Ecn, Event, EventKind, Observer, Packet, SpecError, StageSpec};
use eyelevel_units::{Instant, Seed, one_line};
use serde::Serialize;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::net::IpAddr;

/// Differences that are told; the comparison ends there.
const DIFFERENCES_MAX: usize = 10;
/// A head with the longest trace in place.
const HEAD_BYTES_MAX: u64 = 1 << 30;

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LogCheck {
    /// Packets that were fed to the model.
    pub arrivals: u64,
    /// Records that were compared with what the model said.
    pub compared: u64,
    /// The first differences, one line each.
    pub differences: Vec<String>,
}

/// Why a log could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Read(#[from] io::Error),
    /// It is not a log, or of another version.
    #[error("{0}; give a log that this version of eyelevel wrote")]
    Format(String),
    /// Records are missing in it.
    #[error(
        "{0} records are missing in it, because the disk did not keep up; log to a faster disk"
    )]
    Lost(u64),
    /// Its stages cannot be built.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A file that a stage names cannot be read.
    #[error("{0}")]
    StageFile(String),
}

/// Feeds the arrivals of `log` to the model and compares all that the log says of their fates.
/// `load` reads the files that a stage names.
///
/// # Errors
/// When it is not a whole log, or its stages cannot be built.
pub fn check_log(
    log: impl Read,
    load: &mut dyn FnMut(&mut StageSpec) -> Result<(), String>,
) -> Result<LogCheck, CheckError> {
    let mut log = BufReader::with_capacity(1 << 20, log);
    let mut head = read_head(&mut log)?;
    for stage in &mut head.stages {
        load(stage).map_err(CheckError::StageFile)?;
    }
    let seed = Seed::new(head.seed).child(&head.direction);
    let mut direction = Direction::with_observer(&head.stages, seed, Fates::default())?;
    direction.start(Instant::from_nanos(head.start_ns));
    let mut comparison = Comparison {
        direction,
        addresses: Vec::new(),
        unused: VecDeque::new(),
        found: LogCheck::default(),
    };
    let mut bytes = [0; RECORD_BYTES];
    while comparison.found.differences.len() < DIFFERENCES_MAX && read_record(&mut log, &mut bytes)?
    {
        let record = Record::parse(&bytes)
            .ok_or_else(|| CheckError::Format("it has an unknown kind of record".into()))?;
        comparison.take(&record)?;
    }
    comparison.end();
    Ok(comparison.found)
}

/// What the model said, still to be found in the log.
#[derive(Default)]
struct Fates {
    of_packets: VecDeque<Record>,
    unused: VecDeque<Record>,
}

impl Observer<()> for Fates {
    fn event(&mut self, event: &Event) {
        let is_unused = event.kind == EventKind::Unused;
        let said = if is_unused {
            &mut self.unused
        } else {
            &mut self.of_packets
        };
        said.extend(Record::of(event));
    }

    fn wants_unused(&self) -> bool {
        true
    }
}

struct Comparison {
    direction: Direction<(), Fates>,
    addresses: Vec<IpAddr>,
    /// Of the log, not yet found in what the model said. A trace tells them when a packet next comes
    /// to it, which may be long after their time: behind a delay no record says when that was.
    unused: VecDeque<Record>,
    found: LogCheck,
}

impl Comparison {
    fn take(&mut self, record: &Record) -> Result<(), CheckError> {
        match record.kind {
            RecordKind::Arrival => self.arrive(record),
            RecordKind::Address => self.addresses.push(record.named_address()),
            RecordKind::Lost => return Err(CheckError::Lost(record.value)),
            RecordKind::Release | RecordKind::Refused => self.release(record),
            RecordKind::Read => (),
            RecordKind::Unused => self.unused.push_back(*record),
            _ => self.fate(record),
        }
        self.compare_unused();
        Ok(())
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

    /// Lets the model go on where the log's last opportunities came of a packet still on its way.
    fn end(&mut self) {
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
        // Where the model has said more already, it was the last arrival's doing.
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

fn read_head(log: &mut impl BufRead) -> Result<LogHead, CheckError> {
    let mut line = Vec::new();
    log.take(HEAD_BYTES_MAX).read_until(b'\n', &mut line)?;
    let head: LogHead = serde_json::from_slice(&line)
        .map_err(|error| one_line(&error.to_string()))
        .map_err(|error| CheckError::Format(format!("its first line is no head: {error}")))?;
    if head.format != FORMAT || head.version != VERSION || head.record_bytes != RECORD_BYTES {
        let (format, version) = (head.format, head.version);
        return Err(CheckError::Format(format!(
            "it is {format:?}, version {version}, not {FORMAT:?}, version {VERSION}"
        )));
    }
    Ok(head)
}

/// A part of a record at the end is that of a lab that was killed, and is left aside.
fn read_record(log: &mut impl Read, bytes: &mut [u8; RECORD_BYTES]) -> io::Result<bool> {
    match log.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eyelevel_link::{DelaySpec, LossSpec, QueueSpec, RateSpec, Recorded, TraceSpec};

    impl Fates {
        fn said(&mut self) -> Vec<Record> {
            self.unused
                .drain(..)
                .chain(self.of_packets.drain(..))
                .collect()
        }
    }

    /// A log as the driver writes it, from the model itself; `change` may falsify a record.
    fn log(change: impl Fn(&mut Record)) -> Vec<u8> {
        let stages = [
            StageSpec::Loss(LossSpec { probability: 0.2 }),
            StageSpec::Rate(RateSpec {
                rate_bit_s: 10_000_000,
                queue: QueueSpec::droptail_packets(3),
            }),
        ];
        log_of(&stages, change)
    }

    fn log_of(stages: &[StageSpec], change: impl Fn(&mut Record)) -> Vec<u8> {
        let head = LogHead::new("down", stages, 7, "tun");
        let start = Instant::from_nanos(1000);
        let seed = Seed::new(7).child("down");
        let mut direction = Direction::with_observer(stages, seed, Fates::default()).unwrap();
        direction.start(start);
        let mut records = Vec::new();
        for number in 0..500u64 {
            let now = Instant::from_nanos(1000 + number / 10 * 9_000_000);
            direction.handle_timeout(now);
            records.extend(direction.observer_mut().said());
            while let Some(release) = direction.poll_transmit(now) {
                records.push(Record {
                    at_ns: release.at.as_nanos(),
                    packet: release.number,
                    value: 17,
                    kind: RecordKind::Release,
                    ..Record::lost(0, 0)
                });
            }
            records.push(Record {
                at_ns: now.as_nanos(),
                packet: number,
                wire_bytes: 1500,
                kind: RecordKind::Arrival,
                ..Record::lost(0, 0)
            });
            direction.handle_packet(now, Packet::new(1500, ()));
            records.extend(direction.observer_mut().said());
        }
        records.iter_mut().for_each(change);
        let mut bytes = head.line(start, true).into_bytes();
        bytes.push(b'\n');
        bytes.extend(records.iter().flat_map(Record::to_bytes));
        bytes
    }

    fn check(bytes: &[u8]) -> Result<LogCheck, CheckError> {
        check_log(bytes, &mut |_| Ok(()))
    }

    #[test]
    fn a_true_log_agrees() {
        let found = check(&log(|_| ())).unwrap();
        assert_eq!((found.arrivals, found.differences), (500, vec![]));
        assert!(found.compared > 1000);
    }

    #[test]
    fn opportunities_that_a_delayed_packet_reveals_agree() {
        let stages = [
            StageSpec::Delay(DelaySpec { delay_ms: 5.0 }),
            StageSpec::Trace(TraceSpec {
                trace: Recorded::from_values((1..50).collect()),
                once: false,
                opportunity_bytes: 1500,
                packet_overhead_bytes: 0,
                queue: QueueSpec::Infinite,
            }),
        ];
        let found = check(&log_of(&stages, |_| ())).unwrap();
        assert_eq!((found.arrivals, found.differences), (500, vec![]));
        let later = log_of(&stages, |r| {
            r.at_ns += u64::from(r.kind == RecordKind::Unused && r.at_ns == 3_001_000);
        });
        assert_eq!(check(&later).unwrap().differences.len(), 1);
        // One more than the model has.
        let mut more = log_of(&stages, |_| ());
        let unused = Record {
            at_ns: 1 << 40,
            kind: RecordKind::Unused,
            ..Record::lost(0, 0)
        };
        more.extend(unused.to_bytes());
        assert_eq!(check(&more).unwrap().differences.len(), 1);
    }

    #[test]
    fn a_false_one_does_not() {
        let later = log(|r| r.at_ns += u64::from(r.kind == RecordKind::Release && r.packet == 30));
        assert_eq!(check(&later).unwrap().differences.len(), 1);
        let other = log(|r| {
            if r.kind == RecordKind::Drop {
                r.reason = 5;
            }
        });
        assert_eq!(check(&other).unwrap().differences.len(), DIFFERENCES_MAX);
    }

    #[test]
    fn what_is_no_log_is_refused() {
        assert!(matches!(check(b"{}\n"), Err(CheckError::Format(_))));
        assert!(matches!(check(b""), Err(CheckError::Format(_))));
        let mut gap = log(|_| ());
        gap.extend(Record::lost(1, 5).to_bytes());
        assert!(matches!(check(&gap), Err(CheckError::Lost(5))));
    }
}
