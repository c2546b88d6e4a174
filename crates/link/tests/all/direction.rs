//! Exact release times and drops of small paths, calculated by hand.

use eyelevel_link::{
    DelaySpec, Direction, DropReason, LimitsSpec, LossSpec, Packet, QueueSpec, RateSpec, StageSpec,
};
use eyelevel_units::{Instant, Seed};

const MS: u64 = 1_000_000;

/// Feeds `(at_ns, bytes)` and returns `(number, at_ns)` of each release, called at event times.
fn releases(stages: &[StageSpec], arrivals: &[(u64, u32)]) -> Vec<(u64, u64)> {
    let mut direction = Direction::new(stages, Seed::new(1)).unwrap();
    for &(at, bytes) in arrivals {
        direction.handle_packet(Instant::from_nanos(at), Packet::new(bytes, ()));
    }
    let end = Instant::from_nanos(u64::MAX - 1);
    std::iter::from_fn(|| direction.poll_transmit(end))
        .map(|release| (release.number, release.at.as_nanos()))
        .collect()
}

fn rate(rate_bit_s: u64, queue: QueueSpec) -> StageSpec {
    StageSpec::Rate(RateSpec { rate_bit_s, queue })
}

#[test]
fn an_empty_direction_passes_packets_at_once() {
    assert_eq!(releases(&[], &[(5, 100), (7, 100)]), [(0, 5), (1, 7)]);
}

#[test]
fn delay_then_rate_adds_up() {
    let stages = [
        StageSpec::Delay(DelaySpec { delay_ms: 12.5 }),
        rate(12_000_000, QueueSpec::Infinite),
    ];
    let left = releases(&stages, &[(0, 1500), (0, 1500), (30 * MS, 750)]);
    assert_eq!(left, [(0, 13_500_000), (1, 14_500_000), (2, 43 * MS)]);
}

#[test]
fn the_packet_in_transmission_is_not_counted_by_the_queue_limit() {
    let stages = [rate(12_000_000, QueueSpec::droptail_packets(1))];
    assert_eq!(
        releases(&stages, &[(0, 1500), (0, 1500), (0, 1500)]),
        [(0, MS), (1, 2 * MS)]
    );
}

#[test]
fn a_departure_makes_room_for_an_arrival_at_the_same_nanosecond() {
    let stages = [rate(12_000_000, QueueSpec::droptail_packets(1))];
    let left = releases(&stages, &[(0, 1500), (0, 1500), (MS, 1500), (MS, 1500)]);
    assert_eq!(left, [(0, MS), (1, 2 * MS), (2, 3 * MS)]);
}

#[test]
fn at_one_instant_the_stage_nearest_the_exit_goes_first() {
    // The first link delivers each millisecond, the second takes two: at 3 and 5 ms a packet leaves
    // the second and makes room for the one that the first delivers at that very instant.
    let stages = [
        rate(12_000_000, QueueSpec::Infinite),
        rate(6_000_000, QueueSpec::droptail_packets(1)),
    ];
    let left = releases(&stages, &[(0, 1500); 5]);
    assert_eq!(left, [(0, 3 * MS), (1, 5 * MS), (2, 7 * MS), (4, 9 * MS)]);
}

#[test]
fn a_packet_at_the_end_of_a_busy_time_keeps_the_fraction() {
    // 1500 bytes at 7 Mbit/s take 1714285 and 5/7 ns: seven back to back take 12 ms, though each
    // comes only when the one before has left; one that comes later starts at a whole nanosecond.
    let mut direction =
        Direction::new(&[rate(7_000_000, QueueSpec::Infinite)], Seed::new(1)).unwrap();
    let mut now = Instant::ZERO;
    for _ in 0..7 {
        direction.handle_packet(now, Packet::new(1500, ()));
        now = direction.poll_timeout().unwrap();
        assert!(direction.poll_transmit(now).is_some());
    }
    assert_eq!(now.as_nanos(), 12 * MS);
}

