use super::{Drops, Model, Waiting};
use eyelevel_link::{DropReason, Ecn};

/// CoDel by the pseudocode of RFC 8289, section 5, with its names.
pub struct Codel {
    pub queue: Vec<Waiting>,
    pub limit: usize,
    pub target: u64,
    pub interval: u64,
    pub ecn: bool,
    pub first_above_time: u64,
    pub drop_next: u64,
    pub count: u32,
    pub lastcount: u32,
    pub dropping: bool,
}

impl Codel {
    pub fn new(target: u64, interval: u64, limit: usize, ecn: bool) -> Self {
        Self {
            queue: Vec::new(),
            limit,
            target,
            interval,
            ecn,
            first_above_time: 0,
            drop_next: 0,
            count: 0,
            lastcount: 0,
            dropping: false,
        }
    }

    fn control_law(&self, t: u64) -> u64 {
        let interval = std::time::Duration::from_nanos(self.interval);
        t + interval.div_f64(f64::from(self.count).sqrt()).as_nanos() as u64
    }

    fn dodequeue(&mut self, now: u64) -> (Option<Waiting>, bool) {
        if self.queue.is_empty() {
            self.first_above_time = 0;
            return (None, false);
        }
        let packet = self.queue.remove(0);
        let bytes: u64 = self
            .queue
            .iter()
            .map(|packet| u64::from(packet.bytes))
            .sum();
        let mut ok_to_drop = false;
        if now - packet.entered < self.target || bytes <= 1500 {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + self.interval;
        } else if now >= self.first_above_time {
            ok_to_drop = true;
        }
        (Some(packet), ok_to_drop)
    }

    /// Returns true if the packet was marked and is to be sent.
    fn drop_or_mark(&self, packet: &mut Waiting, now: u64, drops: &mut Drops) -> bool {
        if self.ecn && packet.ecn != Ecn::NotEct {
            packet.ecn = Ecn::Ce;
            return true;
        }
        drops.push((packet.number, now, DropReason::ActiveQueue));
        false
    }
}

impl Model for Codel {
    fn enqueue(&mut self, at: u64, packet: Waiting, drops: &mut Drops) {
        if self.queue.len() == self.limit {
            drops.push((packet.number, at, DropReason::QueueFull));
        } else {
            self.queue.push(packet);
        }
    }

    fn dequeue(&mut self, now: u64, drops: &mut Drops) -> Option<Waiting> {
        let (mut packet, mut ok_to_drop) = self.dodequeue(now);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.count += 1;
                let mut victim = packet.unwrap();
                if self.drop_or_mark(&mut victim, now, drops) {
                    self.drop_next = self.control_law(self.drop_next);
                    return Some(victim);
                }
                (packet, ok_to_drop) = self.dodequeue(now);
                if !ok_to_drop {
                    self.dropping = false;
                } else {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
        } else if ok_to_drop {
            let mut victim = packet.unwrap();
            let marked = self.drop_or_mark(&mut victim, now, drops);
            packet = if marked {
                Some(victim)
            } else {
                self.dodequeue(now).0
            };
            self.dropping = true;
            let delta = self.count - self.lastcount;
            self.count = 1;
            if delta > 1 && now - self.drop_next < 16 * self.interval {
                self.count = delta;
            }
            self.drop_next = self.control_law(now);
            self.lastcount = self.count;
        }
        packet
    }
}
