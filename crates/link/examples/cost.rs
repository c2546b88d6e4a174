//! Measures the cost per packet: `cargo run --release -p eyelevel-link --example cost [PACKETS]`
//! prints the nanoseconds that one packet takes through whole directions, on one core, driver
//! excluded.

use eyelevel_link::{
    DelaySpec, Direction, LossSpec, Packet, QueueSpec, RateSpec, Release, StageSpec,
};
use eyelevel_units::{Instant, Seed};
use std::hint::black_box;

/// The interval of arrivals: the wire time of 1500 bytes at 5 Gbit/s.
const INTERVAL_NS: u64 = 2_400;
/// The number of packets that a driver passes at once: one super-packet of 64 kB.
const BATCH: u64 = 44;

fn main() {
    let packets = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(5_000_000);
    let rate = |queue| {
        StageSpec::Rate(RateSpec {
            rate_bit_s: 5_000_000_000,
            queue,
        })
    };
    let delay = |delay_ms| StageSpec::Delay(DelaySpec { delay_ms });
    let loss = StageSpec::Loss(LossSpec { probability: 0.0 });
    let droptail = || rate(QueueSpec::droptail_ms(10.0));
    let paths = [
        ("loss", vec![loss.clone()]),
        ("delay 20 ms", vec![delay(20.0)]),
        ("rate, droptail", vec![droptail()]),
        (
            "delay 20 ms, rate, droptail, loss",
            vec![delay(20.0), droptail(), loss.clone()],
        ),
        ("rate, infinite", vec![rate(QueueSpec::Infinite)]),
    ];
    for (name, stages) in paths {
        println!("{:6.1} ns a packet: {name}", cost_ns(&stages, packets));
    }
}

/// Returns the median of five runs.
fn cost_ns(stages: &[StageSpec], packets: u64) -> f64 {
    let mut runs: Vec<f64> = (0..5).map(|_| run(stages, packets)).collect();
    runs.sort_by(f64::total_cmp);
    runs[2]
}

fn run(stages: &[StageSpec], packets: u64) -> f64 {
    let mut direction = Direction::new(stages, Seed::new(1)).expect("the stages are valid");
    let start = std::time::Instant::now();
    let mut released = 0_u64;
    for number in 0..packets {
        // A batch arrives at once and is released at its pace.
        let now = Instant::from_nanos(number / BATCH * BATCH * INTERVAL_NS);
        direction.handle_packet(now, Packet::new(1500, number));
        if number % BATCH == 0 {
            while let Some(release) = direction.poll_transmit(now) {
                released += 1;
                black_box::<Release<u64>>(release);
            }
        }
    }
    let elapsed = start.elapsed();
    assert!(released > 0 || packets < 100_000, "nothing came through");
    elapsed.as_nanos() as f64 / packets as f64
}
