//! The times when packets entered a device, for packets that are read later.

use crate::device::packet_ring::{HEAD_BYTES, PacketHead, PacketRing};
use crate::wall_clock::WallClock;
use eyelevel_units::Instant;
use std::collections::VecDeque;

/// The search distance for a packet: two processors may enqueue packets at once and record them in
/// another order.
const SEARCH_DISTANCE: usize = 32;
/// The number of consecutive packets without a nearby record after which all records are searched:
/// the device has dropped more packets than the search distance.
const UNFOUND_MAX: u32 = 32;
/// The most records that are kept for packets not read yet, though later ones were.
const PASSED_MAX: usize = 64;
/// How long such records are kept, because a dropped packet is never read, ns.
const PASSED_NS_MAX: u64 = 1_000_000_000;

/// The records of a device's packets.
pub(crate) trait Records {
    /// Returns the record `ahead` positions after the next, if it has arrived.
    fn peek(&self, ahead: usize) -> Option<PacketHead<'_>>;
    /// Removes the next record, which must have arrived.
    fn take(&mut self);
}

impl Records for PacketRing {
    #[inline]
    fn peek(&self, ahead: usize) -> Option<PacketHead<'_>> {
        PacketRing::peek(self, ahead)
    }

    #[inline]
    fn take(&mut self) {
        PacketRing::take(self);
    }
}

/// The arrival times of a device's packets. A packet is matched by its length and first bytes.
pub(crate) struct Arrivals<W> {
    written: W,
    clock: WallClock,
    passed: VecDeque<Passed>,
    unfound: u32,
}

/// A record that was removed before its packet was read.
struct Passed {
    wall_ns: u64,
    length: usize,
    head: [u8; HEAD_BYTES],
    head_bytes: usize,
}

impl<W: Records> Arrivals<W> {
    pub(crate) fn new(written: W) -> Self {
        Self {
            written,
            clock: WallClock::default(),
            passed: VecDeque::new(),
            unfound: 0,
        }
    }

    /// Synchronises the clocks; call it before packets are read. If the wall clock was set, all
    /// records are discarded.
    pub(crate) fn read_clocks(&mut self) {
        if self.clock.read() {
            while self.written.peek(0).is_some() {
                self.written.take();
            }
            self.passed.clear();
        }
    }

    /// Returns when the packet that was just read entered the device.
    #[inline]
    pub(crate) fn time_of(&mut self, packet: &[u8]) -> Option<Instant> {
        let wall_ns = self.find_passed(packet).or_else(|| self.find(packet))?;
        Some(self.clock.monotonic(wall_ns))
    }

    /// Returns when the oldest waiting packet entered the device, or `None` if none waits.
    #[inline]
    pub(crate) fn oldest(&self) -> Option<Instant> {
        let seen = self.written.peek(0)?;
        Some(self.clock.monotonic(seen.wall_ns))
    }

    /// Skips the next record, because the device had nothing to read: the packet may still be in
    /// transit to the reader, or it was dropped. It no longer counts as waiting.
    pub(crate) fn skip_next(&mut self) {
        if let Some(seen) = self.written.peek(0) {
            let passed = Passed::of(&seen);
            self.written.take();
            self.push_passed(passed);
        }
    }

    fn find_passed(&mut self, packet: &[u8]) -> Option<u64> {
        let is_it = |passed: &Passed| matches(&passed.seen(), packet);
        let place = self.passed.iter().position(is_it)?;
        self.passed.remove(place).map(|passed| passed.wall_ns)
    }

    fn find(&mut self, packet: &[u8]) -> Option<u64> {
        let far = self.unfound >= UNFOUND_MAX;
        let mut ahead = 0;
        let found = loop {
            let Some(seen) = self
                .written
                .peek(ahead)
                .filter(|_| far || ahead < SEARCH_DISTANCE)
            else {
                break None;
            };
            if matches(&seen, packet) {
                break Some(seen.wall_ns);
            }
            ahead += 1;
        };
        self.unfound = if far || found.is_some() {
            0
        } else {
            self.unfound + 1
        };
        let wall_ns = found?;
        (0..ahead).for_each(|_| self.skip_next());
        self.written.take();
        let is_old = |passed: &Passed| passed.wall_ns + PASSED_NS_MAX < wall_ns;
        while self.passed.front().is_some_and(is_old) {
            self.passed.pop_front();
        }
        Some(wall_ns)
    }

    fn push_passed(&mut self, passed: Passed) {
        if self.passed.len() == PASSED_MAX {
            self.passed.pop_front();
        }
        self.passed.push_back(passed);
    }
}

