//! The trace link against a plain model of Mahimahi's, which walks every opportunity.

use crate::common::{Arrival, Outcome, arrivals, run};
use eyelevel_link::{
    Direction, DropReason, Ecn, EventKind, Observer, Packet, QueueSpec, Recorded, StageSpec, Trace,
    TraceSpec,
};
use eyelevel_units::{Instant, Seed};
use proptest::prelude::*;
use std::path::Path;

const MS: u64 = 1_000_000;

fn stage(trace: &[u64], once: bool, queue: QueueSpec) -> StageSpec {
    StageSpec::Trace(TraceSpec {
        trace: Recorded::from_values(trace.to_vec()),
        once,
        opportunity_bytes: 1500,
        packet_overhead_bytes: 0,
        queue,
    })
}

/// Walks all opportunities up to `end_ms`. Arrivals at the instant of an opportunity come after it.
fn reference(
    trace: &[u64],
    once: bool,
    packets_max: usize,
    arrivals: &[Arrival],
    end_ms: u64,
) -> (Outcome, Vec<(u64, u32)>) {
    let (mut outcome, mut unused) = (Outcome::default(), Vec::new());
    let mut queue: Vec<u64> = Vec::new();
    let mut sending: Option<(u64, u32)> = None;
    let mut next_arrival = 0;
    let mut base = 0;
    'cycles: loop {
        for ms in trace {
            let at = (base + ms) * MS;
            if base + ms > end_ms {
                break 'cycles;
            }
            while next_arrival < arrivals.len() && arrivals[next_arrival].at < at {
                if queue.len() < packets_max {
                    queue.push(next_arrival as u64);
                } else {
                    let drop = (next_arrival as u64, arrivals[next_arrival].at);
                    outcome
                        .dropped
                        .push((drop.0, drop.1, DropReason::QueueFull));
                }
                next_arrival += 1;
            }
            let mut left = 1500_u32;
            while left > 0 {
                if sending.is_none() && !queue.is_empty() {
                    let number = queue.remove(0);
                    sending = Some((number, arrivals[number as usize].bytes));
                }
                let Some((number, bytes)) = sending else {
                    break;
                };
                let sent = bytes.min(left);
                left -= sent;
                sending = (sent < bytes).then_some((number, bytes - sent));
                if sending.is_none() {
                    outcome
                        .released
                        .push((number, at, arrivals[number as usize].ecn));
                }
            }
            if left > 0 {
                unused.push((at, left));
            }
        }
        base += trace.last().unwrap();
        if once {
            break;
        }
    }
    (outcome, unused)
}

fn traces() -> impl Strategy<Value = Vec<u64>> {
    proptest::collection::vec(0_u64..6, 1..40).prop_map(|gaps| {
        let mut at = 0;
        let mut trace: Vec<u64> = gaps
            .into_iter()
            .map(|gap| {
                at += gap;
                at
            })
            .collect();
        trace.push(at + 1);
        trace
    })
}

/// Rounds some times to whole milliseconds, where arrivals and opportunities coincide.
fn align(arrivals: Vec<Arrival>) -> Vec<Arrival> {
    let round = |(index, arrival): (usize, Arrival)| {
        let at = if index % 2 == 0 {
            arrival.at
        } else {
            arrival.at / MS * MS
        };
        Arrival { at, ..arrival }
    };
    let mut list: Vec<Arrival> = arrivals.into_iter().enumerate().map(round).collect();
    list.sort_by_key(|arrival| arrival.at);
    list
}

