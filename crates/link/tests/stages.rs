//! The other stages: exact examples, limits and distributions.

mod common;

use common::{Arrival, Outcome, arrivals, parsed, run};
use eyelevel_link::{
    AddressDelaySpec, Direction, DropReason, Ecn, FatesSpec, JitterDistribution, JitterSpec,
    Packet, Recorded, RecordedLossSpec, StageSpec,
};
use eyelevel_units::{Instant, Seed};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::net::IpAddr;

const MS: u64 = 1_000_000;

fn at(at: u64, bytes: u32) -> Arrival {
    Arrival {
        at,
        bytes,
        flow: 0,
        ecn: Ecn::NotEct,
    }
}

/// So many packets, one every so often.
fn steady(count: u64, every: u64) -> Vec<Arrival> {
    (0..count).map(|n| at(n * every, 1500)).collect()
}

fn numbers_and_times(outcome: &Outcome) -> Vec<(u64, u64)> {
    outcome
        .released
        .iter()
        .map(|release| (release.0, release.1))
        .collect()
}

#[test]
fn a_packet_in_transmission_is_rescaled_when_the_rate_changes() {
    // 1500 bytes: 1 ms at 12 Mbit/s. Half is sent by 0.5 ms, the rest takes 2 ms at 3 Mbit/s.
    let stages = parsed("schedule 0ms=12Mbit/s 0.5ms=3Mbit/s 10ms=0 20ms=6Mbit/s");
    let arrivals = [at(0, 1500), at(0, 1500), at(0, 1500), at(9 * MS, 1500)];
    let (outcome, _) = run(&stages, 1, &arrivals, true);
    // The second needs 4 ms at 3 Mbit/s; the third ends at 10.5 and is 3.5 ms in when the link
    // stops; the 187.5 bytes left take 0.25 ms at 6 Mbit/s.
    let expected = [
        (0, 2_500_000),
        (1, 6_500_000),
        (2, 20_250_000),
        (3, 22_250_000),
    ];
    assert_eq!(numbers_and_times(&outcome), expected);
}

#[test]
fn a_repeated_schedule_begins_again_and_sleeps_while_idle() {
    let stages = parsed("schedule 0ms=12Mbit/s 1ms=0 repeat 10ms");
    let mut direction = Direction::new(&stages, Seed::new(1)).unwrap();
    direction.handle_packet(Instant::from_nanos(9_500_000), Packet::new(750, ()));
    assert_eq!(direction.poll_timeout(), Some(Instant::from_nanos(10 * MS)));
    let release = std::iter::from_fn(|| direction.poll_transmit(common::END))
        .next()
        .unwrap();
    assert_eq!(release.at.as_nanos(), 10_500_000);
    assert_eq!(direction.poll_timeout(), None);
}

