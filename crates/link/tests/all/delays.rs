//! Links of changing rate and stages that delay: exact examples, limits and order.

use crate::common::{arrivals, at, numbers_and_times, parsed, run, steady};
use eyelevel_link::{
    AddressDelaySpec, Direction, JitterDistribution, JitterSpec, Packet, Recorded, StageSpec,
};
use eyelevel_units::{Instant, Seed};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::net::IpAddr;

const MS: u64 = 1_000_000;

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
    let release = std::iter::from_fn(|| direction.poll_transmit(crate::common::END))
        .next()
        .unwrap();
    assert_eq!(release.at.as_nanos(), 10_500_000);
    assert_eq!(direction.poll_timeout(), None);
}

proptest! {
    #![proptest_config(crate::common::config(64))]

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
            // Whole nanoseconds: at most two of them, at the highest rate, either way.
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
fn each_address_has_its_own_delay_and_generator() {
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
    let left = std::iter::from_fn(|| direction.poll_transmit(crate::common::END));
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
        let left = std::iter::from_fn(move || direction.poll_transmit(crate::common::END));
        left.filter(|r| r.packet.payload)
            .map(|r| r.at)
            .collect::<Vec<_>>()
    };
    assert_eq!(far_releases(false), far_releases(true));
}
