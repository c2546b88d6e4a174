//! A cellular link of known behaviour, written independently of the stage `cell`, and recordings of
//! it.

use eyelevel_link::LightTrain;
use eyelevel_units::{Generator, Seed};

const MS: u64 = 1_000_000;
/// The length of the recordings.
const LENGTH_MS: u64 = 60_000;
/// The packets of the light recording's trains.
const TRAIN: usize = 10;
/// The time after its last packet when the link is idle again.
pub const IDLE_MS: u64 = 20;

/// A link that carries trains of packets of 1500 bytes, one after the other.
pub trait Link {
    /// Returns the times at which `packets` packets leave that arrive at `at`.
    fn train(&mut self, at: u64, packets: usize) -> Vec<u64>;
}

/// A cellular link of known behaviour. A packet that arrives at an idle link waits for a grant, and
/// the first packets leave by small grants; a continuous sender gets the whole capacity of the
/// cell. The delay and the grants change slowly, the rate faster.
pub struct Known {
    /// The course of the link in steps of 50 ms: milliseconds of the delay and the grant, and of a
    /// packet by small and by large grants.
    course: Vec<(f64, f64, f64, f64)>,
    last_left: u64,
    /// Packets since the link was idle.
    busy_packets: usize,
}

impl Known {
    pub fn new(seed: u64, rate: f64) -> Self {
        let mut random: Generator = Seed::new(seed).generator();
        let (mut way, mut grant, mut large) = (0.5, 0.5, 0.5);
        let mut walk = |value: &mut f64, step: f64| {
            *value = (*value + (random.uniform() - 0.5) * step).clamp(0.0, 1.0);
            *value
        };
        let steps = LENGTH_MS / 50 * 3;
        let course = (0..steps).map(|_| {
            let way = 18.0 + 14.0 * walk(&mut way, 0.12);
            let grant = 4.0 + 8.0 * walk(&mut grant, 0.12);
            let small = 2.4 / rate;
            (
                way,
                grant,
                small,
                (0.4 + 0.3 * walk(&mut large, 0.3)) / rate,
            )
        });
        Self {
            course: course.collect(),
            last_left: 0,
            busy_packets: 0,
        }
    }

    fn packet(&mut self, at: u64) -> u64 {
        let now = |at: u64| self.course[(at / (50 * MS)) as usize % self.course.len()];
        let (way, grant, ..) = now(at);
        let ns = |ms: f64| (ms * 1e6) as u64;
        if at + ns(way) > self.last_left + IDLE_MS * MS {
            self.busy_packets = 0;
            self.last_left = at + ns(way + grant);
        } else {
            let (.., small, large) = now(self.last_left);
            self.busy_packets += 1;
            let each = if self.busy_packets < TRAIN {
                small
            } else {
                large
            };
            self.last_left = (at + ns(way)).max(self.last_left + ns(each));
        }
        self.last_left
    }

    /// Records as `CellReplay` does: whole milliseconds, a train every 200 ms.
    pub fn light(mut self) -> Vec<LightTrain> {
        let trains = (0..=LENGTH_MS / 200).map(|n| {
            let sent = n * 200 * MS;
            let left = self.train(sent, TRAIN);
            let whole_ms = |ns: u64| (ns / MS) as f64;
            LightTrain {
                at_ms: whole_ms(sent),
                delay_ms: whole_ms(left[0] - sent),
                opportunities_ms: left.iter().map(|at| whole_ms(at - left[0])).collect(),
            }
        });
        trains.collect()
    }

    /// Records as Mahimahi does: the link is kept full, and each packet's arrival recorded.
    pub fn heavy(mut self) -> Vec<u64> {
        let left =
            std::iter::from_fn(|| Some(self.packet(self.last_left.saturating_sub(60 * MS)) / MS));
        left.skip(TRAIN).take_while(|ms| *ms <= LENGTH_MS).collect()
    }
}

impl Link for Known {
    fn train(&mut self, at: u64, packets: usize) -> Vec<u64> {
        (0..packets).map(|_| self.packet(at)).collect()
    }
}