proptest! {
    #![proptest_config(common::config(64))]

    #[test]
    fn a_schedule_of_one_rate_is_that_rate(arrivals in arrivals(200), mbit in 1_u64..50) {
        let queue = "queue droptail 20 packets";
        let plain = parsed(&format!("rate {mbit} Mbit/s, {queue}"));
        let steps = format!("schedule 0ms={mbit}Mbit/s 3ms={mbit}Mbit/s repeat 7ms, {queue}");
        let scheduled = parsed(&steps);
        prop_assert_eq!(run(&plain, 1, &arrivals, true).0, run(&scheduled, 1, &arrivals, false).0);
    }

    #[test]
    fn a_schedule_does_the_work_that_its_rates_allow(
        arrivals in arrivals(100),
        rates in proptest::collection::vec(0_u64..20, 1..6),
        gap_ms in 1_u64..30,
    ) {
        let mut steps: Vec<String> = rates
            .iter()
            .enumerate()
            .map(|(i, mbit)| match mbit {
                0 => format!("{}ms=0", i as u64 * gap_ms),
                _ => format!("{}ms={mbit}Mbit/s", i as u64 * gap_ms),
            })
            .collect();
        steps.push(format!("{}ms=5Mbit/s", rates.len() as u64 * gap_ms));
        let (outcome, _) = run(&parsed(&format!("schedule {}", steps.join(" "))), 1, &arrivals, true);
        // Integrates the rate in units of 1e-9 bit from the start of each packet to its end.
        let rate_at = |ns: u64| {
            rates.get((ns / (gap_ms * MS)) as usize).copied().unwrap_or(5) * 1_000_000
        };
        let work = |from: u64, to: u64| {
            let mut edges: Vec<u64> = (1..=rates.len() as u64).map(|i| i * gap_ms * MS).collect();
            edges.retain(|edge| *edge > from && *edge < to);
            edges.insert(0, from);
            edges.push(to);
            edges.windows(2).map(|w| u128::from(w[1] - w[0]) * u128::from(rate_at(w[0]))).sum::<u128>()
        };
        prop_assert_eq!(outcome.released.len(), arrivals.len());
        let mut free = 0;
        for (number, released, _) in outcome.released {
            let arrival = arrivals[number as usize];
            let needed = u128::from(arrival.bytes) * 8_000_000_000;
            let done = work(free.max(arrival.at), released);
            // Whole nanoseconds: at most two of them, at the highest rate, off either way.
            let tolerance = 2 * 20_000_000;
            prop_assert!(done + tolerance >= needed && done <= needed + tolerance,
                "packet {}: {} of {}", number, done, needed);
            free = released;
        }
    }

    #[test]
    fn jitter_keeps_its_bounds_and_its_order(arrivals in arrivals(200), seed: u64) {
        let (outcome, _) = run(&parsed("jitter uniform 2ms 9ms"), seed, &arrivals, false);
        prop_assert_eq!(outcome.released.len(), arrivals.len());
        prop_assert!(outcome.released.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1));
        let stages = parsed("jitter uniform 2ms 9ms reordering");
        let (free, _) = run(&stages, seed, &arrivals, true);
        for (number, released, _) in free.released {
            let delay = released - arrivals[number as usize].at;
            prop_assert!((2 * MS..9 * MS).contains(&delay), "{}", delay);
        }
    }
}

#[test]
fn jitter_reorders_only_where_it_may() {
    let arrivals = steady(500, 100_000);
    let ordered = |text: &str| {
        let (outcome, _) = run(&parsed(text), 3, &arrivals, true);
        outcome.released.windows(2).all(|w| w[0].0 < w[1].0)
    };
    for kind in ["normal 5ms 2ms", "uniform 0ms 9ms", "pareto 1ms 1.5"] {
        assert!(ordered(&format!("jitter {kind}")), "{kind}");
        assert!(!ordered(&format!("jitter {kind} reordering")), "{kind}");
    }
}

#[test]
fn a_recorded_delay_series_is_taken_by_packet_or_by_time() {
    let jitter = |interval_ms| {
        let delays_ms = Recorded::from_values(vec![1.0, 5.0, 2.5]);
        StageSpec::Jitter(JitterSpec {
            distribution: JitterDistribution::Recorded {
                delays_ms,
                interval_ms,
            },
            reordering: true,
            per_address: BTreeMap::new(),
        })
    };
    let arrivals = steady(4, 10 * MS);
    let delays = |stage| {
        let (outcome, _) = run(&[stage], 1, &arrivals, true);
        outcome
            .released
            .iter()
            .map(|r| r.1 - arrivals[r.0 as usize].at)
            .collect::<Vec<_>>()
    };
    assert_eq!(delays(jitter(None)), [MS, 5 * MS, 2_500_000, MS]);
    assert_eq!(delays(jitter(Some(20.0))), [MS, MS, 5 * MS, 5 * MS]);
}

