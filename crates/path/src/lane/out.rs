//! Writes runs of segments as one packet each, and counts what was written.

use super::Lane;
use crate::header;
use crate::log::record::{Record, RecordKind};
use crate::segment::Segment;
use crate::wire::{HEADERS_MAX, Shape, complete_checksum};
use eyelevel_link::{Ecn, Packet};
use eyelevel_netns::{Device, OffloadHeader, monotonic_now};
use eyelevel_units::Instant;
use std::io::IoSlice;
use std::sync::PoisonError;

impl Lane {
    /// Writes every packet whose release time has come. Returns whether there was one.
    pub(crate) fn write_due(&mut self, now: Instant, exits: &mut [Device]) -> bool {
        let mut last = None;
        while let Some(release) = self.direction.poll_transmit(now) {
            last = Some(release.at);
            self.density.on_release(release.at);
            self.left += 1;
            if !self.run.accepts(&release.packet) {
                self.write_run(exits);
            }
            self.run.push(release);
        }
        self.write_run(exits);
        if let Some(at) = last {
            self.batch.on_write(at);
        }
        last.is_some()
    }

    fn write_run(&mut self, exits: &mut [Device]) {
        let Some(packet) = self.run.first.take() else {
            return;
        };
        let segment = packet.payload;
        let exit = usize::from(segment.exit);
        let now = monotonic_now();
        let written = self.write(&packet, self.run.last, &mut exits[exit]);
        if written && self.toward_origin {
            let range = (segment.index, self.run.last);
            self.capture_segments(
                now,
                (segment.chunk, segment.at),
                segment.shape,
                range,
                packet.ecn as u8,
            );
        }
        if packet.ecn == Ecn::Ce {
            self.count_marks(&segment);
        }
        let (tap, counts) = (self.direction.observer_mut(), &mut self.counts);
        let stage = tap.last_stage();
        for (number, at, wire_bytes) in self.run.members.drain(..) {
            tap.arena.release(segment.chunk);
            let late = now.since(at);
            if written {
                self.lateness.record(late);
                counts.lateness_ns = late.as_nanos() as u64;
                counts.released += 1;
                counts.released_bytes += u64::from(wire_bytes);
            } else {
                // The device refuses only packets that its namespace cannot accept; the sender sees
                // a loss.
                counts.refused += 1;
                counts.unwritten += u64::from(packet.corrupt_bit.is_none());
            }
            if let Some(log) = &mut tap.log {
                log.push(&Record {
                    at_ns: at.as_nanos(),
                    packet: number,
                    value: late.as_nanos() as u64,
                    wire_bytes,
                    kind: if written {
                        RecordKind::Release
                    } else {
                        RecordKind::Refused
                    },
                    reason: 0,
                    stage,
                });
            }
        }
    }

    /// Counts a run that left marked: its own bytes identify the connection and its ECN bits at
    /// arrival.
    fn count_marks(&mut self, segment: &Segment) {
        let arena = &self.direction.observer().arena;
        let bytes = arena.bytes(segment.chunk, segment.at, segment.shape.length());
        if let Some(header) = header::parse(bytes) {
            let packets = self.run.members.len() as u64;
            self.marks.count_marked(&header, packets);
        }
    }

    /// Writes the segments of `packet`'s super-packet from its own to `last`, as one packet.
    fn write(&mut self, packet: &Packet<Segment>, last: u16, device: &mut Device) -> bool {
        let segment = packet.payload;
        let shape = &segment.shape;
        let bytes =
            self.direction
                .observer()
                .arena
                .bytes(segment.chunk, segment.at, shape.length());
        let mut head = [0; HEADERS_MAX];
        let ecn = packet.ecn as u8;
        let range = (segment.index, last);
        let (head_bytes, offload) = shape.head(bytes, range, ecn, &mut head);
        let payload = &bytes[shape.payload(range.0, range.1)];
        let corrupt = packet.corrupt_bit;
        let summed_here = offload.checksum.filter(|_| !device.has_offload());
        if corrupt.is_none() && summed_here.is_none() {
            let offload_bytes = offload.to_bytes();
            let parts = [
                IoSlice::new(&offload_bytes),
                IoSlice::new(&head[..head_bytes]),
                IoSlice::new(payload),
            ];
            return device.write(&parts).is_ok();
        }
        // As on a wire: whole, with its checksum, before a bit of it is inverted.
        self.whole.clear();
        self.whole.extend_from_slice(&head[..head_bytes]);
        self.whole.extend_from_slice(payload);
        if let Some(checksum) = offload.checksum {
            complete_checksum(&mut self.whole, checksum);
        }
        if let Some(byte) = corrupt.and_then(|bit| self.whole.get_mut(bit as usize / 8)) {
            *byte ^= 0x80 >> (corrupt.unwrap_or(0) % 8);
        }
        let offload_bytes = OffloadHeader::default().to_bytes();
        device
            .write(&[IoSlice::new(&offload_bytes), IoSlice::new(&self.whole)])
            .is_ok()
    }

    /// Adds segments to the capture, if there is one.
    pub(super) fn capture_segments(
        &self,
        now: Instant,
        (chunk, at): (u32, u32),
        shape: Shape,
        (first, last): (u16, u16),
        ecn: u8,
    ) {
        let Some(capture) = &self.capture else {
            return;
        };
        let bytes = self
            .direction
            .observer()
            .arena
            .bytes(chunk, at, shape.length());
        let mut capture = capture.lock().unwrap_or_else(PoisonError::into_inner);
        for segment in first..=last {
            capture.push(now, &shape, bytes, segment, ecn);
        }
    }
}
