mod losses;

use super::{Payload, Scenario, format_numbers, format_state};
use crate::Endpoint;
use eyelevel_congestion::{DepartureTimer, Flow};
use eyelevel_link::{Ecn, Packet};
use eyelevel_units::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    chunk: u64,
}

/// A sender of endless data, or of a number of chunks, with the loss detection of RFC 9002.
#[derive(Debug)]
pub struct Sender {
    flow: Flow,
    packet_bytes: u64,
    header_bytes: u64,
    ecn: Ecn,
    /// Packets that arrived marked, by the receiver's last report.
    marked: u64,
    pacer: DepartureTimer,
    in_flight: BTreeMap<u64, Sent>,
    again: VecDeque<u64>,
    chunk_next: u64,
    chunks: Option<u64>,
    receive_window_bytes: u64,
    number_next: u64,
    number_acked: Option<u64>,
    packets_lost: u64,
    probes: u32,
    timeouts: u32,
    last_sent_at: Instant,
    rtt_latest: Duration,
    sends: Vec<Instant>,
    states: Vec<(Instant, &'static str)>,
    log: String,
    clock: Instant,
}

impl Sender {
    /// Creates the sender of a new connection.
    pub fn new(flow: Flow, scenario: &Scenario) -> Self {
        Self {
            flow,
            pacer: DepartureTimer::default(),
            in_flight: BTreeMap::new(),
            again: VecDeque::new(),
            chunk_next: 0,
            packet_bytes: scenario.settings.packet_bytes,
            header_bytes: scenario.header_bytes,
            ecn: if scenario.ecn { Ecn::Ect0 } else { Ecn::NotEct },
            marked: 0,
            chunks: scenario.chunks,
            receive_window_bytes: scenario.receive_window_bytes,
            number_next: 0,
            number_acked: None,
            packets_lost: 0,
            probes: 0,
            timeouts: 0,
            last_sent_at: Instant::ZERO,
            rtt_latest: Duration::ZERO,
            sends: Vec::new(),
            states: Vec::new(),
            log: String::new(),
            clock: Instant::ZERO,
        }
    }

    /// Returns its congestion control.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Returns the packets sent, retransmissions included.
    pub fn packets_sent(&self) -> u64 {
        self.number_next
    }

    /// Returns the packets declared lost, rightly or not.
    pub fn packets_lost(&self) -> u64 {
        self.packets_lost
    }

    /// Returns when each packet was sent.
    pub fn sends(&self) -> &[Instant] {
        &self.sends
    }

