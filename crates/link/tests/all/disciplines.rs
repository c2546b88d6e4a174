//! Each queue discipline against a plain reference model: the same releases, marks and drops, to the
//! nanosecond.

use crate::common::{Arrival, arrivals, overload, parsed, run};
use crate::models::{Codel, DropHead, DropTail, DualPi2, FqCodel, Model, Pie, Red};
use eyelevel_link::{DropReason, Ecn, QueueSpec, RateSpec, StageSpec};
use eyelevel_units::Seed;
use proptest::prelude::*;

const RATE: u64 = 7_000_000;
const MS: u64 = 1_000_000;

/// Compares the link with the model, driven both punctually and late.
fn compare(queue: &str, model: &mut dyn Model, arrivals: &[Arrival]) -> Result<(), TestCaseError> {
    let stages = parsed(&format!("rate 7 Mbit/s, queue {queue}"));
    let expected = crate::models::link(model, RATE, arrivals);
    let (outcome, _) = run(&stages, 1, arrivals, true);
    prop_assert_eq!(&outcome, &expected, "{}", queue);
    let (late, _) = run(&stages, 1, arrivals, false);
    prop_assert_eq!(&late, &expected, "{}, late", queue);
    Ok(())
}

fn pie(limit: usize, ecn: bool) -> Pie {
    Pie::new(
        Seed::new(1).child_numbered(0).child("pie").generator(),
        limit,
        ecn,
    )
}

fn red(min: u32, max: u32, weight: f64, limit: usize, gentle: bool, ecn: bool) -> Red {
    Red {
        queue: Vec::new(),
        random: Seed::new(1).child_numbered(0).child("red").generator(),
        min_th: min.into(),
        max_th: max.into(),
        max_p: 0.1,
        w_q: weight,
        gentle,
        limit,
        ecn,
        avg: 0.0,
        count: -1,
        q_time: 0,
        rate: RATE,
    }
}

proptest! {
    #![proptest_config(crate::common::config(64))]

    #[test]
    fn infinite(arrivals in prop_oneof![arrivals(300), overload(600)]) {
        let (bytes_max, packets_max) = (u64::MAX, usize::MAX);
        let mut model = DropTail { queue: Vec::new(), bytes_max, packets_max };
        compare("infinite", &mut model, &arrivals)?;
    }

    #[test]
    fn droptail(arrivals in arrivals(300), packets_max in 1_usize..20, kilobytes in 1_u64..30) {
        let bytes_max = kilobytes * 1000;
        let mut model = DropTail { queue: Vec::new(), bytes_max, packets_max };
        let queue = format!("droptail {bytes_max} B {packets_max} packets");
        compare(&queue, &mut model, &arrivals)?;
    }

    #[test]
    fn droptail_by_time(arrivals in arrivals(300), ms in 0_u64..40) {
        let (bytes_max, packets_max) = (RATE * ms / 8_000, usize::MAX);
        let mut model = DropTail { queue: Vec::new(), bytes_max, packets_max };
        compare(&format!("droptail {ms} ms"), &mut model, &arrivals)?;
    }

    #[test]
    fn drophead(arrivals in arrivals(300), packets_max in 1_usize..20, kilobytes in 1_u64..30) {
        let bytes_max = kilobytes * 1000;
        let mut model = DropHead { queue: Vec::new(), bytes_max, packets_max };
        let queue = format!("drophead {bytes_max} B {packets_max} packets");
        compare(&queue, &mut model, &arrivals)?;
    }

    #[test]
    fn codel(
        arrivals in prop_oneof![arrivals(600), overload(600)],
        interval in prop_oneof![Just(100_u64), 5_u64..100],
        limit in 10_usize..400,
        ecn: bool,
    ) {
        let mut model = Codel::new(5 * MS, interval * MS, limit, ecn);
        let flag = if ecn { "ecn" } else { "no-ecn" };
        let queue = format!("codel interval {interval}ms limit {limit} {flag}");
        compare(&queue, &mut model, &arrivals)?;
    }

    #[test]
    fn fq_codel(
        arrivals in prop_oneof![arrivals(600), overload(600)],
        interval in prop_oneof![Just(100_u64), 5_u64..100],
        limit in 10_usize..400,
        ecn: bool,
    ) {
        let mut model = FqCodel::new(5 * MS, interval * MS, limit, ecn);
        let flag = if ecn { "ecn" } else { "no-ecn" };
        let queue = format!("fq_codel flows 65536 interval {interval}ms limit {limit} {flag}");
        compare(&queue, &mut model, &arrivals)?;
    }

    #[test]
    fn pie_as_with_a_timer(
        arrivals in prop_oneof![arrivals(600), overload(900)],
        limit in 10_usize..400,
        ecn: bool,
    ) {
        let flag = if ecn { "ecn" } else { "no-ecn" };
        compare(&format!("pie limit {limit} {flag}"), &mut pie(limit, ecn), &arrivals)?;
    }

    #[test]
    fn red_as_in_the_paper(
        arrivals in prop_oneof![arrivals(600), overload(900)],
        (min, span) in (0_u32..12, 1_u32..25),
        weight in prop_oneof![Just(0.002), 0.01..1.0],
        limit in 40_usize..400,
        gentle: bool,
        ecn: bool,
    ) {
        let max = min + span;
        let flags = [if gentle { "gentle" } else { "no-gentle" }, if ecn { "ecn" } else { "no-ecn" }];
        let queue = format!(
            "red min {min} max {max} packets weight {weight} limit {limit} {} {}",
            flags[0], flags[1],
        );
        compare(&queue, &mut red(min, max, weight, limit, gentle, ecn), &arrivals)?;
    }

    #[test]
    fn dualpi2_as_with_a_timer(
        arrivals in prop_oneof![arrivals(600), overload(900)],
        limit in 10_usize..400,
    ) {
        compare(&format!("dualpi2 limit {limit}"), &mut DualPi2::new(limit), &arrivals)?;
    }
}

