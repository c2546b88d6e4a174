//! The policer against the virtual scheduling algorithm of ITU-T I.371, which counts no tokens: a
//! packet conforms if the time at which all before it would have been sent at the rate is not
//! further ahead than the burst allows. Also against the curve of what it may pass.

use crate::common::{Arrival, Outcome, arrivals, at, config, overload, parsed, run, steady};
use eyelevel_link::{Direction, DropReason, StageSpec, TokenBucketSpec};
use eyelevel_units::Seed;
use proptest::prelude::*;

const MS: u64 = 1_000_000;

/// Polices by virtual scheduling, with times in nanoseconds times bits per second: exact.
fn conforming(rate: u64, burst: u64, arrivals: &[Arrival]) -> Outcome {
    let (mut outcome, mut sent_until) = (Outcome::default(), 0_u128);
    let work = |bytes: u64| u128::from(bytes) * 8 * 1_000_000_000;
    for (number, arrival) in arrivals.iter().enumerate() {
        let now = u128::from(arrival.at) * u128::from(rate);
        let ends = sent_until.max(now) + work(arrival.bytes.into());
        if ends <= now + work(burst) {
            sent_until = ends;
            let release = (number as u64, arrival.at, arrival.ecn);
            outcome.released.push(release);
        } else {
            let drop = (number as u64, arrival.at, DropReason::Policed);
            outcome.dropped.push(drop);
        }
    }
    outcome
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn it_polices_as_virtual_scheduling_does(
        arrivals in prop_oneof![arrivals(300), overload(300)],
        rate in prop_oneof![Just(7_000_001_u64), 1_u64..20_000_000],
        burst in 1_500_u64..60_000,
    ) {
        let stages = parsed(&format!("token-bucket {rate} bit/s {burst} B"));
        let expected = conforming(rate, burst, &arrivals);
        for punctual in [true, false] {
            prop_assert_eq!(&run(&stages, 1, &arrivals, punctual).0, &expected);
        }
    }

    #[test]
    fn no_stretch_of_time_passes_more_than_burst_and_rate(
        arrivals in overload(150),
        rate in 1_000_000_u64..9_000_000,
        burst in 1_500_u64..30_000,
    ) {
        let stages = parsed(&format!("token-bucket {rate} bit/s {burst} B"));
        let (outcome, _) = run(&stages, 1, &arrivals, true);
        for (first, begin) in outcome.released.iter().enumerate() {
            let mut bytes = 0;
            for end in &outcome.released[first..] {
                bytes += u128::from(arrivals[end.0 as usize].bytes);
                let elapsed = u128::from(end.1 - begin.1);
                let allowed = u128::from(burst) * 8_000_000_000 + elapsed * u128::from(rate);
                prop_assert!(bytes * 8_000_000_000 <= allowed);
            }
        }
    }
}

#[test]
fn a_steady_overload_passes_the_burst_and_then_the_rate() {
    // 12 Mbit/s against 6 Mbit/s and ten packets for 2 s: 1000 packets by the rate, 10 by the burst.
    let stages = parsed("token-bucket 6 Mbit/s 15 kB");
    let (outcome, _) = run(&stages, 1, &steady(2000, MS), true);
    assert_eq!(outcome.released.len(), 1009);
    let first_dropped = outcome.dropped[0];
    assert_eq!(first_dropped, (19, 19 * MS, DropReason::Policed));
}

#[test]
fn a_packet_that_is_dropped_takes_no_tokens() {
    let stages = parsed("token-bucket 8 kbit/s 1500 B");
    let arrivals = [at(0, 1000), at(0, 1000), at(0, 500), at(1000 * MS, 1000)];
    let (outcome, _) = run(&stages, 1, &arrivals, true);
    assert_eq!(outcome.dropped, [(1, 0, DropReason::Policed)]);
}

#[test]
fn a_burst_below_a_full_packet_is_refused() {
    let stages = [StageSpec::TokenBucket(TokenBucketSpec {
        rate_bit_s: 1,
        burst_bytes: 1499,
    })];
    let message = Direction::<()>::new(&stages, Seed::new(1)).unwrap_err();
    let expected = "stage 1 (token_bucket): burst_bytes: a burst of 1499 bytes; use 1500, one full \
                    packet, to 1099511627776";
    assert_eq!(message.to_string(), expected);
}