#[test]
fn a_limit_in_milliseconds_is_the_bytes_that_the_rate_drains() {
    // 12 ms at 25 Mbit/s are 37500 bytes: 25 packets wait, one is being sent, four are dropped.
    let stages = [rate(25_000_000, QueueSpec::droptail_ms(12.0))];
    let left = releases(&stages, &[(0, 1500); 30]);
    assert_eq!(left.len(), 26);
    assert_eq!(left[25], (25, 26 * 480_000));
}

#[test]
fn a_limit_below_one_packet_still_admits_one() {
    let stages = [rate(12_000_000, QueueSpec::droptail_bytes(100))];
    assert_eq!(
        releases(&stages, &[(0, 1500), (0, 1500), (0, 40)]),
        [(0, MS), (1, 2 * MS)]
    );
}

#[test]
fn a_late_driver_changes_nothing_but_learns_the_ideal_instants() {
    let stages = [
        StageSpec::Delay(DelaySpec { delay_ms: 1.0 }),
        rate(12_000_000, QueueSpec::droptail_packets(2)),
        StageSpec::Loss(LossSpec { probability: 0.1 }),
        StageSpec::Delay(DelaySpec { delay_ms: 3.0 }),
    ];
    let arrivals: Vec<u64> = (0..500).map(|i| i * i * 3_000).collect();
    let run = |late: bool| {
        let mut direction = Direction::new(&stages, Seed::new(9)).unwrap();
        let mut left = Vec::new();
        for &at in &arrivals {
            let at = Instant::from_nanos(at);
            while let Some(wake) = direction.poll_timeout().filter(|w| !late && *w <= at) {
                left.extend(std::iter::from_fn(|| direction.poll_transmit(wake)));
            }
            direction.handle_packet(at, Packet::new(1500, ()));
        }
        let end = Instant::from_nanos(u64::MAX - 1);
        left.extend(std::iter::from_fn(|| direction.poll_transmit(end)));
        (left, direction.counters().to_vec())
    };
    let (left, counters) = run(false);
    assert_eq!((left.clone(), counters.clone()), run(true));
    assert!(counters[1].dropped(DropReason::QueueFull) > 0);
    assert!(counters[2].dropped(DropReason::Loss) > 0);
    let dropped: u64 = counters.iter().map(|stage| stage.dropped_total()).sum();
    assert_eq!(left.len() as u64 + dropped, 500);
}

#[test]
fn nothing_held_means_no_wake_up() {
    let stages = [
        StageSpec::Delay(DelaySpec { delay_ms: 1.0 }),
        rate(12_000_000, QueueSpec::Infinite),
    ];
    let mut direction = Direction::new(&stages, Seed::new(1)).unwrap();
    assert_eq!(direction.poll_timeout(), None);
    direction.handle_packet(Instant::ZERO, Packet::new(1500, ()));
    assert_eq!(direction.poll_timeout(), Some(Instant::from_nanos(MS)));
    assert_eq!(direction.poll_transmit(Instant::from_nanos(MS)), None);
    assert_eq!(direction.poll_timeout(), Some(Instant::from_nanos(2 * MS)));
    direction.handle_timeout(Instant::from_nanos(5 * MS));
    assert_eq!(direction.poll_timeout(), Some(Instant::from_nanos(2 * MS)));
    assert!(
        direction
            .poll_transmit(Instant::from_nanos(5 * MS))
            .is_some()
    );
    assert_eq!(direction.poll_timeout(), None);
}

