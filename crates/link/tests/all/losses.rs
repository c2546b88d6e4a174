//! Stages that lose, duplicate and corrupt: exact examples and distributions.

use crate::common::{Outcome, numbers_and_times, parsed, run, steady};
use eyelevel_link::{
    Direction, DropReason, FatesSpec, Packet, Recorded, RecordedLossSpec, StageSpec,
};
use eyelevel_units::{Instant, Seed};

const MS: u64 = 1_000_000;

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
fn the_fates_of_a_log_repeat_in_another_run() {
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
fn outages_lose_packets_while_the_link_is_down() {
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