/// Returns an unresponsive overload of 10 Mbit/s on 7 for 4 s, alternating in ECN capability.
fn flood(ecn: [Ecn; 2]) -> Vec<Arrival> {
    let one = |n: u64| Arrival {
        at: n * 1_200_000,
        bytes: 1500,
        flow: (n % 2) as u32,
        ecn: ecn[(n % 2) as usize],
    };
    (0..3_333).map(one).collect()
}

#[test]
fn active_queues_act_on_an_overload() {
    // Ensures that the properties above do not hold because nothing happened.
    for queue in ["codel ecn", "fq_codel", "pie ecn", "red ecn", "dualpi2"] {
        let stages = parsed(&format!("rate 7 Mbit/s, queue {queue}"));
        let (outcome, _) = run(&stages, 1, &flood([Ecn::NotEct, Ecn::Ect0]), true);
        let drops = outcome
            .dropped
            .iter()
            .filter(|d| d.2 == DropReason::ActiveQueue)
            .count();
        let marks = outcome.released.iter().filter(|r| r.2 == Ecn::Ce).count();
        assert!(drops > 10, "{queue}: {drops} drops");
        // PIE drops capable packets too once its probability is at 10 %, which is soon here.
        assert!(marks > 1, "{queue}: {marks} marks");
    }
}

#[test]
fn fair_queueing_protects_a_thin_flow_from_a_flood() {
    let mut arrivals = flood([Ecn::NotEct; 2]);
    arrivals.iter_mut().for_each(|arrival| arrival.flow = 0);
    let thin = (0..40).map(|n| Arrival {
        at: n * 100 * MS + 1,
        bytes: 100,
        flow: 1,
        ecn: Ecn::NotEct,
    });
    arrivals.extend(thin);
    arrivals.sort_by_key(|arrival| arrival.at);
    let delay_max = |queue: &str| {
        let stages = parsed(&format!("rate 7 Mbit/s, queue {queue}"));
        let (outcome, _) = run(&stages, 1, &arrivals, true);
        let of_thin = outcome
            .released
            .iter()
            .filter(|r| arrivals[r.0 as usize].flow == 1);
        let delays: Vec<u64> = of_thin.map(|r| r.1 - arrivals[r.0 as usize].at).collect();
        assert_eq!(delays.len(), 40, "{queue}");
        delays.into_iter().max().unwrap()
    };
    // At most one full packet in transmission and its own.
    assert!(delay_max("fq_codel") <= 1_715_000 + 115_000);
    assert!(delay_max("infinite") > 100 * MS);
}

#[test]
fn low_latency_packets_overtake_classic_ones() {
    let stages = parsed("rate 7 Mbit/s, queue dualpi2");
    let arrivals = flood([Ecn::NotEct, Ecn::Ect1]);
    let (outcome, _) = run(&stages, 1, &arrivals, true);
    let mean = |parity: u64| {
        let mine = outcome.released.iter().filter(|r| r.0 % 2 == parity);
        let delays: Vec<u64> = mine.map(|r| r.1 - arrivals[r.0 as usize].at).collect();
        delays.iter().sum::<u64>() / delays.len() as u64
    };
    assert!(mean(1) < 3 * MS, "{} ns", mean(1));
    assert!(mean(0) > 8 * MS, "{} ns", mean(0));
}

#[test]
fn a_queue_is_unbounded_where_none_is_given() {
    let StageSpec::Rate(RateSpec { queue, .. }) = &parsed("rate 7 Mbit/s")[0] else {
        panic!()
    };
    assert_eq!(*queue, QueueSpec::Infinite);
}
