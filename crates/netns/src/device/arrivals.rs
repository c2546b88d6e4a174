//! When packets entered a device, for whoever reads them later.

use crate::device::packet_ring::{HEAD_BYTES, PacketRing, Seen};
use crate::wall_clock::WallClock;
use eyelevel_units::Instant;
use std::collections::VecDeque;

/// Two processors may hand packets over at once, and so write them down in another order.
const LOOK_AHEAD: usize = 32;
/// So many packets in a row without a stamp near, and all that is written down is looked through: the
/// device has dropped more packets than are looked ahead.
const UNFOUND_MAX: u32 = 32;
/// Packets that were written down and not read yet, though later ones were, ...
const PASSED_MAX: usize = 64;
/// ... and for how long they are waited for. What the device dropped never comes.
const PASSED_NS_MAX: u64 = 1_000_000_000;

/// What was written down about a device's packets.
pub(crate) trait Written {
    /// The packet `ahead` places behind the next, where it has come.
    fn peek(&self, ahead: usize) -> Option<Seen<'_>>;
    /// Strikes the next one out. It must have come.
    fn take(&mut self);
}

impl Written for PacketRing {
    #[inline]
    fn peek(&self, ahead: usize) -> Option<Seen<'_>> {
        PacketRing::peek(self, ahead)
    }

    #[inline]
    fn take(&mut self) {
        PacketRing::take(self);
    }
}

/// The stamps of a device's packets. A packet's is the one with its length and first bytes.
pub(crate) struct Arrivals<W> {
    written: W,
    clock: WallClock,
    passed: VecDeque<Passed>,
    unfound: u32,
}

/// A packet that was struck out before it was read.
struct Passed {
    wall_ns: u64,
    length: usize,
    head: [u8; HEAD_BYTES],
    head_bytes: usize,
}

impl<W: Written> Arrivals<W> {
    pub(crate) fn new(written: W) -> Self {
        Self {
            written,
            clock: WallClock::default(),
            passed: VecDeque::new(),
            unfound: 0,
        }
    }

    /// To be called before packets are read: keeps the clocks together. A wall clock that was set
    /// makes what is written down worthless.
    pub(crate) fn read_clocks(&mut self) {
        if self.clock.read() {
            while self.written.peek(0).is_some() {
                self.written.take();
            }
            self.passed.clear();
        }
    }

    /// When the packet that was just read entered the device.
    #[inline]
    pub(crate) fn of(&mut self, packet: &[u8]) -> Option<Instant> {
        let wall_ns = self.find_passed(packet).or_else(|| self.find(packet))?;
        Some(self.clock.monotonic(wall_ns))
    }

    /// When the packet that waits longest entered the device; none where none waits.
    #[inline]
    pub(crate) fn oldest(&self) -> Option<Instant> {
        let seen = self.written.peek(0)?;
        Some(self.clock.monotonic(seen.wall_ns))
    }

    /// The device had nothing to read, though a packet was written down before: it may still be on
    /// its way from there to here, or it was dropped. Nobody waits for it.
    pub(crate) fn pass(&mut self) {
        if let Some(seen) = self.written.peek(0) {
            let passed = Passed::of(&seen);
            self.written.take();
            self.keep(passed);
        }
    }

    fn find_passed(&mut self, packet: &[u8]) -> Option<u64> {
        let is_it = |passed: &Passed| is_of(&passed.seen(), packet);
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
                .filter(|_| far || ahead < LOOK_AHEAD)
            else {
                break None;
            };
            if is_of(&seen, packet) {
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
        (0..ahead).for_each(|_| self.pass());
        self.written.take();
        let is_old = |passed: &Passed| passed.wall_ns + PASSED_NS_MAX < wall_ns;
        while self.passed.front().is_some_and(is_old) {
            self.passed.pop_front();
        }
        Some(wall_ns)
    }

    fn keep(&mut self, passed: Passed) {
        if self.passed.len() == PASSED_MAX {
            self.passed.pop_front();
        }
        self.passed.push_back(passed);
    }
}

impl Passed {
    fn of(seen: &Seen<'_>) -> Self {
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

    fn seen(&self) -> Seen<'_> {
        Seen {
            wall_ns: self.wall_ns,
            length: self.length,
            head: &self.head[..self.head_bytes],
        }
    }
}

#[inline]
fn is_of(seen: &Seen<'_>, packet: &[u8]) -> bool {
    seen.length == packet.len() && packet.starts_with(seen.head)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Packets of a number each, written down at the time of the number.
    #[derive(Default)]
    struct List(VecDeque<(u64, Vec<u8>)>);

    impl Written for List {
        fn peek(&self, ahead: usize) -> Option<Seen<'_>> {
            let (wall_ns, packet) = self.0.get(ahead)?;
            Some(Seen {
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

    /// The time at which it came, without a clock that was ever read.
    fn at(number: u64) -> Option<Instant> {
        Some(Instant::from_nanos(number))
    }

    #[test]
    fn each_packet_has_its_own_stamp_in_whatever_order() {
        let mut arrivals = arrivals(1..=10);
        for number in [2, 1, 3, 6, 4, 5, 10, 9, 8, 7] {
            assert_eq!(arrivals.of(&packet(number)), at(number), "{number}");
        }
        assert_eq!((arrivals.oldest(), arrivals.of(&packet(1))), (None, None));
    }

    #[test]
    fn equal_packets_have_their_stamps_in_their_order() {
        let mut arrivals = arrivals([]);
        for at in [5, 7] {
            arrivals.written.0.push_back((at, packet(0)));
        }
        arrivals.pass();
        assert_eq!(arrivals.of(&packet(0)), at(5));
        assert_eq!(arrivals.of(&packet(0)), at(7));
    }

    #[test]
    fn neither_another_length_nor_another_byte_will_do() {
        let mut arrivals = arrivals([1]);
        let mut other = packet(1);
        other.push(0);
        assert_eq!(arrivals.of(&other), None);
        let mut other = packet(1);
        other[HEAD_BYTES - 1] = 1;
        assert_eq!(arrivals.of(&other), None);
        assert_eq!(arrivals.of(&packet(1)), at(1));
    }

    #[test]
    fn a_packet_without_a_stamp_takes_nobody_elses() {
        let mut arrivals = arrivals(1..=100);
        for number in 1..=100 {
            assert_eq!(arrivals.of(&packet(1000 + number)), None);
            assert_eq!(arrivals.of(&packet(number)), at(number));
        }
    }

    #[test]
    fn packets_that_the_device_dropped_are_gone_past() {
        let mut arrivals = arrivals(1..=5000);
        let read = (3000..3000 + 200).map(|n| arrivals.of(&packet(n)) == at(n));
        assert!(read.skip(UNFOUND_MAX as usize).all(|found| found));
        assert!(arrivals.passed.len() <= PASSED_MAX);
        // They stand in nobody's way, and after a while they are forgotten.
        arrivals
            .written
            .0
            .push_back((9 * SECOND, packet(9 * SECOND)));
        (0..5000).for_each(|_| arrivals.pass());
        assert_eq!(arrivals.of(&packet(9 * SECOND)), at(9 * SECOND));
        arrivals.written.0.push_back((9 * SECOND + 1, packet(7)));
        assert_eq!(arrivals.of(&packet(7)), at(9 * SECOND + 1));
        assert!(arrivals.passed.is_empty());
    }

    #[test]
    fn whoever_waits_longest_is_known_without_reading() {
        let mut arrivals = arrivals([4, 5]);
        assert_eq!(arrivals.oldest(), at(4));
        arrivals.of(&packet(5));
        assert_eq!(arrivals.oldest(), None);
    }
}
