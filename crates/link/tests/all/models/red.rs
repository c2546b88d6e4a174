use super::{Drops, Model, Waiting};
use eyelevel_link::{DropReason, Ecn};
use eyelevel_units::Generator;

/// RED by the pseudocode of Floyd and Jacobson 1993, figure 2, with its names; an idle time is
/// walked packet by packet.
pub struct Red {
    pub queue: Vec<Waiting>,
    pub random: Generator,
    pub min_th: f64,
    pub max_th: f64,
    pub max_p: f64,
    pub w_q: f64,
    pub gentle: bool,
    pub limit: usize,
    pub ecn: bool,
    pub avg: f64,
    pub count: i64,
    pub q_time: u64,
    pub rate: u64,
}

impl Red {
    fn idle(&mut self, at: u64) {
        // 1500 bytes at the rate, walked in whole packets.
        let mut m = 0_u128;
        while (m + 1) * 12_000 * 1_000_000_000
            <= u128::from(at - self.q_time) * u128::from(self.rate)
        {
            m += 1;
            self.avg *= 1.0 - self.w_q;
        }
        if m > 0 {
            self.q_time = at;
        }
    }

    fn p_b(&self) -> f64 {
        if self.avg < self.max_th {
            self.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th)
        } else if self.gentle && self.avg < 2.0 * self.max_th {
            self.max_p + (1.0 - self.max_p) * (self.avg / self.max_th - 1.0)
        } else {
            1.0
        }
    }
}

impl Model for Red {
    fn enqueue(&mut self, at: u64, mut packet: Waiting, drops: &mut Drops) {
        if self.queue.is_empty() {
            self.idle(at);
        } else {
            self.avg = (1.0 - self.w_q) * self.avg + self.w_q * self.queue.len() as f64;
        }
        if self.avg < self.min_th {
            self.count = -1;
        } else {
            let p_b = self.p_b();
            let forced = p_b >= 1.0;
            self.count += 1;
            let within = 1.0 - self.count as f64 * p_b;
            let marked = forced || within <= 0.0 || self.random.uniform() < p_b / within;
            if marked {
                self.count = 0;
                if forced || !self.ecn || packet.ecn == Ecn::NotEct {
                    drops.push((packet.number, at, DropReason::ActiveQueue));
                    return;
                }
            }
            if marked && self.queue.len() < self.limit {
                packet.ecn = Ecn::Ce;
            }
        }
        if self.queue.len() == self.limit {
            self.count = 0;
            drops.push((packet.number, at, DropReason::QueueFull));
            return;
        }
        self.queue.push(packet);
    }

    fn dequeue(&mut self, at: u64, _drops: &mut Drops) -> Option<Waiting> {
        let next = (!self.queue.is_empty()).then(|| self.queue.remove(0));
        if next.is_some() && self.queue.is_empty() {
            self.q_time = at;
        }
        next
    }
}
