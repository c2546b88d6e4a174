use super::{Drops, Model, Waiting};
use eyelevel_link::{DropReason, Ecn};
use eyelevel_units::Generator;

/// PIE of RFC 8033 with a real timer, delays in seconds.
pub struct Pie {
    pub queue: Vec<Waiting>,
    pub limit: usize,
    pub ecn: bool,
    pub random: Generator,
    pub drop_prob: f64,
    pub accu_prob: f64,
    pub burst_ms: f64,
    pub qdelay_old: f64,
    pub next: u64,
}

const REF: f64 = 0.015;
const UPDATE: u64 = 15_000_000;

impl Pie {
    pub fn new(random: Generator, limit: usize, ecn: bool) -> Self {
        Self {
            queue: Vec::new(),
            limit,
            ecn,
            random,
            drop_prob: 0.0,
            accu_prob: 0.0,
            burst_ms: 150.0,
            qdelay_old: 0.0,
            next: UPDATE,
        }
    }

    fn drop_early(&mut self) -> bool {
        let bytes: u32 = self.queue.iter().map(|packet| packet.bytes).sum();
        if (self.qdelay_old < REF / 2.0 && self.drop_prob < 0.2) || bytes <= 3000 {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        self.accu_prob += self.drop_prob;
        if self.accu_prob < 0.85 {
            return false;
        }
        if self.accu_prob >= 8.5 || self.random.uniform() < self.drop_prob {
            self.accu_prob = 0.0;
            return true;
        }
        false
    }
}

impl Model for Pie {
    fn enqueue(&mut self, at: u64, mut packet: Waiting, drops: &mut Drops) {
        if self.queue.len() == self.limit {
            self.accu_prob = 0.0;
            drops.push((packet.number, at, DropReason::QueueFull));
            return;
        }
        if self.burst_ms <= 0.0 && self.drop_early() {
            if self.ecn && packet.ecn != Ecn::NotEct && self.drop_prob < 0.1 {
                packet.ecn = Ecn::Ce;
            } else {
                drops.push((packet.number, at, DropReason::ActiveQueue));
                return;
            }
        }
        self.queue.push(packet);
    }

    fn dequeue(&mut self, _at: u64, _drops: &mut Drops) -> Option<Waiting> {
        (!self.queue.is_empty()).then(|| self.queue.remove(0))
    }

    fn tick_next(&self) -> u64 {
        self.next
    }

    fn tick(&mut self, at: u64) {
        let delay = self.queue.first().map_or(0, |packet| at - packet.entered) as f64 / 1e9;
        let mut p = 0.125 * (delay - REF) + 1.25 * (delay - self.qdelay_old);
        p /= match self.drop_prob {
            q if q < 0.000_001 => 2048.0,
            q if q < 0.000_01 => 512.0,
            q if q < 0.000_1 => 128.0,
            q if q < 0.001 => 32.0,
            q if q < 0.01 => 8.0,
            q if q < 0.1 => 2.0,
            _ => 1.0,
        };
        if self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        self.drop_prob += p;
        if delay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.burst_ms = (self.burst_ms - 15.0).max(0.0);
        if self.drop_prob == 0.0 && delay < REF / 2.0 && self.qdelay_old < REF / 2.0 {
            self.burst_ms = 150.0;
        }
        self.qdelay_old = delay;
        self.next += UPDATE;
    }
}
