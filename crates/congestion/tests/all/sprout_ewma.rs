//! Sprout-EWMA in virtual time: over a recorded LTE trace, and over constant rates.

use eyelevel_simnet::bulk::{Outcome, Scenario};
use eyelevel_units::Seed;
use std::path::Path;

const TRACE: &str = "../../../shared/data/traces/Verizon-LTE-short.down";

/// Returns the trace's delivery opportunities and its mean rate in bit/s; `None`, with a message,
/// if the data are absent.
fn verizon() -> Option<(Vec<u64>, u64)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(TRACE);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return None;
    };
    let trace: Vec<u64> = text.lines().map(|line| line.parse().unwrap()).collect();
    let rate = trace.len() as u64 * 1504 * 8 * 1000 / trace.last().unwrap();
    Some((trace, rate))
}

fn scenario(controller: &'static str, rtt_ms: f64) -> Option<Scenario> {
    let (trace, rate) = verizon()?;
    let mut scenario = Scenario::new(controller, rate, rtt_ms, 0.0);
    scenario.trace = Some(trace);
    // Linux's largest receive window by default; without a bound CUBIC's queue grows for ever.
    scenario.receive_window_bytes = 6 << 20;
    Some(scenario)
}

fn run(name: &str, scenario: &Scenario) -> Outcome {
    let run = scenario.run(140.0);
    println!(
        "{name}, {} ms: {:.2} Mbit/s ({:.0} %), queue p50 {:.0} p95 {:.0} ms",
        scenario.rtt_ms,
        run.goodput_bit_s / 1e6,
        run.utilisation * 100.0,
        run.queue_delay_ms_p50,
        run.queue_delay_ms_p95
    );
    run
}

#[test]
fn keeps_delay_low_over_lte_where_cubic_fills_the_queue() {
    // The Sprout paper's round trip, 40 ms, and the deep queue of its cellular link.
    let Some(cubic) = scenario("cubic", 40.0).map(|scenario| run("cubic", &scenario)) else {
        return;
    };
    let by_acks = scenario("sprout_ewma", 40.0).unwrap();
    let by_timestamps = Scenario {
        receive_timestamps: true,
        ..by_acks.clone()
    };
    for (name, scenario) in [
        ("(ACK arrivals)", by_acks),
        ("(receive timestamps)", by_timestamps),
    ] {
        let sprout = run(&format!("sprout_ewma {name}"), &scenario);
        assert!(sprout.goodput_bit_s >= 0.85 * cubic.goodput_bit_s);
        assert!(sprout.queue_delay_ms_p95 < cubic.queue_delay_ms_p95 / 10.0);
    }
    run("bbr", &scenario("bbr", 40.0).unwrap());
}

/// Returns a minute of a synthetic cellular link, whose rate walks between 0.5 and 20 Mbit/s in
/// steps of some 20 % every 50 ms, and the mean rate of its opportunities in bit/s.
fn synthetic_trace() -> (Vec<u64>, u64) {
    let mut generator = Seed::new(7).generator();
    let (mut rate_mbit_s, mut owed) = (8.0_f64, 0.0);
    let mut trace = Vec::new();
    for ms in 1..=60_000_u64 {
        if ms % 50 == 0 {
            let step = (0.2 * generator.normal()).exp();
            rate_mbit_s = (rate_mbit_s * step).clamp(0.5, 20.0);
        }
        owed += rate_mbit_s * 1000.0 / 8.0 / 1504.0;
        while owed >= 1.0 {
            owed -= 1.0;
            trace.push(ms);
        }
    }
    let rate = trace.len() as u64 * 1504 * 8 * 1000 / trace.last().unwrap();
    (trace, rate)
}

#[test]
fn keeps_delay_low_over_a_synthetic_cellular_link_too() {
    let (trace, rate) = synthetic_trace();
    let scenario = |controller| {
        let mut scenario = Scenario::new(controller, rate, 40.0, 0.0);
        scenario.trace = Some(trace.clone());
        scenario.receive_window_bytes = 6 << 20;
        scenario
    };
    let cubic = run("cubic, made", &scenario("cubic"));
    for receive_timestamps in [false, true] {
        let scenario = Scenario {
            receive_timestamps,
            ..scenario("sprout_ewma")
        };
        let by = if receive_timestamps {
            "receive timestamps"
        } else {
            "ACK arrivals"
        };
        let sprout = run(&format!("sprout_ewma ({by}), made"), &scenario);
        assert!(sprout.goodput_bit_s >= 0.85 * cubic.goodput_bit_s);
        assert!(sprout.queue_delay_ms_p95 < cubic.queue_delay_ms_p95 / 10.0);
    }
}

#[test]
fn over_lte_with_long_round_trips_it_needs_a_gain() {
    if verizon().is_none() {
        return;
    }
    for rtt_ms in [120.0, 300.0] {
        let goodputs = [1.0, 1.25, 1.5, 2.0].map(|gain| {
            let mut scenario = scenario("sprout_ewma", rtt_ms).unwrap();
            scenario.settings.sprout_probe_gain = gain;
            run(&format!("sprout_ewma gain {gain}"), &scenario).goodput_bit_s
        });
        assert!(goodputs.is_sorted(), "{goodputs:?}");
    }
}

/// Returns the share of a 10 Mbit/s link used within a minute, and the queue's delay.
fn constant_rate(rtt_ms: f64, gain: f64, horizon_min: bool) -> Outcome {
    let mut scenario = Scenario::new("sprout_ewma", 10_000_000, rtt_ms, 2000.0);
    scenario.settings.sprout_probe_gain = gain;
    scenario.settings.sprout_horizon_min = horizon_min;
    let run = scenario.run(60.0);
    let smaller = if horizon_min { ", horizon min" } else { "" };
    println!(
        "{rtt_ms} ms, gain {gain}{smaller}: {:.0} % of the link, queue p95 {:.0} ms",
        run.utilisation * 100.0,
        run.queue_delay_ms_p95
    );
    run
}

#[test]
fn the_published_gain_probes_by_itself_below_100_ms_only() {
    assert!(constant_rate(40.0, 1.0, false).utilisation > 0.98);
    for rtt_ms in [100.0, 200.0, 400.0, 760.0] {
        assert!(constant_rate(rtt_ms, 1.0, false).utilisation < 0.93);
        assert!(constant_rate(rtt_ms, 1.25, false).utilisation > 0.95);
    }
}

#[test]
fn the_smaller_horizon_starves_long_round_trips() {
    assert!(constant_rate(200.0, 1.0, true).utilisation < 0.6);
    assert!(constant_rate(400.0, 1.0, true).utilisation < 0.3);
}
