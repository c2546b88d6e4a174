//! Our controllers against the kernel's own windows, measured over the emulated path: see
//! `vectors/congestion/README.md`.

use eyelevel_simnet::bulk::Scenario;
use eyelevel_units::{Duration, Instant};
use std::path::Path;

#[derive(Clone, Copy, Debug)]
struct Sample {
    at_s: f64,
    window_packets: f64,
    threshold_packets: Option<f64>,
}

fn kernel(name: &str) -> Vec<Sample> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/congestion/kernel");
    let text = std::fs::read_to_string(root.join(name)).unwrap();
    let sample = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        Sample {
            at_s: fields[0].parse().unwrap(),
            window_packets: fields[1].parse().unwrap(),
            threshold_packets: fields[2].parse().ok(),
        }
    };
    text.lines().skip(1).map(sample).collect()
}

/// Returns our samples at the same times. As with the kernel's, the clock starts when a first
/// exchange has measured the round trip time.
fn ours(mut scenario: Scenario, times_s: impl Iterator<Item = f64>) -> Vec<Sample> {
    scenario.settings.packet_bytes = 1448;
    scenario.header_bytes = 52;
    scenario.chunks = Some(2);
    let mut network = scenario.network();
    let start = Instant::ZERO + Duration::from_secs_f64(scenario.rtt_ms * 1.2e-3);
    network.run_until(start);
    network.client.add_chunks(1 << 40);
    times_s
        .map(|at_s| {
            network.run_until(start + Duration::from_secs_f64(at_s));
            let controller = network.client.flow().controller();
            let threshold = controller.slow_start_threshold_bytes();
            Sample {
                at_s,
                window_packets: controller.window_bytes() as f64 / 1448.0,
                threshold_packets: threshold.map(|bytes| bytes as f64 / 1448.0),
            }
        })
        .collect()
}

fn deviation(ours: f64, kernel: f64) -> f64 {
    (ours - kernel).abs() / kernel
}

#[test]
fn windows_follow_the_kernels() {
    for (controller, rate_bit_s, rtt_ms, queue_ms) in [
        ("cubic", 10_500_000, 74.0, 200.0),
        ("cubic", 25_000_000, 24.0, 12.0),
        ("cubic", 3_540_000, 94.0, 200.0),
        ("reno", 10_500_000, 74.0, 200.0),
        // Startup and drain; the rest depends on the phase that each draws.
        ("bbr", 10_500_000, 74.0, 200.0),
    ] {
        let name = format!("{controller}-{rate_bit_s}-{rtt_ms}-{queue_ms}.tsv");
        let kernel = kernel(&name);
        let scenario = Scenario::new(controller, rate_bit_s, rtt_ms, queue_ms);
        let ours = ours(scenario, kernel.iter().map(|sample| sample.at_s));
        let pairs = || ours.iter().zip(&kernel);
        let windows = pairs().map(|(own, of)| deviation(own.window_packets, of.window_packets));
        let mut windows: Vec<f64> = windows.collect();
        windows.sort_by(f64::total_cmp);
        let median = windows[windows.len() / 2];
        let p90 = windows[windows.len() * 9 / 10];
        println!(
            "{name}: window off by {:.1} % (median), {:.1} % (p90)",
            median * 100.0,
            p90 * 100.0
        );
        assert!(median < 0.05, "{name}");
        assert!(p90 < 0.2, "{name}");
        // The threshold where slow start ended.
        let first = |samples: &[Sample]| samples.iter().find_map(|sample| sample.threshold_packets);
        if let Some(of) = first(&kernel) {
            let own = first(&ours).unwrap();
            println!("{name}: first threshold {own:.0} for {of:.0}");
            assert!(deviation(own, of) < 0.06, "{name}");
        }
    }
}
