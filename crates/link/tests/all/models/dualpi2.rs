use super::{Drops, Model, Waiting};
use eyelevel_link::{DropReason, Ecn};

/// DualPI2 of RFC 9332, appendix A, with a real timer and the RFC's default numbers.
pub struct DualPi2 {
    lq: Vec<Waiting>,
    cq: Vec<Waiting>,
    limit: usize,
    l_count: f64,
    c_count: f64,
    credit: f64,
    p: f64,
    prevq: f64,
    next: u64,
}

const UPDATE: u64 = 15_000_000;
const SHARE: f64 = 1.0 / 16.0;

fn recur(count: &mut f64, likelihood: f64) -> bool {
    *count += likelihood;
    if *count > 1.0 {
        *count -= 1.0;
        return true;
    }
    false
}

impl DualPi2 {
    pub fn new(limit: usize) -> Self {
        Self {
            lq: Vec::new(),
            cq: Vec::new(),
            limit,
            l_count: 0.0,
            c_count: 0.0,
            credit: 0.0,
            p: 0.0,
            prevq: 0.0,
            next: UPDATE,
        }
    }
}

impl Model for DualPi2 {
    fn enqueue(&mut self, at: u64, packet: Waiting, drops: &mut Drops) {
        if self.lq.len() + self.cq.len() == self.limit {
            drops.push((packet.number, at, DropReason::QueueFull));
        } else if packet.ecn as u8 % 2 == 1 {
            self.lq.push(packet);
        } else {
            self.cq.push(packet);
        }
    }

    fn dequeue(&mut self, at: u64, drops: &mut Drops) -> Option<Waiting> {
        while self.lq.len() + self.cq.len() > 0 {
            let low = !self.lq.is_empty() && (self.cq.is_empty() || self.credit <= 0.0);
            let (p_cl, p_c) = (2.0 * self.p, self.p * self.p);
            if low {
                let mut packet = self.lq.remove(0);
                let bytes = f64::from(packet.bytes);
                self.credit = if self.cq.is_empty() {
                    0.0
                } else {
                    self.credit + bytes * SHARE
                };
                let delay = (at - packet.entered) as f64 / 1e9;
                let busy = self.lq.len() > 1;
                let own = if busy {
                    ((delay - 0.0008) / 0.0004).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let overload = p_cl >= 1.0;
                if overload && recur(&mut self.l_count, p_c) {
                    drops.push((packet.number, at, DropReason::ActiveQueue));
                    continue;
                }
                let likelihood = if overload { 1.0 } else { own.max(p_cl) };
                let mark = recur(&mut self.l_count, likelihood);
                if mark {
                    packet.ecn = Ecn::Ce;
                }
                return Some(packet);
            }
            let mut packet = self.cq.remove(0);
            let bytes = f64::from(packet.bytes);
            self.credit = if self.lq.is_empty() {
                0.0
            } else {
                self.credit - bytes * (1.0 - SHARE)
            };
            if recur(&mut self.c_count, p_c) {
                if packet.ecn == Ecn::NotEct || p_c >= 0.25 {
                    drops.push((packet.number, at, DropReason::ActiveQueue));
                    continue;
                }
                packet.ecn = Ecn::Ce;
            }
            return Some(packet);
        }
        None
    }

    fn tick_next(&self) -> u64 {
        self.next
    }

    fn tick(&mut self, at: u64) {
        let age = |queue: &[Waiting]| queue.first().map_or(0, |packet| at - packet.entered);
        let curq = age(&self.lq).max(age(&self.cq)) as f64 / 1e9;
        let alpha = 0.1 * 0.015 / (0.1 * 0.1);
        let beta = 0.3 / 0.1;
        self.p = (self.p + (alpha * (curq - 0.015) + beta * (curq - self.prevq))).clamp(0.0, 1.0);
        self.prevq = curq;
        self.next += UPDATE;
    }
}
