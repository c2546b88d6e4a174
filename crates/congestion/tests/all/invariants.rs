//! Invariants of every controller whatever a network does, checked over seeded random events.

use eyelevel_congestion::{CONTROLLERS, CongestionError, Flow, Settings, by_name};
use eyelevel_units::{Duration, Generator, Instant, Seed};

const PACKET_BYTES: u64 = 1252;
const SEEDS: u64 = 60;
const EVENTS: u32 = 3000;

/// A transport that sends, acknowledges, loses and idles at random.
struct Chaos {
    flow: Flow,
    generator: Generator,
    now: Instant,
    outstanding: Vec<(u64, Instant, u64)>,
    number_next: u64,
}

impl Chaos {
    fn new(name: &str, seed: u64) -> Self {
        let mut generator = Seed::new(seed).generator();
        let settings = Settings {
            packet_bytes: PACKET_BYTES,
            initial_window_packets: 1 + generator.below(50),
            pacing: generator.below(2) == 0,
            slow_start_after_idle: generator.below(2) == 0,
            seed,
            ..Settings::default()
        };
        Self {
            flow: Flow::new(by_name(name, &settings).unwrap(), PACKET_BYTES),
            generator,
            now: Instant::ZERO,
            outstanding: Vec::new(),
            number_next: 0,
        }
    }

    fn step(&mut self) {
        let most = [100_000, 3_000_000, 80_000_000, 4_000_000_000];
        let most = most[self.generator.below(100).min(3) as usize * usize::from(self.rare())];
        self.now += Duration::from_nanos(self.generator.below(most));
        match self.generator.below(10) {
            0..=4 => self.send(),
            5..=7 => self.acknowledge(),
            8 => self.lose(),
            _ => match self.generator.below(4) {
                0 => self.flow.on_spurious_loss(self.now),
                1 => self.flow.on_app_limited(),
                2 => self.flow.on_congestion(self.now, 0, false),
                _ => self.acknowledge(),
            },
        }
    }

    fn rare(&mut self) -> bool {
        self.generator.below(20) == 0
    }

    fn send(&mut self) {
        let count = 1 + self.generator.below(10);
        for _ in 0..count {
            let small = self.generator.below(10) == 0;
            let bytes = if small { 40 } else { PACKET_BYTES };
            let window = self.flow.controller().window_bytes();
            if self.flow.bytes_in_flight() + PACKET_BYTES > window {
                return;
            }
            self.flow.on_packet_sent(self.now, self.number_next, bytes);
            self.outstanding.push((self.number_next, self.now, bytes));
            self.number_next += 1;
        }
    }

    fn acknowledge(&mut self) {
        self.now += Duration::from_millis(1 + self.generator.below(50));
        let count = 1 + self.generator.below(8) as usize;
        for _ in 0..count.min(self.outstanding.len()) {
            let (number, sent_at, _) = self.outstanding.remove(0);
            self.flow.on_packet_acked(self.now, number, sent_at, None);
        }
        let app_limited = self.generator.below(5) == 0;
        self.flow.on_acks_end(self.now, None, app_limited);
        if self.generator.below(8) == 0 {
            self.lose();
        }
    }

    fn lose(&mut self) {
        let count = self.generator.below(1 + self.outstanding.len() as u64) as usize;
        let mut lost = 0;
        for (number, _, bytes) in self.outstanding.drain(..count) {
            self.flow.on_packet_lost(number, bytes);
            lost += bytes;
        }
        if lost > 0 {
            let persistent = self.generator.below(6) == 0;
            self.flow.on_congestion(self.now, lost, persistent);
        }
    }
}

#[test]
fn every_controller_always_lets_a_packet_go_and_never_overflows() {
    for (name, _) in CONTROLLERS {
        for seed in 0..SEEDS {
            let mut chaos = Chaos::new(name, seed);
            for event in 0..EVENTS {
                chaos.step();
                let controller = chaos.flow.controller();
                let at = format!("{name}, seed {seed}, event {event}: {controller:?}");
                assert!(controller.window_bytes() >= PACKET_BYTES, "{at}");
                assert!(controller.window_bytes() < 1 << 40, "{at}");
                assert_ne!(controller.pacing_rate_bytes_s(), Some(0), "{at}");
                let outstanding: u64 = chaos.outstanding.iter().map(|(_, _, bytes)| bytes).sum();
                assert_eq!(
                    chaos.flow.bytes_in_flight(),
                    outstanding,
                    "{name}, seed {seed}"
                );
            }
        }
    }
}

#[test]
fn a_copy_continues_equally() {
    for (name, _) in CONTROLLERS {
        let mut first = Chaos::new(name, 7);
        (0..500).for_each(|_| first.step());
        let mut second = Chaos {
            flow: first.flow.clone(),
            generator: first.generator.clone(),
            outstanding: first.outstanding.clone(),
            ..first
        };
        for _ in 0..500 {
            first.step();
            second.step();
        }
        assert_eq!(format!("{:?}", first.flow), format!("{:?}", second.flow));
    }
}

#[test]
fn names_are_found_and_unknown_ones_answered_with_the_known() {
    for (name, _) in CONTROLLERS {
        assert_eq!(by_name(name, &Settings::default()).unwrap().name(), *name);
    }
    let error = by_name("vegas", &Settings::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("\"vegas\"") && error.contains("cubic") && error.contains("bbr"));
    let settings = Settings {
        initial_window_packets: 0,
        ..Settings::default()
    };
    let error = by_name("cubic", &settings).unwrap_err();
    assert!(matches!(
        error,
        CongestionError::Setting {
            setting: "initial_window_packets",
            ..
        }
    ));
}
