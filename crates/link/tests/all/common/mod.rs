//! Runs a direction over a list of arrivals and collects its packets and events.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use eyelevel_link::{Direction, DropReason, Ecn, Event, EventKind, Observer, Packet, StageSpec};
use eyelevel_units::{Instant, Seed};
use proptest::prelude::*;

/// One packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    pub at: u64,
    pub bytes: u32,
    pub flow: u32,
    pub ecn: Ecn,
}

/// The results of the packets: releases in order (number, instant, ECN bits) and drops in order
/// (number, instant, reason).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub released: Vec<(u64, u64, Ecn)>,
    pub dropped: Vec<(u64, u64, DropReason)>,
}

/// An observer that keeps every event.
#[derive(Debug, Default)]
pub struct Recorder(pub Vec<Event>);

impl<P> Observer<P> for Recorder {
    fn event(&mut self, event: &Event) {
        self.0.push(*event);
    }
}

/// Returns a configuration of that many cases from a fixed seed: each run of the tests is the same.
/// `PROPTEST_RNG_SEED` and `PROPTEST_CASES` widen the search.
pub fn config(cases: u32) -> ProptestConfig {
    let seed = std::env::var("PROPTEST_RNG_SEED")
        .ok()
        .and_then(|text| text.parse().ok());
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|t| t.parse().ok())
        .unwrap_or(cases);
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(seed.unwrap_or(20_261_121)),
        ..ProptestConfig::default()
    }
}

/// A time after every event.
pub const END: Instant = Instant::from_nanos(u64::MAX - 1);

/// Runs with a punctual driver (called at each deadline) or a late one (called at arrivals only).
/// Also returns the events.
pub fn run(
    stages: &[StageSpec],
    seed: u64,
    arrivals: &[Arrival],
    punctual: bool,
) -> (Outcome, Vec<Event>) {
    let observer = Recorder::default();
    let mut direction = Direction::with_observer(stages, Seed::new(seed), observer).unwrap();
    let mut released = Vec::new();
    for (number, arrival) in arrivals.iter().enumerate() {
        let now = Instant::from_nanos(arrival.at);
        while let Some(wake) = direction.poll_timeout().filter(|w| punctual && *w <= now) {
            released.extend(std::iter::from_fn(|| direction.poll_transmit(wake)));
        }
        let mut packet = Packet::new(arrival.bytes, number as u64);
        (packet.flow, packet.ecn) = (arrival.flow, arrival.ecn);
        direction.handle_packet(now, packet);
    }
    released.extend(std::iter::from_fn(|| direction.poll_transmit(END)));
    let released = released
        .into_iter()
        .map(|r| (r.number, r.at.as_nanos(), r.packet.ecn));
    let events = std::mem::take(&mut direction.observer_mut().0);
    let drop_of = |event: &Event| match event.kind {
        EventKind::Dropped { reason, .. } => {
            Some((event.packet.unwrap(), event.at.as_nanos(), reason))
        }
        _ => None,
    };
    let dropped = events.iter().filter_map(drop_of).collect();
    (
        Outcome {
            released: released.collect(),
            dropped,
        },
        events,
    )
}

/// Generates arrivals of mixed sizes in bursts and pauses; gaps are whole multiples of 1 ns up to
/// 20 ms.
pub fn arrivals(count: usize) -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![
        4 => Just(0_u64),
        6 => 1_u64..2_000_000,
        1 => 1_u64..20_000_000,
        2 => (1_u64..8).prop_map(|n| n * 500_000),
    ];
    let bytes = prop_oneof![5 => Just(1500_u32), 2 => 40_u32..1500, 1 => Just(40_u32)];
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1),];
    let one = (gap, bytes, 0_u32..6, ecn);
    proptest::collection::vec(one, 1..count).prop_map(after_gaps)
}

/// Returns arrivals from the gap before each, its bytes, flow and ECN bits.
fn after_gaps(list: Vec<(u64, u32, u32, Ecn)>) -> Vec<Arrival> {
    let mut at = 0;
    let arrival = |(gap, bytes, flow, ecn)| {
        at += gap;
        Arrival {
            at,
            bytes,
            flow,
            ecn,
        }
    };
    list.into_iter().map(arrival).collect()
}

/// Generates a steady overload of the rate, which triggers active queue management.
pub fn overload(count: usize) -> impl Strategy<Value = Vec<Arrival>> {
    let ecn = prop_oneof![2 => Just(Ecn::NotEct), 1 => Just(Ecn::Ect0), 1 => Just(Ecn::Ect1)];
    let one = (200_000_u64..1_400_000, 600_u32..1500, 0_u32..4, ecn);
    proptest::collection::vec(one, count..2 * count).prop_map(after_gaps)
}

pub fn parsed(text: &str) -> Vec<StageSpec> {
    StageSpec::parse_text(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Returns a packet of flow 0.
pub fn at(at: u64, bytes: u32) -> Arrival {
    Arrival {
        at,
        bytes,
        flow: 0,
        ecn: Ecn::NotEct,
    }
}

/// Returns `count` packets at an interval of `every`.
pub fn steady(count: u64, every: u64) -> Vec<Arrival> {
    (0..count).map(|n| at(n * every, 1500)).collect()
}

/// Returns the number and time of each release.
pub fn numbers_and_times(outcome: &Outcome) -> Vec<(u64, u64)> {
    outcome
        .released
        .iter()
        .map(|release| (release.0, release.1))
        .collect()
}
