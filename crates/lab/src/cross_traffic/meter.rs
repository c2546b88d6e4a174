//! Counts the transfers' received bytes, which another thread samples.

use super::config::{CrossTrafficConfig, FlowDirection, KernelController};
use super::fairness::jain_index;
use crate::threads::clock_ns;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The interval between samples; a page load has tens of them.
const SAMPLE_INTERVAL_MS: u64 = 100;
/// The number of samples at which every other one is dropped and the interval doubled, which bounds
/// them for a lab of a day.
const SAMPLES_MAX: usize = 4096;

/// The counts of all transfers.
pub struct Meters {
    pub flows: Vec<FlowMeter>,
    samples: Mutex<Samples>,
}

/// The counter of one transfer.
pub struct FlowMeter {
    congestion_control: KernelController,
    direction: FlowDirection,
    /// When the connection was established; 0 before.
    began_ns: AtomicU64,
    bytes: AtomicU64,
}

#[derive(Default)]
struct Samples {
    at_ns: Vec<u64>,
    /// The samples of each flow.
    bytes: Vec<Vec<u64>>,
}

/// The summary of a lab's transfers.
#[derive(Serialize)]
pub struct CrossTrafficSummary {
    sampled_at_ns: Vec<u64>,
    flows: Vec<FlowSummary>,
    /// Jain's index of each direction's goodputs; only flows of one direction share a queue.
    fairness_index: BTreeMap<FlowDirection, Option<f64>>,
}

#[derive(Serialize)]
struct FlowSummary {
    congestion_control: KernelController,
    direction: FlowDirection,
    bytes: u64,
    duration_ms: f64,
    goodput_bit_s: f64,
    sampled_bytes: Vec<u64>,
}

impl FlowMeter {
    /// Marks the connection as established.
    pub fn begin(&self) {
        self.began_ns.store(clock_ns(), Ordering::Relaxed);
    }

    /// Adds received bytes.
    pub fn add(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Meters {
    /// Creates meters for transfers of these kinds, by their numbers.
    pub fn for_kinds(kinds: &[CrossTrafficConfig]) -> Self {
        let meter = |kind: &CrossTrafficConfig| FlowMeter {
            congestion_control: kind.congestion_control,
            direction: kind.direction,
            began_ns: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        };
        let samples = Samples {
            at_ns: Vec::new(),
            bytes: vec![Vec::new(); kinds.len()],
        };
        Self {
            flows: kinds.iter().map(meter).collect(),
            samples: Mutex::new(samples),
        }
    }

    /// Takes samples at the interval until the lab ends.
    pub fn sample(meters: &Arc<Self>) {
        let meters = meters.clone();
        thread::spawn(move || {
            let mut interval = Duration::from_millis(SAMPLE_INTERVAL_MS);
            loop {
                thread::sleep(interval);
                let mut samples = meters.take_sample();
                if samples.at_ns.len() >= SAMPLES_MAX {
                    samples.halve();
                    interval *= 2;
                }
            }
        });
    }

    pub fn summary(&self) -> CrossTrafficSummary {
        let mut samples = self.take_sample();
        let Samples { at_ns, bytes } = std::mem::take(&mut *samples);
        let now_ns = at_ns.last().copied().unwrap_or_default();
        let flow = |(meter, sampled_bytes): (&FlowMeter, Vec<u64>)| {
            let bytes = sampled_bytes.last().copied().unwrap_or_default();
            let duration_ns = match meter.began_ns.load(Ordering::Relaxed) {
                0 => 0,
                began_ns => now_ns.saturating_sub(began_ns),
            };
            FlowSummary {
                congestion_control: meter.congestion_control,
                direction: meter.direction,
                bytes,
                duration_ms: duration_ns as f64 / 1e6,
                goodput_bit_s: bytes as f64 * 8e9 / duration_ns.max(1) as f64,
                sampled_bytes,
            }
        };
        let flows: Vec<_> = self.flows.iter().zip(bytes).map(flow).collect();
        CrossTrafficSummary {
            fairness_index: compute_fairness(&flows),
            flows,
            sampled_at_ns: at_ns,
        }
    }

    /// Takes a sample and returns the samples.
    fn take_sample(&self) -> MutexGuard<'_, Samples> {
        let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        samples.at_ns.push(clock_ns());
        let Samples { bytes, .. } = &mut *samples;
        for (list, meter) in bytes.iter_mut().zip(&self.flows) {
            list.push(meter.bytes.load(Ordering::Relaxed));
        }
        samples
    }
}

impl Samples {
    /// Drops every other sample.
    fn halve(&mut self) {
        for list in [&mut self.at_ns].into_iter().chain(&mut self.bytes) {
            let mut number = 0;
            list.retain(|_| {
                number += 1;
                number % 2 == 0
            });
        }
    }
}

fn compute_fairness(flows: &[FlowSummary]) -> BTreeMap<FlowDirection, Option<f64>> {
    let mut goodputs: BTreeMap<FlowDirection, Vec<f64>> = BTreeMap::new();
    for flow in flows {
        let of_direction = goodputs.entry(flow.direction).or_default();
        of_direction.push(flow.goodput_bit_s);
    }
    goodputs
        .into_iter()
        .map(|(direction, goodputs)| (direction, jain_index(&goodputs)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_flows_of_one_direction_are_compared() {
        let flow = |direction, goodput_bit_s| FlowSummary {
            congestion_control: KernelController::Reno,
            direction,
            bytes: 1,
            duration_ms: 1.0,
            goodput_bit_s,
            sampled_bytes: Vec::new(),
        };
        let flows = [
            flow(FlowDirection::Down, 2.0),
            flow(FlowDirection::Up, 5.0),
            flow(FlowDirection::Down, 2.0),
        ];
        let found: Vec<_> = compute_fairness(&flows).into_iter().collect();
        let expected = [
            (FlowDirection::Down, Some(1.0)),
            (FlowDirection::Up, Some(1.0)),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn thinned_samples_stay_in_step() {
        let mut samples = Samples {
            at_ns: (0..10).collect(),
            bytes: vec![(0..10).map(|at| at * 7).collect()],
        };
        samples.halve();
        assert_eq!(samples.at_ns, [1, 3, 5, 7, 9]);
        assert_eq!(samples.bytes[0], [7, 21, 35, 49, 63]);
    }
}
