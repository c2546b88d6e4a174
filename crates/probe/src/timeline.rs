//! Pure: the times of what was sent and received, and the facts of a handshake derived from them.

/// The most arrivals recorded; a handshake with the largest certificates has 20.
const ARRIVALS_MAX: usize = 128;

/// The smallest gap between arrivals that are counted apart: servers compute that long. On paths
/// with a round trip below twice this, the count is a lower bound.
const GAP_NS_MIN: u64 = 2_000_000;

/// One direction's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flight {
    /// Payload bytes of TCP or UDP.
    pub bytes: u64,
    /// Datagrams of UDP; reads or writes of TCP.
    pub pieces: u64,
}

/// An arrival of payload, with the time when this process read it.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at_ns: u64,
    read_ns: u64,
}

/// The times of a handshake at the socket, in nanoseconds of one clock.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    sent: Flight,
    received: Flight,
    first_sent_ns: Option<u64>,
    arrivals: Vec<Arrival>,
    complete_ns: Option<u64>,
    at_completion: Option<(Flight, Flight, usize)>,
}

impl Timeline {
    /// Records payload that was sent.
    pub fn sent(&mut self, at_ns: u64, bytes: usize) {
        self.sent.bytes += bytes as u64;
        self.sent.pieces += 1;
        self.first_sent_ns.get_or_insert(at_ns);
    }

    /// Records payload that arrived, and was read later.
    pub fn received(&mut self, at_ns: u64, read_ns: u64, bytes: usize) {
        self.received.bytes += bytes as u64;
        self.received.pieces += 1;
        if self.arrivals.len() < ARRIVALS_MAX {
            self.arrivals.push(Arrival { at_ns, read_ns });
        }
    }

    /// Completes the handshake; later payload is not part of it.
    pub fn complete(&mut self, at_ns: u64) {
        if self.complete_ns.is_none() {
            self.complete_ns = Some(at_ns);
            self.at_completion = Some((self.sent, self.received, self.arrivals.len()));
        }
    }

    /// Returns when it was complete.
    pub fn complete_ns(&self) -> Option<u64> {
        self.complete_ns
    }

    /// Returns when the first payload was sent.
    pub fn first_sent_ns(&self) -> Option<u64> {
        self.first_sent_ns
    }

    /// Returns what was sent and received until the handshake was complete, or until now.
    pub fn flights(&self) -> (Flight, Flight) {
        self.at_completion
            .map_or((self.sent, self.received), |(sent, received, _)| {
                (sent, received)
            })
    }

    /// Returns the time from the first payload to the first answer, the server's own time included.
    pub fn first_answer_ns(&self) -> Option<u64> {
        let first = self.arrivals.first()?;
        Some(first.at_ns.saturating_sub(self.first_sent_ns?))
    }

    /// Returns the first arrival of payload at or after `at_ns`; what arrives sooner after a
    /// request than the path allows is no answer to it.
    pub fn first_arrival_from(&self, at_ns: u64) -> Option<u64> {
        let times = self.arrivals.iter().map(|arrival| arrival.at_ns);
        times.filter(|came_ns| *came_ns >= at_ns).min()
    }

    /// Returns how many times the handshake waited for the other end.
    pub fn round_trips(&self) -> Option<u32> {
        let count = self.waits().count() as u32;
        (count > 0).then_some(count)
    }

    /// Returns the delay of this process's reads, by which it prolonged the handshake: the smallest
    /// of each flight except for the last, which nothing waits for.
    pub fn own_delay_ns(&self) -> u64 {
        let delays = self.waits().map(|flight| {
            let late = |arrival: &Arrival| arrival.read_ns.saturating_sub(arrival.at_ns);
            flight.iter().map(late).min().unwrap_or(0)
        });
        let last = self.round_trips().unwrap_or(1) as usize - 1;
        delays.take(last).sum()
    }

    /// Returns the arrivals until completion by flight, one for each wait.
    ///
    /// Arrivals belong to one flight if they are no further apart than half of the first round
    /// trip: a server answers at once, so a later one answers something that had to cross the path
    /// before.
    fn waits(&self) -> impl Iterator<Item = &[Arrival]> {
        let gap_ns = (self.first_answer_ns().unwrap_or(0) / 2).max(GAP_NS_MIN);
        let count = self
            .at_completion
            .map_or(self.arrivals.len(), |(_, _, count)| count);
        self.arrivals[..count]
            .chunk_by(move |one, next| next.at_ns.saturating_sub(one.at_ns) <= gap_ns)
    }
}

/// The smallest excess of a TLS round trip over TCP's for a proxy to be suspected, in microseconds:
/// busy servers take some milliseconds to sign, ours take less than one.
const SPLIT_DIFFERENCE_US_MIN: u64 = 10_000;
/// The factor by which a TLS round trip must exceed TCP's: jitter alone rarely doubles it.
const SPLIT_FACTOR: u64 = 2;