impl Passed {
    fn of(seen: &PacketHead<'_>) -> Self {
        let head_bytes = seen.head.len().min(HEAD_BYTES);
        let mut head = [0; HEAD_BYTES];
        head[..head_bytes].copy_from_slice(&seen.head[..head_bytes]);
        Self {
            wall_ns: seen.wall_ns,
            length: seen.length,
            head,
            head_bytes,
        }
    }

    fn seen(&self) -> PacketHead<'_> {
        PacketHead {
            wall_ns: self.wall_ns,
            length: self.length,
            head: &self.head[..self.head_bytes],
        }
    }
}

#[inline]
fn matches(seen: &PacketHead<'_>, packet: &[u8]) -> bool {
    seen.length == packet.len() && packet.starts_with(seen.head)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Numbered packets, each recorded at the time equal to its number.
    #[derive(Default)]
    struct List(VecDeque<(u64, Vec<u8>)>);

    impl Records for List {
        fn peek(&self, ahead: usize) -> Option<PacketHead<'_>> {
            let (wall_ns, packet) = self.0.get(ahead)?;
            Some(PacketHead {
                wall_ns: *wall_ns,
                length: packet.len(),
                head: &packet[..packet.len().min(HEAD_BYTES)],
            })
        }

        fn take(&mut self) {
            self.0.pop_front().expect("it has come");
        }
    }

    fn packet(number: u64) -> Vec<u8> {
        let mut packet = vec![0; 200];
        packet[40..48].copy_from_slice(&number.to_be_bytes());
        packet
    }

    fn arrivals(written: impl IntoIterator<Item = u64>) -> Arrivals<List> {
        Arrivals::new(List(written.into_iter().map(|n| (n, packet(n))).collect()))
    }

    /// Returns the arrival time of a packet, for a clock that was never read.
    fn at(number: u64) -> Option<Instant> {
        Some(Instant::from_nanos(number))
    }

    #[test]
    fn each_packet_has_its_own_stamp_in_whatever_order() {
        let mut arrivals = arrivals(1..=10);
        for number in [2, 1, 3, 6, 4, 5, 10, 9, 8, 7] {
            assert_eq!(arrivals.time_of(&packet(number)), at(number), "{number}");
        }
        assert_eq!(
            (arrivals.oldest(), arrivals.time_of(&packet(1))),
            (None, None)
        );
    }

    #[test]
    fn equal_packets_have_their_stamps_in_their_order() {
        let mut arrivals = arrivals([]);
        for at in [5, 7] {
            arrivals.written.0.push_back((at, packet(0)));
        }
        arrivals.skip_next();
        assert_eq!(arrivals.time_of(&packet(0)), at(5));
        assert_eq!(arrivals.time_of(&packet(0)), at(7));
    }

    #[test]
    fn length_and_bytes_must_match() {
        let mut arrivals = arrivals([1]);
        let mut other = packet(1);
        other.push(0);
        assert_eq!(arrivals.time_of(&other), None);
        let mut other = packet(1);
        other[HEAD_BYTES - 1] = 1;
        assert_eq!(arrivals.time_of(&other), None);
        assert_eq!(arrivals.time_of(&packet(1)), at(1));
    }

    #[test]
    fn a_packet_without_a_stamp_gets_none() {
        let mut arrivals = arrivals(1..=100);
        for number in 1..=100 {
            assert_eq!(arrivals.time_of(&packet(1000 + number)), None);
            assert_eq!(arrivals.time_of(&packet(number)), at(number));
        }
    }

    #[test]
    fn dropped_packets_are_skipped() {
        let mut arrivals = arrivals(1..=5000);
        let read = (3000..3000 + 200).map(|n| arrivals.time_of(&packet(n)) == at(n));
        assert!(read.skip(UNFOUND_MAX as usize).all(|found| found));
        assert!(arrivals.passed.len() <= PASSED_MAX);
        // Their records do not block others, and are discarded after a while.
        arrivals
            .written
            .0
            .push_back((9 * SECOND, packet(9 * SECOND)));
        (0..5000).for_each(|_| arrivals.skip_next());
        assert_eq!(arrivals.time_of(&packet(9 * SECOND)), at(9 * SECOND));
        arrivals.written.0.push_back((9 * SECOND + 1, packet(7)));
        assert_eq!(arrivals.time_of(&packet(7)), at(9 * SECOND + 1));
        assert!(arrivals.passed.is_empty());
    }

    #[test]
    fn the_oldest_waiting_packet_is_found_without_reading() {
        let mut arrivals = arrivals([4, 5]);
        assert_eq!(arrivals.oldest(), at(4));
        arrivals.time_of(&packet(5));
        assert_eq!(arrivals.oldest(), None);
    }
}