#[test]
fn each_address_has_its_own_delay_and_its_own_luck() {
    let [near, far, other]: [IpAddr; 3] =
        ["192.0.2.1", "2001:db8::1", "192.0.2.9"].map(|text| text.parse().unwrap());
    let delays_ms = BTreeMap::from([(near, 5.0), (far, 80.0)]);
    let stage = StageSpec::AddressDelay(AddressDelaySpec {
        delays_ms,
        default_ms: 20.0,
    });
    let mut direction = Direction::new(&[stage], Seed::new(1)).unwrap();
    for address in [Some(far), Some(near), Some(other), None] {
        let packet = Packet {
            address,
            ..Packet::new(100, ())
        };
        direction.handle_packet(Instant::ZERO, packet);
    }
    let left = std::iter::from_fn(|| direction.poll_transmit(common::END));
    let order: Vec<_> = left.map(|r| (r.number, r.at.as_nanos() / MS)).collect();
    assert_eq!(order, [(1, 5), (2, 20), (3, 20), (0, 80)]);

    // The far origin's delays are the same whether the near one sends or not.
    let normal = |mean_ms| JitterDistribution::Normal {
        mean_ms,
        standard_deviation_ms: 2.0,
    };
    let jitter = StageSpec::Jitter(JitterSpec {
        distribution: normal(10.0),
        reordering: false,
        per_address: BTreeMap::from([(near, normal(20.0)), (far, normal(90.0))]),
    });
    let far_releases = |with_near: bool| {
        let mut direction = Direction::new(std::slice::from_ref(&jitter), Seed::new(5)).unwrap();
        for n in 0..50 {
            let now = Instant::from_nanos(n * MS);
            if with_near {
                let packet = Packet {
                    address: Some(near),
                    ..Packet::new(100, false)
                };
                direction.handle_packet(now, packet);
            }
            let packet = Packet {
                address: Some(far),
                ..Packet::new(100, true)
            };
            direction.handle_packet(now, packet);
        }
        let left = std::iter::from_fn(move || direction.poll_transmit(common::END));
        left.filter(|r| r.packet.payload)
            .map(|r| r.at)
            .collect::<Vec<_>>()
    };
    assert_eq!(far_releases(false), far_releases(true));
}

#[test]
fn gilbert_elliott_has_its_mean_loss_and_its_bursts() {
    let arrivals = steady(200_000, 1_000);
    let (outcome, _) = run(
        &parsed("gilbert-elliott 1% 25% 0.1% 80%"),
        7,
        &arrivals,
        false,
    );
    // Stationary: bad 1/26, good 25/26; loss 0.001 * 25/26 + 0.8 / 26 = 3.173 %.
    let loss = outcome.dropped.len() as f64 / 200_000.0;
    assert!((0.030..0.0335).contains(&loss), "{loss}");
    let after_loss = outcome
        .dropped
        .windows(2)
        .filter(|w| w[1].0 == w[0].0 + 1)
        .count();
    let burst = after_loss as f64 / outcome.dropped.len() as f64;
    // A loss is followed by one with about 0.97 (bad) * 0.75 * 0.8.
    assert!((0.54..0.62).contains(&burst), "{burst}");
}

#[test]
fn recorded_losses_and_fates_are_followed_to_the_packet() {
    let lost = |stage: StageSpec| {
        let (outcome, _) = run(&[stage], 1, &steady(12, MS), true);
        assert!(
            outcome
                .dropped
                .iter()
                .all(|drop| drop.2 == DropReason::Recorded)
        );
        outcome
            .dropped
            .iter()
            .map(|drop| drop.0)
            .collect::<Vec<_>>()
    };
    let positions = || Recorded::from_values(vec![3, 0, 3]);
    let recorded = |period_packets| {
        StageSpec::RecordedLoss(RecordedLossSpec {
            positions: positions(),
            period_packets,
        })
    };
    assert_eq!(lost(recorded(None)), [0, 3]);
    assert_eq!(lost(recorded(Some(5))), [0, 3, 5, 8, 10]);

    let fates = |repeat, reordering| {
        let delays_ms = Recorded::from_values(vec![Some(4.0), None, Some(0.5)]);
        StageSpec::Fates(FatesSpec {
            delays_ms,
            repeat,
            reordering,
        })
    };
    let times = |stage| numbers_and_times(&run(&[stage], 1, &steady(5, MS), true).0);
    assert_eq!(
        times(fates(false, true)),
        [(2, 2_500_000), (3, 3 * MS), (0, 4 * MS), (4, 4 * MS)]
    );
    let in_order = [(0, 4 * MS), (2, 4 * MS), (3, 7 * MS)];
    assert_eq!(times(fates(true, false)), in_order);
}

