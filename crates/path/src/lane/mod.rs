//! One direction with its devices: reading and segmenting are here, writing is in `out.rs`.

mod out;

use crate::batch::{Batch, Due};
use crate::capture::Capture;
use crate::density::Density;
use crate::header;
use crate::log::record::{Record, RecordKind};
use crate::measured::arrival::Arrival;
use crate::measured::lateness::Lateness;
use crate::measured::marks::Marks;
use crate::measured::windows::WindowWatch;
use crate::run::Run;
use crate::segment::Segment;
use crate::tap::Tap;
use crate::wire::Shape;
use eyelevel_link::{Direction, DropReason, Ecn, Packet};
use eyelevel_netns::{Device, Error, OFFLOAD_HEADER_BYTES, OffloadHeader, ReadPacket};
use eyelevel_units::Instant;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

/// The most reads from one device before the others and the due releases get their turn.
const READS_MAX: usize = 16;

pub(crate) struct Lane {
    pub direction: Direction<Segment, Tap>,
    pub lateness: Lateness,
    pub arrival: Arrival,
    /// Whether the origin is the destination of this lane's packets.
    pub toward_origin: bool,
    /// The address whose packets leave by the second device.
    pub second_exit: Option<IpAddr>,
    pub counts: Counts,
    /// The watch for first windows, on the lane toward the origins, if requested.
    pub windows: Option<WindowWatch>,
    /// The capture of packets at the servers' end of the path, if requested.
    pub capture: Option<Arc<Mutex<Capture>>>,
    /// Packets by their ECN bits.
    pub marks: Marks,
    /// Counts before the current load, to be subtracted.
    pub before: Baseline,
    /// Packets that left the direction.
    left: u64,
    batch: Batch,
    density: Density,
    run: Run,
    whole: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub packets: u64,
    pub bytes: u64,
    pub released: u64,
    pub released_bytes: u64,
    pub refused: u64,
    /// Refused packets that no stage had corrupted.
    pub unwritten: u64,
    pub lateness_ns: u64,
}

/// A lane's counts at the start of a load.
#[derive(Clone, Default)]
pub(crate) struct Baseline {
    pub counts: Counts,
    pub dropped: BTreeMap<&'static str, u64>,
    pub marked_packets: u64,
}

impl Lane {
    pub(crate) fn new(
        direction: Direction<Segment, Tap>,
        toward_origin: bool,
        second_exit: Option<IpAddr>,
    ) -> Self {
        Self {
            direction,
            lateness: Lateness::default(),
            arrival: Arrival::default(),
            toward_origin,
            second_exit,
            counts: Counts::default(),
            windows: None,
            capture: None,
            marks: Marks::default(),
            before: Baseline::default(),
            left: 0,
            batch: Batch::default(),
            density: Density::default(),
            run: Run::default(),
            whole: Vec::new(),
        }
    }

    /// Restarts the counts, for the summary of the next load.
    pub(crate) fn restart(&mut self) {
        self.lateness = Lateness::default();
        self.marks.restart();
        self.arrival.restart();
        if let Some(timeline) = &mut self.direction.observer_mut().timeline {
            timeline.restart();
        }
        self.before = Baseline {
            counts: self.counts,
            dropped: self.dropped(),
            marked_packets: self.direction.observer().marked_packets,
        };
    }

