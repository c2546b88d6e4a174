//! The records of a path log (`spec/path-log.md`).

use eyelevel_link::{DropReason, Event, EventKind};
use std::net::IpAddr;

/// Bytes of a record.
pub const RECORD_BYTES: usize = 32;

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordKind {
    /// A packet entered the direction.
    Arrival = 0,
    /// It left a rate, schedule or trace.
    Served = 1,
    /// It was written to the receiver's device.
    Release = 2,
    /// It was dropped.
    Drop = 3,
    /// A queue set its ECN bits.
    Mark = 4,
    /// A second copy was created.
    Duplicate = 5,
    /// A bit of it was inverted.
    Corrupt = 6,
    /// An opportunity of a trace passed unused.
    Unused = 7,
    /// An address of an origin gets a number.
    Address = 8,
    /// Records are missing here.
    Lost = 9,
    /// It should have been released, but the receiver's device did not accept it.
    Refused = 10,
    /// Packets were read from the sender's device; their arrivals follow.
    Read = 11,
}

impl RecordKind {
    const ALL: [Self; 12] = [
        Self::Arrival,
        Self::Served,
        Self::Release,
        Self::Drop,
        Self::Mark,
        Self::Duplicate,
        Self::Corrupt,
        Self::Unused,
        Self::Address,
        Self::Lost,
        Self::Refused,
        Self::Read,
    ];
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The model's time in nanoseconds.
    pub at_ns: u64,
    /// The packet's position among the arrivals.
    pub packet: u64,
    /// A value that depends on the kind.
    pub value: u64,
    /// Bytes of the packet.
    pub wire_bytes: u32,
    /// The kind of event.
    pub kind: RecordKind,
    /// A drop's reason, an arrival's ECN bits, or for a read whether it had the kernel's stamp.
    pub reason: u8,
    /// The stage's position.
    pub stage: u16,
}

impl Record {
    /// Converts an event of a link; `None` for arrivals and releases, which the driver writes
    /// itself.
    pub(crate) fn from_event(event: &Event) -> Option<Self> {
        let nanos = |d: std::time::Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
        let (kind, value, reason) = match event.kind {
            EventKind::Arrival | EventKind::Release => return None,
            EventKind::Served { queued } => (RecordKind::Served, nanos(queued), 0),
            EventKind::Dropped { reason, queued } => {
                (RecordKind::Drop, nanos(queued), reason as u8)
            }
            EventKind::Marked { queued } => (RecordKind::Mark, nanos(queued), 0),
            EventKind::Duplicated => (RecordKind::Duplicate, 0, 0),
            EventKind::Corrupted => (RecordKind::Corrupt, 0, 0),
            EventKind::Unused => (RecordKind::Unused, 0, 0),
        };
        Some(Self {
            at_ns: event.at.as_nanos(),
            packet: event.packet.unwrap_or(0),
            value,
            wire_bytes: event.wire_bytes,
            kind,
            reason,
            stage: event.stage,
        })
    }

    /// Returns the record that assigns `number` to `address`.
    pub(crate) fn address(at_ns: u64, address: IpAddr, number: u32) -> Self {
        let octets = match address {
            IpAddr::V4(v4) => v4.to_ipv6_mapped(),
            IpAddr::V6(v6) => v6,
        }
        .to_bits();
        Self {
            at_ns,
            packet: (octets >> 64) as u64,
            value: octets as u64,
            wire_bytes: number,
            kind: RecordKind::Address,
            reason: 0,
            stage: 0,
        }
    }

    /// Returns the address of a record of kind `address`.
    pub fn named_address(&self) -> IpAddr {
        let octets = u128::from(self.packet) << 64 | u128::from(self.value);
        IpAddr::V6(octets.into()).to_canonical()
    }

    /// Returns the record of `count` missing records.
    pub(crate) fn lost(at_ns: u64, count: u64) -> Self {
        Self {
            at_ns,
            packet: 0,
            value: count,
            wire_bytes: 0,
            kind: RecordKind::Lost,
            reason: 0,
            stage: 0,
        }
    }

    /// Encodes the record as in the file.
    pub fn to_bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[0..8].copy_from_slice(&self.at_ns.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.packet.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.value.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.wire_bytes.to_le_bytes());
        bytes[28] = self.kind as u8;
        bytes[29] = self.reason;
        bytes[30..32].copy_from_slice(&self.stage.to_le_bytes());
        bytes
    }

    /// Decodes a record from the file; `None` if its kind or reason is unknown.
    pub fn parse(bytes: &[u8; RECORD_BYTES]) -> Option<Self> {
        let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight"));
        let kind = *RecordKind::ALL.get(usize::from(bytes[28]))?;
        let known = match kind {
            RecordKind::Drop => usize::from(bytes[29]) < DropReason::ALL.len(),
            RecordKind::Arrival => bytes[29] < 4,
            _ => true,
        };
        known.then(|| Self {
            at_ns: long(0),
            packet: long(8),
            value: long(16),
            wire_bytes: u32::from_le_bytes(bytes[24..28].try_into().expect("four")),
            kind,
            reason: bytes[29],
            stage: u16::from_le_bytes([bytes[30], bytes[31]]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_records_are_read_back() {
        for (number, kind) in RecordKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            let record = Record {
                at_ns: 1,
                packet: u64::MAX - 2,
                value: 3 << 40,
                wire_bytes: 1500,
                kind,
                reason: 2,
                stage: 513,
            };
            assert_eq!(Record::parse(&record.to_bytes()), Some(record));
        }
        let mut unknown = [0; RECORD_BYTES];
        unknown[28] = 12;
        assert_eq!(Record::parse(&unknown), None);
    }

    #[test]
    fn addresses_of_both_versions_fit() {
        for text in ["192.0.2.7", "2001:db8::7"] {
            let address: IpAddr = text.parse().unwrap();
            assert_eq!(Record::address(0, address, 1).named_address(), address);
        }
    }
}