#[test]
fn the_fates_of_a_log_give_another_run_the_same_luck() {
    let stages = parsed("delay 3ms, rate 8 Mbit/s, queue droptail 10 packets, loss 5%");
    let arrivals = steady(400, 1_300_000);
    let (first, _) = run(&stages, 11, &arrivals, true);
    let mut fates = vec![None; arrivals.len()];
    for (number, released, _) in &first.released {
        fates[*number as usize] = Some((released - arrivals[*number as usize].at) as f64 / 1e6);
    }
    let delays_ms = Recorded::from_values(fates);
    let replayed = StageSpec::Fates(FatesSpec {
        delays_ms,
        repeat: false,
        reordering: true,
    });
    let (second, _) = run(&[replayed], 99, &arrivals, true);
    assert_eq!(second.released, first.released);
    let numbers = |outcome: &Outcome| {
        let mut list: Vec<u64> = outcome.dropped.iter().map(|drop| drop.0).collect();
        list.sort_unstable();
        list
    };
    assert_eq!(numbers(&second), numbers(&first));
}

#[test]
fn a_duplicate_follows_its_original() {
    let (outcome, _) = run(
        &parsed("duplicate 100%, rate 12 Mbit/s"),
        1,
        &steady(2, 9 * MS),
        true,
    );
    let expected = [(0, MS), (0, 2 * MS), (1, 10 * MS), (1, 11 * MS)];
    assert_eq!(numbers_and_times(&outcome), expected);
}

#[test]
fn a_corrupt_packet_carries_the_bit_to_invert() {
    let mut direction = Direction::new(&parsed("corrupt 50%"), Seed::new(2)).unwrap();
    let mut corrupt = 0;
    for n in 0..1_000 {
        let now = Instant::from_nanos(n);
        direction.handle_packet(now, Packet::new(60, ()));
        let packet = direction.poll_transmit(now).unwrap().packet;
        corrupt += u64::from(packet.corrupt_bit.is_some());
        assert!(packet.corrupt_bit.is_none_or(|bit| bit < 480));
    }
    assert!((420..580).contains(&corrupt), "{corrupt}");
    assert_eq!(direction.counters()[0].corrupted, corrupt);
}

#[test]
fn outages_lose_what_comes_while_the_link_is_down() {
    let stages = parsed("outage periodic 10ms 5ms");
    let (outcome, _) = run(&stages, 1, &steady(30, MS), true);
    let lost: Vec<u64> = outcome.dropped.iter().map(|drop| drop.0).collect();
    assert_eq!(lost, [10, 11, 12, 13, 14, 25, 26, 27, 28, 29]);

    let arrivals = steady(200_000, 100_000);
    let (outcome, _) = run(&parsed("outage exponential 30ms 10ms"), 5, &arrivals, false);
    let share = outcome.dropped.len() as f64 / 200_000.0;
    // 20 s hold about 500 cycles: five standard errors of a quarter are about 0.06.
    assert!((0.19..0.31).contains(&share), "{share}");
    let (again, _) = run(&parsed("outage exponential 30ms 10ms"), 5, &arrivals, true);
    assert_eq!(outcome, again);
}
