use super::{Drops, Model, Waiting};
use eyelevel_link::DropReason;

fn bytes(queue: &[Waiting]) -> u64 {
    queue.iter().map(|packet| u64::from(packet.bytes)).sum()
}

fn pop(queue: &mut Vec<Waiting>) -> Option<Waiting> {
    (!queue.is_empty()).then(|| queue.remove(0))
}

pub struct DropTail {
    pub queue: Vec<Waiting>,
    pub bytes_max: u64,
    pub packets_max: usize,
}

impl Model for DropTail {
    fn enqueue(&mut self, at: u64, packet: Waiting, drops: &mut Drops) {
        let over = bytes(&self.queue) + u64::from(packet.bytes) > self.bytes_max
            || self.queue.len() + 1 > self.packets_max;
        if over && !self.queue.is_empty() {
            drops.push((packet.number, at, DropReason::QueueFull));
        } else {
            self.queue.push(packet);
        }
    }
    fn dequeue(&mut self, _at: u64, _drops: &mut Drops) -> Option<Waiting> {
        pop(&mut self.queue)
    }
}

pub struct DropHead {
    pub queue: Vec<Waiting>,
    pub bytes_max: u64,
    pub packets_max: usize,
}

impl Model for DropHead {
    fn enqueue(&mut self, at: u64, packet: Waiting, drops: &mut Drops) {
        self.queue.push(packet);
        let over = |queue: &[Waiting]| {
            queue.len() > 1 && (bytes(queue) > self.bytes_max || queue.len() > self.packets_max)
        };
        while over(&self.queue) {
            drops.push((self.queue.remove(0).number, at, DropReason::QueueHead));
        }
    }
    fn dequeue(&mut self, _at: u64, _drops: &mut Drops) -> Option<Waiting> {
        pop(&mut self.queue)
    }
}