    /// Returns the packets that the direction's stages dropped so far, by reason; reasons that did
    /// not occur are left out.
    pub(crate) fn dropped(&self) -> BTreeMap<&'static str, u64> {
        let counters = self.direction.counters();
        let sum = |reason| counters.iter().map(|c| c.dropped(reason)).sum();
        let counts = DropReason::ALL
            .into_iter()
            .map(|reason| (reason.name(), sum(reason)));
        counts.filter(|(_, count)| *count > 0).collect()
    }

    /// Returns the packets of this load that a device should have accepted and did not.
    pub(crate) fn unwritten(&self) -> u64 {
        self.counts.unwritten - self.before.counts.unwritten
    }

    /// Returns when the next packets are to be written.
    #[inline]
    pub(crate) fn due(&self) -> Option<Due> {
        let at = self.direction.poll_timeout()?;
        Some(self.batch.due(at))
    }

    /// Returns whether its packets leave so close together that they may be batched.
    #[inline]
    pub(crate) fn is_dense(&self) -> bool {
        let next = self.direction.poll_timeout();
        next.is_some_and(|next| self.density.continues(next))
    }

    /// Returns whether the next packets may be written at `now`, deferred or not.
    #[inline]
    pub(crate) fn may_leave(&self, now: Instant) -> bool {
        self.direction.poll_timeout().is_some_and(|at| at <= now)
    }

    /// Returns the number of packets inside the direction.
    pub(crate) fn held(&self) -> u64 {
        let tap = self.direction.observer();
        self.direction.arrivals() + tap.duplicated_packets - tap.dropped_packets - self.left
    }

    /// Returns the time, at most `now`, until which the direction has all arrivals of `devices`. A
    /// later release may still be changed by a packet that waits to be read, and a device with such
    /// a packet becomes `ready`.
    #[inline]
    pub(crate) fn certain_until(
        &self,
        now: Instant,
        devices: &[Device],
        ready: &mut [bool],
    ) -> Instant {
        let mut certain = now;
        for (device, ready) in devices.iter().zip(ready) {
            let until = device.all_read_until(now, self.arrival.latest(), *ready);
            *ready |= until < now;
            certain = certain.min(until);
        }
        certain
    }

    /// Reads packets that wait at `device`, some at a time. If `unless_due`, it stops once
    /// something is due; else a device without packets is not read. Returns whether there may be
    /// more.
    pub(crate) fn read_arrivals(
        &mut self,
        device: &mut Device,
        unless_due: bool,
    ) -> Result<bool, Error> {
        device.read_clocks();
        for _ in 0..READS_MAX {
            if !unless_due && !device.may_have_packets() {
                return Ok(false);
            }
            let room = self.direction.observer_mut().arena.room();
            let read = match device.read(room) {
                Ok(Some(read)) => read,
                Ok(None) => return Ok(false),
                Err(source) => return Err(read_error(source)),
            };
            if self.admit(&read).is_none() {
                self.counts.refused += 1;
            }
            let latest = self.arrival.latest();
            if unless_due && self.due().is_some_and(|due| due.at <= latest) {
                break;
            }
        }
        Ok(true)
    }

    /// Segments a packet that was read and passes it to the direction; `None` if it is not a
    /// packet.
    fn admit(&mut self, read: &ReadPacket) -> Option<()> {
        let length = read.length;
        let room = self.direction.observer_mut().arena.room();
        let (head, packet) = room.get(..length)?.split_first_chunk()?;
        let offload = OffloadHeader::parse(head)?;
        let shape = Shape::parse(packet, &offload)?;
        let header = header::parse(packet)?;
        let origin = if self.toward_origin {
            header.destination
        } else {
            header.source
        };
        if let Some(windows) = &mut self.windows {
            windows.on_packet(packet, header.flow);
        }
        let exit = u8::from(self.second_exit == Some(header.destination));
        let segments = shape.segments();
        self.marks.count_arrival(&header, segments);
        let arrived_at = read.came.unwrap_or(read.at);
        self.direction.handle_timeout(arrived_at);
        let now = self.direction.arrival_at(arrived_at);
        self.arrival.record(read, now, segments);
        self.log_read(now, read, segments);
        let (chunk, at) = self.direction.observer_mut().arena.keep(length, segments);
        let place = (chunk, at + OFFLOAD_HEADER_BYTES as u32);
        if !self.toward_origin {
            self.capture_segments(now, place, shape, (0, segments - 1), header.ecn);
        }
        for index in 0..segments {
            let wire_bytes = shape.wire_bytes(index);
            self.counts.packets += 1;
            self.counts.bytes += u64::from(wire_bytes);
            self.log_arrival(now, origin, header.flow, header.ecn, wire_bytes);
            let packet = Packet {
                wire_bytes,
                flow: header.flow,
                address: Some(origin),
                ecn: Ecn::from_bits(header.ecn),
                corrupt_bit: None,
                payload: Segment {
                    chunk,
                    at: place.1,
                    shape,
                    index,
                    exit,
                },
            };
            self.direction.handle_packet(now, packet);
        }
        Some(())
    }

    fn log_read(&mut self, now: Instant, read: &ReadPacket, segments: u16) {
        let number = self.direction.arrivals();
        if let Some(log) = &mut self.direction.observer_mut().log {
            log.push(&Record {
                at_ns: now.as_nanos(),
                packet: number,
                value: read.at.since(read.came.unwrap_or(read.at)).as_nanos() as u64,
                wire_bytes: segments.into(),
                kind: RecordKind::Read,
                reason: read.came.is_some().into(),
                stage: 0,
            });
        }
    }

    fn log_arrival(&mut self, now: Instant, origin: IpAddr, flow: u32, ecn: u8, wire_bytes: u32) {
        let number = self.direction.arrivals();
        let tap = self.direction.observer_mut();
        if tap.log.is_none() {
            return;
        }
        let address = tap.address_number(now.as_nanos(), origin);
        let record = Record {
            at_ns: now.as_nanos(),
            packet: number,
            value: u64::from(address) << 32 | u64::from(flow),
            wire_bytes,
            kind: RecordKind::Arrival,
            reason: ecn,
            stage: 0,
        };
        if let Some(log) = &mut tap.log {
            log.push(&record);
        }
    }
}

fn read_error(source: std::io::Error) -> Error {
    Error {
        attempt: "read a packet from the lab's device".to_owned(),
        source,
        remedy: None,
    }
}
