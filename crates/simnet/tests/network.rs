//! A windowed sender and its receiver over an emulated path: virtual time matches the theory.

use eyelevel_link::{DelaySpec, Direction, LossSpec, Packet, QueueSpec, RateSpec, StageSpec};
use eyelevel_simnet::{Endpoint, Network};
use eyelevel_units::{Duration, Instant, Seed};

const PACKET_BYTES: u32 = 1500;

/// A sender that keeps `window` packets in flight and retransmits each lost one after `timeout`.
struct Sender {
    window: usize,
    timeout: Duration,
    next: u64,
    total: u64,
    in_flight: Vec<(u64, Instant)>,
    resend: Vec<u64>,
}

impl Endpoint<u64> for Sender {
    fn handle_datagram(&mut self, _now: Instant, datagram: Packet<u64>) {
        self.in_flight
            .retain(|(number, _)| *number != datagram.payload);
    }
    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<u64>> {
        if self.in_flight.len() >= self.window {
            return None;
        }
        let number = self.resend.pop().or_else(|| {
            let fresh = (self.next < self.total).then_some(self.next);
            self.next += u64::from(fresh.is_some());
            fresh
        })?;
        self.in_flight.push((number, now));
        Some(Packet::new(PACKET_BYTES, number))
    }
    fn poll_timeout(&self) -> Option<Instant> {
        self.in_flight
            .iter()
            .map(|(_, sent)| *sent + self.timeout)
            .min()
    }
    fn handle_timeout(&mut self, now: Instant) {
        let late = |(_, sent): &(u64, Instant)| *sent + self.timeout <= now;
        self.resend.extend(
            self.in_flight
                .iter()
                .filter(|p| late(p))
                .map(|(number, _)| number),
        );
        let timeout = self.timeout;
        self.in_flight.retain(|(_, sent)| *sent + timeout > now);
    }
}

/// A receiver that answers each packet with 40 bytes.
#[derive(Default)]
struct Receiver {
    received: Vec<(u64, Instant)>,
    answers: Vec<u64>,
}

impl Endpoint<u64> for Receiver {
    fn handle_datagram(&mut self, now: Instant, datagram: Packet<u64>) {
        self.received.push((datagram.payload, now));
        self.answers.push(datagram.payload);
    }
    fn poll_transmit(&mut self, _now: Instant) -> Option<Packet<u64>> {
        self.answers.pop().map(|number| Packet::new(40, number))
    }
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
    fn handle_timeout(&mut self, _now: Instant) {}
}

fn transfer(loss: f64, window: usize, seed: u64) -> (Vec<(u64, Instant)>, Instant) {
    let delay = StageSpec::Delay(DelaySpec { delay_ms: 10.0 });
    let rate = StageSpec::Rate(RateSpec {
        rate_bit_s: 12_000_000,
        queue: QueueSpec::Infinite,
    });
    let up = [
        delay.clone(),
        rate,
        StageSpec::Loss(LossSpec { probability: loss }),
    ];
    let sender = Sender {
        window,
        timeout: Duration::from_millis(500),
        next: 0,
        total: 200,
        in_flight: Vec::new(),
        resend: Vec::new(),
    };
    let seed = Seed::new(seed);
    let up = Direction::new(&up, seed.child("up")).unwrap();
    let down = Direction::new(&[delay], seed.child("down")).unwrap();
    let mut network = Network::new(sender, Receiver::default(), up, down);
    let all = |n: &Network<Sender, Receiver, u64>| n.server.received.len() == 200;
    assert!(
        network.run_until_or(Instant::from_nanos(60_000_000_000), all),
        "seed {seed}"
    );
    (network.server.received.clone(), network.now())
}

#[test]
fn a_full_window_fills_the_link_exactly() {
    // 10 ms of delay, then 200 packets of 1 ms each back to back: the window of 40 covers the RTT.
    let (received, end) = transfer(0.0, 40, 1);
    assert_eq!(end.as_nanos(), 210_000_000);
    assert!(
        received
            .windows(2)
            .all(|pair| pair[1].1 - pair[0].1 == Duration::from_millis(1))
    );
}

#[test]
fn a_window_of_one_takes_one_round_trip_a_packet() {
    // 10 ms delay, 1 ms transmission, 10 ms back: the last packet needs no answer.
    assert_eq!(
        transfer(0.0, 1, 1).1.as_nanos(),
        199 * 21_000_000 + 11_000_000
    );
}

#[test]
fn losses_are_repaired_and_repeatable() {
    let first = transfer(0.1, 10, 5);
    assert!(first.1.as_nanos() > 500_000_000, "no packet was lost");
    assert_eq!(first, transfer(0.1, 10, 5));
    assert_ne!(first, transfer(0.1, 10, 6));
}
