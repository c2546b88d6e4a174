//! What the transfers have brought, counted by their receivers and looked at from another thread.

use super::config::{CrossTrafficConfig, FlowDirection, KernelController};
use super::fairness::jain_index;
use crate::threads::clock_ns;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// A page's load has tens of them.
const SAMPLE_INTERVAL_MS: u64 = 100;
/// At so many every other one is dropped and the interval doubled: a lab of a day has no more.
const SAMPLES_MAX: usize = 4096;

/// The counts of all transfers.
pub struct Meters {
    pub flows: Vec<FlowMeter>,
    samples: Mutex<Samples>,
}

/// The count of one.
pub struct FlowMeter {
    congestion_control: KernelController,
    direction: FlowDirection,
    /// When its connection stood; 0: it does not yet.
    began_ns: AtomicU64,
    bytes: AtomicU64,
}

#[derive(Default)]
struct Samples {
    at_ns: Vec<u64>,
    /// One list a flow.
    bytes: Vec<Vec<u64>>,
}

/// All transfers of a lab.
#[derive(Serialize)]
pub struct CrossTrafficSummary {
    sampled_at_ns: Vec<u64>,
    flows: Vec<FlowSummary>,
    /// Of the goodputs of each direction's flows: only these share a queue.
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
    /// The connection stands.
    pub fn begin(&self) {
        self.began_ns.store(clock_ns(), Ordering::Relaxed);
    }

    /// So much more has come.
    pub fn add(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Meters {
    /// For transfers of these kinds, by their numbers.
    pub fn of(kinds: &[CrossTrafficConfig]) -> Self {
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

    /// Looks at an interval until the lab ends.
    pub fn sample(meters: &Arc<Self>) {
        let meters = meters.clone();
        thread::spawn(move || {
            let mut interval = Duration::from_millis(SAMPLE_INTERVAL_MS);
            loop {
                thread::sleep(interval);
                let mut samples = meters.look();
                if samples.at_ns.len() >= SAMPLES_MAX {
                    samples.thin_out();
                    interval *= 2;
                }
            }
        });
    }

    pub fn summary(&self) -> CrossTrafficSummary {
        let mut samples = self.look();
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
            fairness_index: fairness(&flows),
            flows,
            sampled_at_ns: at_ns,
        }
    }

    /// Takes a sample.
    fn look(&self) -> MutexGuard<'_, Samples> {
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
    /// Keeps every other one.
    fn thin_out(&mut self) {
        for list in [&mut self.at_ns].into_iter().chain(&mut self.bytes) {
            let mut number = 0;
            list.retain(|_| {
                number += 1;
                number % 2 == 0
            });
        }
    }
}

fn fairness(flows: &[FlowSummary]) -> BTreeMap<FlowDirection, Option<f64>> {
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
        let found: Vec<_> = fairness(&flows).into_iter().collect();
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
        samples.thin_out();
        assert_eq!(samples.at_ns, [1, 3, 5, 7, 9]);
        assert_eq!(samples.bytes[0], [7, 21, 35, 49, 63]);
    }
}
