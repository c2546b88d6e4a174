//! The framework of loss-based controllers, event by event.

use eyelevel_congestion::{Flow, Settings, by_name};
use eyelevel_units::{Duration, Instant};

const PACKET_BYTES: u64 = 1000;

struct Connection {
    flow: Flow,
    now: Instant,
    number_next: u64,
    outstanding: Vec<(u64, Instant)>,
}

impl Connection {
    fn new(name: &str, settings: &Settings) -> Self {
        let settings = Settings {
            packet_bytes: PACKET_BYTES,
            ..settings.clone()
        };
        Self {
            flow: Flow::new(by_name(name, &settings).unwrap(), PACKET_BYTES),
            now: Instant::ZERO,
            number_next: 0,
            outstanding: Vec::new(),
        }
    }

    fn send(&mut self, packets: u64) {
        for _ in 0..packets {
            self.flow
                .on_packet_sent(self.now, self.number_next, PACKET_BYTES);
            self.outstanding.push((self.number_next, self.now));
            self.number_next += 1;
        }
    }

    /// Acknowledges the oldest packets after `ms` milliseconds, two per acknowledgement.
    fn acknowledge_after(&mut self, ms: u64, packets: usize) {
        self.now += Duration::from_millis(ms);
        let acked: Vec<_> = self.outstanding.drain(..packets).collect();
        for pair in acked.chunks(2) {
            for (number, sent_at) in pair {
                self.flow.on_packet_acked(self.now, *number, *sent_at, None);
            }
            self.flow.on_acks_end(self.now, None, false);
        }
    }

    /// Loses the oldest packets, as an acknowledgement of the next one shows.
    fn lose(&mut self, packets: usize, persistent: bool) {
        let lost: Vec<_> = self.outstanding.drain(..packets).collect();
        if !persistent {
            self.acknowledge_after(1, 1);
        }
        for (number, _) in &lost {
            self.flow.on_packet_lost(*number, PACKET_BYTES);
        }
        let bytes = lost.len() as u64 * PACKET_BYTES;
        self.flow.on_congestion(self.now, bytes, persistent);
    }

    fn window(&self) -> u64 {
        self.flow.controller().window_bytes() / PACKET_BYTES
    }
}

fn settings() -> Settings {
    Settings::default()
}

#[test]
fn slow_start_doubles_a_used_window_and_leaves_an_unused_one() {
    let mut used = Connection::new("cubic", &settings());
    used.send(10);
    used.acknowledge_after(100, 10);
    assert_eq!(used.window(), 20);
    // A paced sender uses half of it by the time of the acknowledgements: enough in slow start.
    used.send(11);
    used.acknowledge_after(100, 2);
    assert_eq!(used.window(), 22);
    let mut unused = Connection::new("cubic", &settings());
    unused.send(4);
    unused.acknowledge_after(100, 4);
    assert_eq!(unused.window(), 10);
}

#[test]
fn a_loss_shrinks_to_the_share_of_each_and_a_spurious_one_is_undone() {
    for (name, after) in [("cubic", 70), ("reno", 50)] {
        let settings = Settings {
            initial_window_packets: 100,
            ..settings()
        };
        let mut connection = Connection::new(name, &settings);
        connection.send(100);
        connection.acknowledge_after(100, 2);
        connection.send(4);
        let before = connection.window();
        connection.lose(3, false);
        let threshold = connection.flow.controller().slow_start_threshold_bytes();
        assert_eq!(connection.flow.controller().state(), "recovery");
        // The acknowledgement that shows the loss has still raised the window by its packet.
        let expected = (before + 1) * after / 100;
        assert_eq!(threshold, Some(expected * PACKET_BYTES), "{name}");
        // The rest of the old flight, then the retransmissions and one more packet, which ends it.
        connection.acknowledge_after(50, 97);
        connection.send(4);
        let rest = connection.outstanding.len();
        connection.acknowledge_after(50, rest);
        assert_eq!(connection.flow.controller().state(), "congestion avoidance");
        assert_eq!(connection.window(), expected, "{name}");
        connection.flow.on_spurious_loss(connection.now);
        assert_eq!(connection.window(), before + 1, "{name}");
        assert_eq!(
            connection.flow.controller().slow_start_threshold_bytes(),
            None
        );
    }
}

#[test]
fn losses_of_one_flight_are_one_event() {
    let mut connection = Connection::new("cubic", &settings());
    connection.send(10);
    connection.lose(2, false);
    let threshold = connection.flow.controller().slow_start_threshold_bytes();
    connection.lose(2, false);
    connection.lose(2, false);
    assert_eq!(
        connection.flow.controller().slow_start_threshold_bytes(),
        threshold
    );
}

#[test]
fn persistent_congestion_starts_again_from_two_packets() {
    let mut connection = Connection::new("cubic", &settings());
    connection.send(10);
    connection.acknowledge_after(100, 2);
    connection.send(4);
    connection.lose(12, true);
    assert_eq!(connection.window(), 2);
    assert_eq!(connection.flow.controller().state(), "slow start");
}

#[test]
fn idleness_resets_the_window_only_if_enabled() {
    for (slow_start_after_idle, expected) in [(false, 40), (true, 10)] {
        let settings = Settings {
            slow_start_after_idle,
            ..settings()
        };
        let mut connection = Connection::new("cubic", &settings);
        for packets in [10, 20] {
            connection.send(packets);
            connection.acknowledge_after(100, packets as usize);
        }
        assert_eq!(connection.window(), 40);
        // Linux's own packetdrill test: two seconds, back to ten.
        connection.now += Duration::from_secs(2);
        connection.send(1);
        assert_eq!(connection.window(), expected);
    }
}

#[test]
fn pacing_follows_the_window_and_can_be_off() {
    let mut connection = Connection::new("cubic", &settings());
    assert_eq!(connection.flow.controller().pacing_rate_bytes_s(), None);
    connection.send(10);
    connection.acknowledge_after(100, 10);
    // Twice 20 packets in 100 ms.
    assert_eq!(
        connection.flow.controller().pacing_rate_bytes_s(),
        Some(400_000)
    );
    let unpaced = Settings {
        pacing: false,
        ..settings()
    };
    let mut connection = Connection::new("cubic", &unpaced);
    connection.send(10);
    connection.acknowledge_after(100, 10);
    assert_eq!(connection.flow.controller().pacing_rate_bytes_s(), None);
}

#[test]
fn the_first_rate_of_bbr_is_its_high_gain_times_the_window() {
    let settings = Settings {
        initial_window_packets: 32,
        ..settings()
    };
    let mut connection = Connection::new("bbr", &settings);
    connection.send(2);
    connection.acknowledge_after(200, 2);
    let rate = connection.flow.controller().pacing_rate_bytes_s().unwrap();
    // 22 paced packets of the first 32: the kernel's were measured to leave over 48 ms.
    let span_ms = 22.0 * PACKET_BYTES as f64 / rate as f64 * 1e3;
    assert!((43.2..52.8).contains(&span_ms), "{span_ms}");
}

#[test]
fn larger_packets_make_a_larger_window() {
    for name in ["cubic", "bbr", "sprout_ewma"] {
        let mut connection = Connection::new(name, &settings());
        connection.flow.on_packet_bytes(1400);
        assert_eq!(
            connection.flow.controller().window_bytes(),
            14_000,
            "{name}"
        );
        assert_eq!(connection.flow.controller().initial_window_bytes(), 14_000);
    }
}
