use super::Payload;
use crate::Endpoint;
use eyelevel_link::{Ecn, Packet};
use eyelevel_units::{Duration, Instant};
use std::collections::{BTreeSet, VecDeque};

/// QUIC's default delay of acknowledgements.
const ACK_DELAY: Duration = Duration::from_millis(25);
/// The number of packets that are acknowledged in pairs first, as Chromium does.
const PACKETS_EARLY: usize = 100;
const RANGES_MAX: usize = 32;
/// Mahimahi's bytes per delivery opportunity, parts of packets included.
const OPPORTUNITY_BYTES: u64 = 1504;

/// A receiver that gets packets directly or through a trace of delivery opportunities with an
/// endless queue, and acknowledges every second one (later every `packets_per_ack`), or after 25
/// ms, or at once at a gap or a mark.
#[derive(Debug)]
pub struct Receiver {
    ranges: VecDeque<(u64, u64)>,
    chunks: BTreeSet<u64>,
    chunks_below: u64,
    delays: Vec<Duration>,
    unacknowledged: u32,
    ack_at: Option<Instant>,
    trace: Option<Trace>,
    packets_per_ack: u32,
    timestamps: bool,
    arrivals: Vec<(u64, Instant)>,
    marked: u64,
    busy: Option<Busy>,
    /// Packets that arrived while it was busy, with their times of sending.
    waiting: VecDeque<(Instant, Packet<Payload>)>,
    free_at: Instant,
}

/// The pauses of a receiver in user space that waits for a processor: it reads nothing at the start
/// of every period.
#[derive(Clone, Copy, Debug)]
pub struct Busy {
    /// Time from the start of one pause to that of the next.
    pub period: Duration,
    /// Length of a pause.
    pub wait: Duration,
}

impl Busy {
    /// Returns when the pause at `now` ends, if there is one.
    fn pause_end(self, now: Instant) -> Option<Instant> {
        let period_ns = u64::try_from(self.period.as_nanos()).unwrap_or(u64::MAX);
        let start = Instant::from_nanos(now.as_nanos() / period_ns * period_ns);
        Some(start + self.wait).filter(|end| now < *end)
    }
}

#[derive(Debug)]
struct Trace {
    opportunities_ms: Vec<u64>,
    next: usize,
    queue: VecDeque<(Instant, Packet<Payload>)>,
    /// Bytes of the first packet that were already carried.
    bytes_carried: u64,
}

impl Trace {
    fn at(&self, index: usize) -> Instant {
        let period = *self.opportunities_ms.last().unwrap();
        let cycles = (index / self.opportunities_ms.len()) as u64;
        let ms = cycles * period + self.opportunities_ms[index % self.opportunities_ms.len()];
        Instant::from_nanos(ms * 1_000_000)
    }
}

impl Receiver {
    /// Creates a receiver. `trace`: delivery opportunities in milliseconds, repeated.
    pub fn new(
        trace: Option<Vec<u64>>,
        timestamps: bool,
        packets_per_ack: u32,
        busy: Option<Busy>,
    ) -> Self {
        Self {
            busy,
            waiting: VecDeque::new(),
            free_at: Instant::ZERO,
            packets_per_ack,
            ranges: VecDeque::new(),
            chunks: BTreeSet::new(),
            chunks_below: 0,
            delays: Vec::new(),
            unacknowledged: 0,
            ack_at: None,
            trace: trace.map(|opportunities_ms| Trace {
                opportunities_ms,
                next: 0,
                queue: VecDeque::new(),
                bytes_carried: 0,
            }),
            timestamps,
            arrivals: Vec::new(),
            marked: 0,
        }
    }

    /// Returns the distinct chunks received.
    pub fn chunks(&self) -> u64 {
        self.chunks_below + self.chunks.len() as u64
    }

    /// Returns every packet's time in the bottleneck, from the delay of the way to it.
    pub fn delays_ms(&self, way_ms: f64) -> Vec<f64> {
        let way_ms = if self.trace.is_some() { 0.0 } else { way_ms };
        let ms = |delay: &Duration| delay.as_secs_f64() * 1e3 - way_ms;
        self.delays.iter().map(ms).collect()
    }

