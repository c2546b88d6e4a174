//! Properties of every path: how late the driver calls changes nothing, the seed decides all
//! randomness, no packet is lost without a reason, and time does not run backwards.

use crate::common::{arrivals, parsed, run};
use eyelevel_link::{Direction, EventKind, Packet, StageSpec};
use eyelevel_units::{Instant, Seed};
use proptest::prelude::*;

/// Clauses from which whole paths are combined.
const STAGES: &[&str] = &[
    "delay 0ms",
    "delay 7.3ms",
    "jitter normal 5ms 3ms",
    "jitter pareto 0.5ms 1.8 reordering",
    "rate 9 Mbit/s",
    "rate 5 Mbit/s, queue droptail 30ms",
    "rate 7 Mbit/s, queue drophead 9 kB",
    "rate 6 Mbit/s, queue codel interval 20ms ecn",
    "rate 6 Mbit/s, queue fq_codel interval 20ms flows 4 limit 30",
    "rate 6 Mbit/s, queue pie burst 0ms ecn limit 100",
    "rate 6 Mbit/s, queue dualpi2",
    "rate 6 Mbit/s, queue red weight 0.1 ecn",
    "schedule 0ms=9Mbit/s 11ms=0 13ms=3 Mbit/s repeat 40ms, queue droptail 20 packets",
    "schedule 0ms=2Mbit/s 50ms=20Mbit/s",
    "token-bucket 4 Mbit/s 9 kB",
    "loss 3%",
    "gilbert-elliott 2% 20%",
    "duplicate 10%",
    "corrupt 5%",
    "outage exponential 50ms 5ms",
    "outage periodic 40ms 3ms",
    "loss 0%",
    "loss 100%",
    "address-delay 192.0.2.1=3ms default 2ms",
];

fn paths() -> impl Strategy<Value = Vec<StageSpec>> {
    proptest::collection::vec(0..STAGES.len(), 0..6).prop_map(|choices| {
        let text: Vec<&str> = choices.into_iter().map(|choice| STAGES[choice]).collect();
        if text.is_empty() {
            Vec::new()
        } else {
            parsed(&text.join(", "))
        }
    })
}

proptest! {
    #![proptest_config(crate::common::config(256))]

    #[test]
    fn lateness_changes_neither_fates_nor_instants_nor_the_log(
        stages in paths(),
        arrivals in arrivals(150),
        seed: u64,
    ) {
        let (outcome, events) = run(&stages, seed, &arrivals, true);
        let (late_outcome, late_events) = run(&stages, seed, &arrivals, false);
        prop_assert_eq!(&outcome, &late_outcome);
        prop_assert_eq!(&events, &late_events);
        // Events and releases come in the order of time.
        prop_assert!(events.windows(2).all(|pair| pair[0].at <= pair[1].at));
        prop_assert!(outcome.released.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        // Every packet has exactly one end for each copy of it.
        let copies = events.iter().filter(|e| e.kind == EventKind::Duplicated).count();
        let ends = outcome.released.len() + outcome.dropped.len();
        prop_assert_eq!(ends, arrivals.len() + copies);
        prop_assert_eq!(run(&stages, seed, &arrivals, true).1, events);
    }

    #[test]
    fn a_direction_wakes_only_while_it_holds_packets(
        stages in paths(),
        arrivals in arrivals(60),
        seed: u64,
    ) {
        let mut direction = Direction::new(&stages, Seed::new(seed)).unwrap();
        for arrival in &arrivals {
            let now = Instant::from_nanos(arrival.at);
            direction.handle_packet(now, Packet::new(arrival.bytes, ()));
            while direction.poll_transmit(now).is_some() {}
            // Everything due has been handled.
            prop_assert!(direction.poll_timeout().is_none_or(|wake| wake > now));
        }
        let mut wakes = 0;
        while let Some(wake) = direction.poll_timeout() {
            while direction.poll_transmit(wake).is_some() {}
            wakes += 1;
            prop_assert!(wakes < 100_000, "the direction never comes to rest");
        }
        prop_assert!(direction.poll_transmit(crate::common::END).is_none());
    }

    #[test]
    fn a_shifted_run_is_the_same_run_later(
        stages in paths(),
        arrivals in arrivals(80),
        shift in 0_u64..1_000_000_000_000,
    ) {
        let releases = |origin: u64| {
            let mut direction = Direction::new(&stages, Seed::new(3)).unwrap();
            direction.start(Instant::from_nanos(origin));
            for arrival in &arrivals {
                let now = Instant::from_nanos(origin + arrival.at);
                direction.handle_packet(now, Packet::new(arrival.bytes, ()));
            }
            let left = std::iter::from_fn(|| direction.poll_transmit(crate::common::END));
            left.map(|r| (r.number, r.at.as_nanos() - origin)).collect::<Vec<_>>()
        };
        prop_assert_eq!(releases(0), releases(shift));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[a-z0-9=.,% /_:-]{0,60}|\\PC{0,40}") {
        if let Ok(stages) = StageSpec::parse_text(&text) {
            let _ = Direction::<()>::new(&stages, Seed::new(1));
        }
        let _ = eyelevel_link::Trace::parse(&text, "a trace");
        let _ = serde_json::from_str::<StageSpec>(&text);
    }

    #[test]
    fn words_of_the_language_in_any_order_do_not_panic(
        words in proptest::collection::vec(0..WORDS.len(), 0..12),
    ) {
        let text = words.into_iter().map(|word| WORDS[word]).collect::<Vec<_>>().join(" ");
        if let Ok(stages) = StageSpec::parse_text(&text)
            && let Ok(mut direction) = Direction::new(&stages, Seed::new(1))
        {
            for n in 0..50 {
                direction.handle_packet(Instant::from_nanos(n * 700_000), Packet::new(1500, ()));
            }
            while direction.poll_transmit(Instant::from_nanos(60_000_000_000)).is_some() {}
        }
    }
}

const WORDS: &[&str] = &[
    "delay",
    "rate",
    "queue",
    "loss",
    "jitter",
    "schedule",
    "outage",
    "normal",
    "uniform",
    "pareto",
    "exponential",
    "periodic",
    "droptail",
    "drophead",
    "codel",
    "fq_codel",
    "pie",
    "dualpi2",
    "infinite",
    "target",
    "interval",
    "limit",
    "flows",
    "ecn",
    "reordering",
    "repeat",
    "default",
    ",",
    ",",
    ",",
    ",",
    "20ms",
    "1ns",
    "0s",
    "3 Mbit/s",
    "1 bit/s",
    "0",
    "1",
    "100%",
    "0.1",
    "1e9",
    "0s=1Mbit/s",
    "5ms=0",
    "192.0.2.1=1s",
    "99999999999999999999",
    "30 packets",
];
