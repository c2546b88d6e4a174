use super::{Codel, Drops, Model, Waiting};
use eyelevel_link::DropReason;

/// FQ-CoDel of RFC 8290 with one queue for each flow number: no hashing, so no collisions.
pub struct FqCodel {
    flows: Vec<Flow>,
    new: Vec<u32>,
    old: Vec<u32>,
    limit: usize,
    settings: (u64, u64, bool),
}

struct Flow {
    number: u32,
    deficit: i64,
    codel: Codel,
}

const QUANTUM: i64 = 1500;

impl FqCodel {
    pub fn new(target: u64, interval: u64, limit: usize, ecn: bool) -> Self {
        let settings = (target, interval, ecn);
        Self {
            flows: Vec::new(),
            new: Vec::new(),
            old: Vec::new(),
            limit,
            settings,
        }
    }

    fn flow(&mut self, number: u32) -> &mut Flow {
        if !self.flows.iter().any(|flow| flow.number == number) {
            let (target, interval, ecn) = self.settings;
            let codel = Codel::new(target, interval, usize::MAX, ecn);
            self.flows.push(Flow {
                number,
                deficit: 0,
                codel,
            });
        }
        self.flows
            .iter_mut()
            .find(|flow| flow.number == number)
            .unwrap()
    }
}

impl Model for FqCodel {
    fn enqueue(&mut self, at: u64, packet: Waiting, drops: &mut Drops) {
        let number = packet.flow;
        self.flow(number).codel.queue.push(packet);
        if !self.new.contains(&number) && !self.old.contains(&number) {
            self.flow(number).deficit = QUANTUM;
            self.new.push(number);
        }
        let total: usize = self.flows.iter().map(|flow| flow.codel.queue.len()).sum();
        if total > self.limit {
            let bytes = |flow: &Flow| -> u64 {
                flow.codel
                    .queue
                    .iter()
                    .map(|packet| u64::from(packet.bytes))
                    .sum()
            };
            // The most bytes; of equals the one whose first packet came first.
            let most = self.flows.iter().map(bytes).max().unwrap();
            let equals = self.flows.iter_mut().filter(|flow| bytes(flow) == most);
            let fat = equals
                .min_by_key(|flow| flow.codel.queue[0].number)
                .unwrap();
            let count = (fat.codel.queue.len() / 2).clamp(1, 64);
            for victim in fat.codel.queue.drain(..count) {
                drops.push((victim.number, at, DropReason::QueueFull));
            }
        }
    }

    fn dequeue(&mut self, now: u64, drops: &mut Drops) -> Option<Waiting> {
        loop {
            let fresh = !self.new.is_empty();
            let list = if fresh { &self.new } else { &self.old };
            let number = *list.first()?;
            let flow = self.flow(number);
            let mut to_old = true;
            if flow.deficit <= 0 {
                flow.deficit += QUANTUM;
            } else if let Some(packet) = flow.codel.dequeue(now, drops) {
                flow.deficit -= i64::from(packet.bytes);
                return Some(packet);
            } else {
                to_old = fresh && !self.old.is_empty();
            }
            if fresh {
                self.new.remove(0)
            } else {
                self.old.remove(0)
            };
            if to_old {
                self.old.push(number);
            }
        }
    }
}
