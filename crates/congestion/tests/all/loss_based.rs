//! CUBIC and Reno over an emulated path in virtual time.

use eyelevel_congestion::SlowStart;
use eyelevel_simnet::bulk::{Busy, Scenario, Sender};
use eyelevel_units::{Duration, Instant};

fn slow_start_end(sender: &Sender) -> (Instant, &'static str) {
    let begin = sender
        .states()
        .iter()
        .position(|(_, state)| *state == "slow start");
    sender.states()[begin.unwrap() + 1]
}

#[test]
fn cubic_fills_the_link_after_slow_start() {
    for (rate_bit_s, rtt_ms, queue_ms) in [
        (25_000_000, 24.0, 12.0),
        (10_500_000, 74.0, 200.0),
        (3_540_000, 94.0, 200.0),
    ] {
        let run = Scenario::new("cubic", rate_bit_s, rtt_ms, queue_ms).run(30.0);
        println!("{rate_bit_s} bit/s, {rtt_ms} ms: {run:?}");
        assert!(run.utilisation >= 0.95, "{run:?}");
    }
}

#[test]
fn hystart_leaves_slow_start_before_the_lte_queue_overflows() {
    let lost = [
        SlowStart::HyStart,
        SlowStart::HyStartPlusPlus,
        SlowStart::Plain,
    ]
    .map(|kind| {
        let mut scenario = Scenario::new("cubic", 10_500_000, 74.0, 200.0);
        scenario.settings.slow_start = Some(kind);
        let mut network = scenario.network();
        network.run_until(Instant::from_nanos(2_000_000_000));
        let (at, next) = slow_start_end(&network.client);
        let lost = network.client.packets_lost();
        println!("{kind:?}: slow start until {at} s, then {next}; {lost} packets lost in 2 s");
        (next, lost)
    });
    assert_eq!(lost[0], ("congestion avoidance", 0));
    // HyStart++'s five rounds of slow growth treble the window, which this queue does not hold.
    assert!(lost[1].1 < lost[2].1 / 2, "{lost:?}");
    assert_eq!(lost[2].0, "recovery");
}

#[test]
fn hystart_tolerates_rare_acknowledgements() {
    for packets_per_ack in [1, 2, 4, 10] {
        let mut scenario = Scenario::new("cubic", 10_500_000, 74.0, 200.0);
        scenario.packets_per_ack = packets_per_ack;
        let mut network = scenario.network();
        network.run_until(Instant::from_nanos(2_000_000_000));
        let (at, next) = slow_start_end(&network.client);
        let window = network.client.flow().controller().window_bytes() / 1252;
        println!("an ACK for {packets_per_ack}: slow start until {at} s, {window} packets at 2 s");
        assert_eq!(next, "congestion avoidance");
        assert_eq!(network.client.packets_lost(), 0);
    }
}

#[test]
fn hystart_tolerates_a_receiver_that_waits_for_a_processor() {
    // Packets that arrive while a browser waits are acknowledged at once: the first of them is
    // late, the last is not. The path holds 207 packets, and its queue as many.
    let busy = [(13, 8), (17, 11), (23, 9)];
    let windows = busy.map(|(period_ms, wait_ms)| {
        [2, 10].map(|packets_per_ack| {
            let mut scenario = Scenario::new("cubic", 100_000_000, 24.0, 24.0);
            scenario.packets_per_ack = packets_per_ack;
            scenario.busy = Some(Busy {
                period: Duration::from_millis(period_ms),
                wait: Duration::from_millis(wait_ms),
            });
            let mut network = scenario.network();
            network.run_until(Instant::from_nanos(400_000_000));
            network.client.flow().controller().window_bytes() / 1252
        })
    });
    println!("windows after 0.4 s: {windows:?}");
    assert!(
        windows.as_flattened().iter().all(|window| *window > 200),
        "{windows:?}"
    );
}

#[test]
fn rare_acknowledgements_cost_goodput_where_the_queue_is_short() {
    // After a loss CUBIC keeps 70 % of 36 ms of data: 25 ms, a millisecond more than `dsl`'s round
    // trip. An acknowledgement for ten packets arrives up to 4 ms later than one for two, and then
    // the window is too small for the link until it has grown again.
    let used = [2, 10].map(|packets_per_ack| {
        let mut scenario = Scenario::new("cubic", 25_000_000, 24.0, 12.0);
        scenario.packets_per_ack = packets_per_ack;
        let run = scenario.transfer(8000, 30.0);
        println!("an ACK for {packets_per_ack}: {run:?}");
        run.utilisation
    });
    assert!(used[0] > 0.95, "{used:?}");
    assert!((0.02..0.07).contains(&(used[0] - used[1])), "{used:?}");
}

#[test]
fn the_first_window_is_paced_at_twice_the_window() {
    // Two packets measure the round trip time; with the 30 that follow they are the first 32.
    let mut scenario = Scenario::new("cubic", 100_000_000, 200.0, 200.0);
    scenario.chunks = Some(2);
    let mut network = scenario.network();
    network.run_until(Instant::from_nanos(300_000_000));
    network.client.add_chunks(30);
    network.run_until(Instant::from_nanos(600_000_000));
    let sends = network.client.sends();
    let span_ms = sends[31].since(sends[2]).as_secs_f64() * 1e3;
    println!("30 packets after the first two over {span_ms:.1} ms");
    // The kernel's 32 were measured over 69 ms; within 10 %.
    assert!((62.1..75.9).contains(&span_ms), "{span_ms}");
}

#[test]
fn cubic_and_reno_fall_at_random_loss() {
    for controller in ["cubic", "reno"] {
        let mut scenario = Scenario::new(controller, 10_000_000, 40.0, 100.0);
        scenario.loss = 0.01;
        let run = scenario.run(60.0);
        println!("{controller} at 1 % loss: {run:?}");
        // Mathis et al.: MSS/RTT * 1.22/sqrt(p) is 3 Mbit/s for Reno; CUBIC is close to it here.
        assert!((1.5e6..5.5e6).contains(&run.goodput_bit_s), "{run:?}");
    }
}

#[test]
fn a_run_repeats_exactly() {
    let mut scenario = Scenario::new("cubic", 10_000_000, 40.0, 50.0);
    scenario.loss = 0.005;
    let (first, second) = (scenario.run(10.0), scenario.run(10.0));
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
}