    /// Returns the controller's states, each with the instant of its beginning.
    pub fn states(&self) -> &[(Instant, &'static str)] {
        &self.states
    }

    /// Returns the events passed to the flow, and its answers, in the format of
    /// `vectors/congestion`.
    pub fn log(&self) -> &str {
        &self.log
    }

    fn note(&mut self, now: Instant, what: &str) {
        let answer = format_state(&self.flow);
        let at = now.as_nanos();
        self.log.push_str(&format!("{at}\t{what}\t{answer}\n"));
    }

    /// Adds chunks to send.
    pub fn add_chunks(&mut self, chunks: u64) {
        self.chunks = self.chunks.map(|before| before + chunks);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        ranges: &[(u64, u64)],
        arrivals: &[(u64, Instant)],
        marked: u64,
    ) {
        let mut acked: Vec<u64> = Vec::new();
        for (first, last) in ranges {
            acked.extend(
                self.in_flight
                    .range(first..=last)
                    .map(|(number, _)| *number),
            );
        }
        acked.sort_unstable();
        let Some(newest) = acked.last().copied() else {
            return;
        };
        self.rtt_latest = now.since(self.in_flight[&newest].at);
        let named = format!("ack\t{}", format_numbers(&acked));
        for number in acked {
            let sent = self.in_flight.remove(&number).unwrap();
            let arrival = arrivals.iter().find(|(arrived, _)| *arrived == number);
            let arrived_at = arrival.map(|(_, at)| *at);
            self.flow.on_packet_acked(now, number, sent.at, arrived_at);
        }
        self.number_acked = self.number_acked.max(Some(newest));
        self.timeouts = 0;
        self.flow.on_acks_end(now, None, false);
        self.note(now, &named);
        self.detect_losses(now);
        if marked > self.marked {
            self.marked = marked;
            self.flow.on_mark(now);
            self.note(now, &format!("mark\t{marked}"));
        }
    }

    fn has_data(&self) -> bool {
        !self.again.is_empty() || self.chunks.is_none_or(|chunks| self.chunk_next < chunks)
    }

    fn is_window_open(&self) -> bool {
        let window = self.flow.controller().window_bytes();
        let window = window.min(self.receive_window_bytes);
        self.flow.bytes_in_flight() + self.packet_bytes <= window
    }

    fn note_state(&mut self, now: Instant) {
        let state = self.flow.controller().state();
        if self.states.last().is_none_or(|(_, last)| *last != state) {
            self.states.push((now, state));
        }
    }

    fn send(&mut self, now: Instant) -> Packet<Payload> {
        let chunk = self.again.pop_front().unwrap_or_else(|| {
            self.chunk_next += 1;
            self.chunk_next - 1
        });
        let number = self.number_next;
        self.number_next += 1;
        self.last_sent_at = now;
        self.sends.push(now);
        self.in_flight.insert(number, Sent { at: now, chunk });
        // The departure timer counts the unpaced packets itself.
        let rate = self.flow.controller().pacing_rate_bytes_s();
        self.pacer
            .on_packet_sent(now, self.packet_bytes, self.packet_bytes, rate);
        self.flow.on_packet_sent(now, number, self.packet_bytes);
        self.note(now, &format!("sent\t{number}"));
        let wire_bytes = (self.packet_bytes + self.header_bytes) as u32;
        let payload = Payload::Data {
            number,
            chunk,
            sent_at: now,
        };
        Packet {
            ecn: self.ecn,
            ..Packet::new(wire_bytes, payload)
        }
    }
}

impl Endpoint<Payload> for Sender {
    fn handle_datagram(&mut self, now: Instant, datagram: Packet<Payload>) {
        self.clock = now;
        if let Payload::Ack {
            ranges,
            arrivals,
            marked,
        } = datagram.payload
        {
            self.on_ack(now, &ranges, &arrivals, marked);
            self.note_state(now);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<Payload>> {
        self.clock = now;
        if !self.has_data() && self.probes == 0 {
            if self.is_window_open() {
                self.flow.on_app_limited();
            }
            return None;
        }
        if self.probes > 0 {
            self.probes -= 1;
            // A probe retransmits the oldest chunk in flight.
            if let Some((_, sent)) = self.in_flight.first_key_value() {
                self.again.push_front(sent.chunk);
            }
            return Some(self.send(now));
        }
        if !self.is_window_open() {
            self.pacer.on_blocked();
            return None;
        }
        if self.pacer.departure() > now {
            return None;
        }
        let packet = self.send(now);
        self.note_state(now);
        Some(packet)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let paced = (self.has_data() && self.is_window_open()).then(|| self.pacer.departure());
        let paced = paced.filter(|at| *at > self.clock);
        let loss = self.loss_timer();
        let probe = if loss.is_none() {
            self.probe_timer()
        } else {
            None
        };
        [paced, loss, probe].into_iter().flatten().min()
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.clock = now;
        if self.loss_timer().is_some_and(|at| at <= now) {
            self.detect_losses(now);
            self.note_state(now);
        } else if self.loss_timer().is_none() && self.probe_timer().is_some_and(|at| at <= now) {
            self.timeouts += 1;
            self.probes = 2;
            self.last_sent_at = now;
        }
    }
}