#[test]
fn a_packet_passed_late_has_the_same_fate() {
    let stages = [
        StageSpec::Delay(DelaySpec { delay_ms: 20.0 }),
        rate(12_000_000, QueueSpec::droptail_packets(8)),
    ];
    // A packet every 0.4 ms, of which the link takes one a millisecond: within 0.1 ms after an
    // arrival nothing happens.
    let fates = |late: u64| {
        let mut direction = Direction::new(&stages, Seed::new(1)).unwrap();
        let mut left = Vec::new();
        for at in (0..200).map(|packet| packet * 4 * MS / 10) {
            let asked = Instant::from_nanos(at + late);
            while let Some(release) = direction.poll_transmit(asked) {
                left.push((release.number, release.at.as_nanos()));
            }
            direction.handle_packet(Instant::from_nanos(at), Packet::new(1500, ()));
        }
        left
    };
    let in_time = fates(0);
    assert!(in_time.len() > 50);
    assert_eq!(in_time, fates(MS / 10));
}

#[test]
fn a_packet_passed_after_later_events_arrives_with_them() {
    let mut direction =
        Direction::new(&[rate(12_000_000, QueueSpec::Infinite)], Seed::new(1)).unwrap();
    direction.handle_packet(Instant::ZERO, Packet::new(1500, ()));
    direction.handle_timeout(Instant::from_nanos(MS / 2));
    assert_eq!(
        direction.arrival_at(Instant::from_nanos(MS / 4)),
        Instant::from_nanos(MS / 4)
    );
    direction.handle_timeout(Instant::from_nanos(3 * MS));
    let sent = Instant::from_nanos(MS);
    assert_eq!(direction.arrival_at(Instant::from_nanos(MS / 4)), sent);
    direction.handle_packet(Instant::from_nanos(MS / 4), Packet::new(1500, ()));
    let times: Vec<u64> =
        std::iter::from_fn(|| direction.poll_transmit(Instant::from_nanos(9 * MS)))
            .map(|release| release.at.as_nanos())
            .collect();
    assert_eq!(times, [MS, 2 * MS]);
}

#[test]
fn the_same_seed_gives_the_same_fates_and_another_seed_others() {
    let fates = |seed: u64| {
        let stages = [StageSpec::Loss(LossSpec { probability: 0.3 })];
        let mut direction = Direction::new(&stages, Seed::new(seed)).unwrap();
        (0..64)
            .map(|at| {
                let now = Instant::from_nanos(at);
                direction.handle_packet(now, Packet::new(100, ()));
                direction.poll_transmit(now).is_some()
            })
            .collect::<Vec<bool>>()
    };
    assert_eq!(fates(3), fates(3));
    assert_ne!(fates(3), fates(4));
}

#[test]
fn specifications_are_read_as_documented_and_refused_with_the_place() {
    let stage: StageSpec = serde_json::from_str(
        r#"{"stage":"rate","rate_bit_s":25000000,"queue":{"discipline":"droptail","limit_ms":12}}"#,
    )
    .unwrap();
    assert_eq!(stage, rate(25_000_000, QueueSpec::droptail_ms(12.0)));
    assert!(serde_json::from_str::<StageSpec>(r#"{"stage":"delay","delay_ms":1,"x":2}"#).is_err());
    let refused = |stage: StageSpec| {
        let error = Direction::<()>::new(
            &[StageSpec::Delay(DelaySpec { delay_ms: 1.0 }), stage],
            Seed::new(1),
        );
        error.unwrap_err().to_string()
    };
    assert_eq!(
        refused(rate(0, QueueSpec::Infinite)),
        "stage 2 (rate): rate_bit_s: \"0 bit/s\" is not a rate: \
         it must be above 0 and at most 1000 Gbit/s"
    );
    assert!(
        refused(StageSpec::Loss(LossSpec { probability: 1.5 })).starts_with("stage 2 (loss): prob")
    );
    assert!(refused(StageSpec::Delay(DelaySpec { delay_ms: -1.0 })).contains("delay_ms"));
    let unlimited = QueueSpec::Droptail(LimitsSpec {
        limit_ms: None,
        limit_bytes: None,
        limit_packets: None,
    });
    assert!(refused(rate(1, unlimited)).contains("limit_ms, limit_bytes or limit_packets"));
}
