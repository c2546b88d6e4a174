//! Reads a log and checks its records against the pure model.

use crate::log::comparison::{Comparison, Fates, LogCheck};
use crate::log::head::{FORMAT, LogHead, VERSION};
use crate::log::record::{RECORD_BYTES, Record, RecordKind};
use eyelevel_link::{Direction, SpecError, StageSpec};
use eyelevel_units::{Instant, Seed, one_line, refusal};
use std::io::{self, BufRead, BufReader, Read};

/// The longest head, with the longest trace inline.
const HEAD_BYTES_MAX: u64 = 1 << 30;

/// An error that prevents the comparison of a log.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It cannot be read.
    #[error("it cannot be read: {}", refusal(.0))]
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

/// Feeds the arrivals of `log` to the model and compares the recorded outcomes of its packets.
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
    let mut comparison = Comparison::new(direction);
    let mut bytes = [0; RECORD_BYTES];
    while comparison.continues() && read_record(&mut log, &mut bytes)? {
        let record = Record::parse(&bytes)
            .ok_or_else(|| CheckError::Format("it has an unknown kind of record".into()))?;
        if record.kind == RecordKind::Lost {
            return Err(CheckError::Lost(record.value));
        }
        comparison.take(&record);
    }
    Ok(comparison.end())
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

/// Reads one record; a partial one at the end, left by a lab that was killed, is ignored.
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
    use crate::log::comparison::DIFFERENCES_MAX;
    use eyelevel_link::{DelaySpec, LossSpec, Packet, QueueSpec, RateSpec, Recorded, TraceSpec};

    impl Fates {
        fn take_events(&mut self) -> Vec<Record> {
            self.unused
                .drain(..)
                .chain(self.of_packets.drain(..))
                .collect()
        }
    }

    /// Writes a log from the model itself, as the driver does; `change` may falsify a record.
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
            records.extend(direction.observer_mut().take_events());
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
            records.extend(direction.observer_mut().take_events());
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
    fn other_files_are_refused() {
        assert!(matches!(check(b"{}\n"), Err(CheckError::Format(_))));
        assert!(matches!(check(b""), Err(CheckError::Format(_))));
        let mut gap = log(|_| ());
        gap.extend(Record::lost(1, 5).to_bytes());
        assert!(matches!(check(&gap), Err(CheckError::Lost(5))));
    }
}