/// The number of processor queues that may delay a TLS round trip when the kernels answered TCP's
/// without them: if the server is on this machine, it waits to read, and this process to answer.
const MACHINE_DELAYS: u64 = 2;

/// The recent wait of this machine's processes for a processor, measured by how late the prober's
/// own reads were; a server on it waits as long, and TCP's handshake, which kernels answer, does
/// not.
#[derive(Clone, Copy, Debug)]
pub struct MachineDelay {
    lately_us: u64,
}

impl MachineDelay {
    /// The delay of a machine without attempts so far.
    pub const NONE: Self = Self { lately_us: 0 };

    /// Returns the delay after one more attempt, whose reads were `late_us` late, or nine tenths of
    /// the earlier delay if that is larger.
    pub fn with(self, late_us: u64) -> Self {
        Self {
            lately_us: late_us.max(self.lately_us - self.lately_us / 10),
        }
    }
}

/// Returns whether a proxy may have answered TCP's handshake in the server's place (Jaeger's
/// thesis, figure 5.1): the smallest of all later waits is far longer than TCP's, and by more than
/// this machine may have added. A server that always takes as long to respond looks the same.
pub fn is_split(tcp_handshake_us: u64, wait_us_min: u64, machine: MachineDelay) -> bool {
    let unexplained_us = SPLIT_DIFFERENCE_US_MIN + MACHINE_DELAYS * machine.lately_us;
    wait_us_min > SPLIT_FACTOR * tcp_handshake_us && wait_us_min - tcp_handshake_us > unexplained_us
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn handshake(arrivals_ms: &[u64]) -> Timeline {
        let mut timeline = Timeline::default();
        timeline.sent(0, 1200);
        for at in arrivals_ms {
            timeline.received(at * MS, at * MS + 1, 1200);
        }
        timeline.complete(arrivals_ms.last().unwrap() * MS);
        timeline
    }

    #[test]
    fn pieces_of_one_flight_are_one_round_trip() {
        assert_eq!(handshake(&[100, 101, 102, 140]).round_trips(), Some(1));
        assert_eq!(handshake(&[100, 101, 201, 202]).round_trips(), Some(2));
        assert_eq!(handshake(&[100, 200, 300]).round_trips(), Some(3));
        assert_eq!(Timeline::default().round_trips(), None);
    }

    #[test]
    fn late_reads_count_where_something_waits_for_their_answer() {
        let mut timeline = Timeline::default();
        timeline.sent(0, 1200);
        // The first flight's second piece was read 3 late, its first 7; the last one's delay is not
        // the handshake's.
        for (at, late) in [(100, 7), (101, 3), (201, 9)] {
            timeline.received(at * MS, at * MS + late, 1200);
        }
        timeline.complete(201 * MS);
        assert_eq!(
            (timeline.round_trips(), timeline.own_delay_ns()),
            (Some(2), 3)
        );
        assert_eq!(Timeline::default().own_delay_ns(), 0);
    }

    #[test]
    fn an_answer_arrives_no_sooner_than_the_path_allows() {
        let timeline = handshake(&[100, 101, 202, 240]);
        assert_eq!(timeline.first_arrival_from(102 * MS), Some(202 * MS));
        assert_eq!(timeline.first_arrival_from(241 * MS), None);
    }

    #[test]
    fn arrivals_after_completion_are_not_counted() {
        let mut timeline = handshake(&[100]);
        timeline.received(200 * MS, 200 * MS, 5000);
        timeline.sent(200 * MS, 100);
        timeline.complete(999 * MS);
        assert_eq!(timeline.round_trips(), Some(1));
        assert_eq!(timeline.complete_ns(), Some(100 * MS));
        let (sent, received) = timeline.flights();
        assert_eq!(
            (sent.bytes, received.bytes, received.pieces),
            (1200, 1200, 1)
        );
    }

    #[test]
    fn a_near_answer_to_tcp_and_a_far_one_to_tls_is_a_split_connection() {
        let quiet = MachineDelay::NONE.with(90);
        assert!(is_split(500, 50_000, quiet));
        assert!(!is_split(50_000, 60_000, quiet), "a slow signature");
        assert!(!is_split(200, 9_000, quiet), "a slow server nearby");
    }

    #[test]
    fn delay_of_a_busy_machine_is_no_split() {
        let busy = MachineDelay::NONE.with(90).with(12_000).with(300);
        assert!(!is_split(200, 30_000, busy), "10 ms, and twice 10.8");
        assert!(is_split(200, 50_000, busy), "a far server all the same");
        let rested = (0..40).fold(busy, |machine, _| machine.with(90));
        assert!(is_split(200, 12_000, rested), "a burst is forgotten");
    }
}