    fn busy_until(&mut self, now: Instant) -> Option<Instant> {
        let until = self.busy.and_then(|busy| busy.pause_end(now));
        self.free_at = until.unwrap_or(now);
        until
    }

    fn take(&mut self, now: Instant, entered: Instant, packet: Packet<Payload>) {
        let Payload::Data { number, chunk, .. } = packet.payload else {
            return;
        };
        let marked = packet.ecn == Ecn::Ce;
        self.marked += u64::from(marked);
        self.delays.push(now.since(entered));
        if self.timestamps {
            self.arrivals.push((number, now));
        }
        self.chunks.insert(chunk);
        while self.chunks.remove(&self.chunks_below) {
            self.chunks_below += 1;
        }
        let in_order = match self.ranges.front_mut() {
            Some((_, last)) if number == *last + 1 => {
                *last = number;
                self.ranges.len() == 1
            }
            _ => {
                // The paths of these tests keep the order: a new number is above all others.
                let first = self.ranges.is_empty();
                self.ranges.push_front((number, number));
                self.ranges.truncate(RANGES_MAX);
                first && number == 0
            }
        };
        let gap_now = self
            .ranges
            .front()
            .is_some_and(|(first, last)| first == last)
            && !in_order;
        self.unacknowledged += 1;
        let early = self.delays.len() < PACKETS_EARLY;
        let enough = if early { 2 } else { self.packets_per_ack };
        if self.unacknowledged >= enough || gap_now || marked {
            self.ack_at = Some(now);
        } else {
            self.ack_at = Some(self.ack_at.unwrap_or(now + ACK_DELAY));
        }
    }
}

impl Endpoint<Payload> for Receiver {
    fn handle_datagram(&mut self, now: Instant, datagram: Packet<Payload>) {
        match &mut self.trace {
            Some(trace) => {
                while trace.queue.is_empty() && trace.at(trace.next) < now {
                    trace.next += 1;
                }
                trace.queue.push_back((now, datagram));
            }
            None => {
                let Payload::Data { sent_at, .. } = datagram.payload else {
                    return;
                };
                if self.busy_until(now).is_some() || !self.waiting.is_empty() {
                    self.waiting.push_back((sent_at, datagram));
                } else {
                    self.take(now, sent_at, datagram);
                }
            }
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<Payload>> {
        if self.busy_until(now).is_some() {
            return None;
        }
        while self.ack_at.is_none_or(|at| at > now) {
            let (sent_at, packet) = self.waiting.pop_front()?;
            self.take(now, sent_at, packet);
        }
        self.ack_at = None;
        self.unacknowledged = 0;
        let ranges = self.ranges.iter().copied().collect();
        let arrivals = std::mem::take(&mut self.arrivals);
        let marked = self.marked;
        Some(Packet::new(
            80,
            Payload::Ack {
                ranges,
                arrivals,
                marked,
            },
        ))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let trace = self.trace.as_ref();
        let trace = trace.filter(|trace| !trace.queue.is_empty());
        let opportunity = trace.map(|trace| trace.at(trace.next));
        let free = (!self.waiting.is_empty()).then_some(self.free_at);
        let delayed = self.ack_at.map(|at| at.max(self.free_at));
        [opportunity, delayed, free].into_iter().flatten().min()
    }

    fn handle_timeout(&mut self, now: Instant) {
        let Some(trace) = &mut self.trace else {
            return;
        };
        let mut delivered = Vec::new();
        while !trace.queue.is_empty() && trace.at(trace.next) <= now {
            trace.next += 1;
            let mut room = OPPORTUNITY_BYTES;
            while let Some((_, packet)) = trace.queue.front() {
                let left = u64::from(packet.wire_bytes) - trace.bytes_carried;
                if left > room {
                    trace.bytes_carried += room;
                    break;
                }
                room -= left;
                trace.bytes_carried = 0;
                delivered.extend(trace.queue.pop_front());
            }
        }
        for (entered, packet) in delivered {
            self.take(now, entered, packet);
        }
    }
}