proptest! {
    #![proptest_config(crate::common::config(128))]

    #[test]
    fn the_trace_link_is_mahimahis(
        trace in traces(),
        arrivals in arrivals(200).prop_map(align),
        packets_max in 1_u64..50,
        once: bool,
        punctual: bool,
    ) {
        let stages = [stage(&trace, once, QueueSpec::droptail_packets(packets_max))];
        let (outcome, _) = run(&stages, 1, &arrivals, punctual);
        let last = arrivals.last().unwrap().at / MS;
        // Each opportunity carries a full packet, so the queue is empty after that many.
        let end_ms = last + (packets_max + 3) * (trace.last().unwrap() + 1);
        let (mut expected, _) =
            reference(&trace, once, packets_max as usize, &arrivals, end_ms);
        if once {
            // Arrivals after the end of the trace are outside the reference's walk.
            let end = trace.last().unwrap() * MS;
            let mut outcome = outcome;
            outcome.dropped.retain(|drop| drop.1 < end);
            expected.dropped.retain(|drop| drop.1 < end);
            prop_assert_eq!(outcome, expected);
        } else {
            prop_assert_eq!(outcome, expected);
        }
    }

    #[test]
    fn unused_opportunities_are_reported_exactly(
        trace in traces(),
        arrivals in arrivals(100).prop_map(align),
    ) {
        let mut direction =
            Direction::with_observer(&[stage(&trace, false, QueueSpec::Infinite)], Seed::new(1), Unused::default())
                .unwrap();
        for arrival in &arrivals {
            direction.handle_packet(Instant::from_nanos(arrival.at), Packet::new(arrival.bytes, ()));
        }
        // One much later packet makes the idle time before it known.
        let last_ms = arrivals.last().unwrap().at / MS + 200 * (trace.last().unwrap() + 1);
        direction.handle_packet(Instant::from_nanos(last_ms * MS), Packet::new(1500, ()));
        let (_, expected) = reference(&trace, false, usize::MAX, &arrivals, last_ms);
        prop_assert_eq!(&direction.observer().0, &expected);
    }
}

#[derive(Default)]
struct Unused(Vec<(u64, u32)>);

impl<P> Observer<P> for Unused {
    fn event(&mut self, event: &eyelevel_link::Event) {
        if event.kind == EventKind::Unused {
            self.0.push((event.at.as_nanos(), event.wire_bytes));
        }
    }
    fn wants_unused(&self) -> bool {
        true
    }
}

#[test]
fn a_path_that_starts_later_counts_from_its_start() {
    let mut direction =
        Direction::new(&[stage(&[3], false, QueueSpec::Infinite)], Seed::new(1)).unwrap();
    let start = 17 * MS + 5;
    direction.start(Instant::from_nanos(start));
    direction.handle_packet(Instant::from_nanos(start), Packet::new(1500, ()));
    assert_eq!(
        direction.poll_timeout(),
        Some(Instant::from_nanos(start + 3 * MS))
    );
}

#[test]
fn mahimahis_own_count_fits_fewer_small_packets_into_an_opportunity() {
    let arrivals: Vec<Arrival> = (0..40)
        .map(|_| Arrival {
            at: 0,
            bytes: 40,
            flow: 0,
            ecn: Ecn::NotEct,
        })
        .collect();
    let count = |opportunity_bytes, packet_overhead_bytes| {
        let spec = StageSpec::Trace(TraceSpec {
            trace: Recorded::from_values(vec![1, 100]),
            once: true,
            opportunity_bytes,
            packet_overhead_bytes,
            queue: QueueSpec::Infinite,
        });
        let (outcome, _) = run(&[spec], 1, &arrivals, true);
        outcome
            .released
            .iter()
            .filter(|release| release.1 == MS)
            .count()
    };
    assert_eq!(count(1500, 0), 37);
    assert_eq!(count(1504, 4), 34);
}

#[test]
fn real_traces_are_filled_by_a_saturating_sender() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/traces");
    let Ok(entries) = folder.read_dir() else {
        println!("skipped: no folder ../shared/data/traces beside the repository");
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let trace = Trace::parse(&text, &name).unwrap();
        let count = trace.opportunities_ms().len();
        assert_eq!(count, text.lines().count(), "{name}");
        let spec = stage(trace.opportunities_ms(), true, QueueSpec::Infinite);
        let mut direction = Direction::new(&[spec], Seed::new(1)).unwrap();
        for number in 0..=count {
            direction.handle_packet(Instant::ZERO, Packet::new(1500, number));
        }
        let left = std::iter::from_fn(|| direction.poll_transmit(crate::common::END));
        let released: Vec<u64> = left.map(|release| release.at.as_nanos() / MS).collect();
        // Opportunities at 0 ms are past when packets come at that instant.
        let usable = trace.opportunities_ms().iter().filter(|ms| **ms > 0);
        assert!(released.iter().eq(usable), "{name}");
    }
}
