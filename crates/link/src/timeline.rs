use crate::queued_packet::QueuedPacket;
use core::cmp::Ordering;
use eyelevel_units::Instant;
use std::collections::BinaryHeap;

/// Packets that leave at instants which need not follow the order of their arrival. Of packets that
/// leave at one instant, the first to arrive leaves first.
#[derive(Debug)]
pub(crate) struct Timeline<P> {
    entries: BinaryHeap<Entry<P>>,
    next_order: u64,
}

impl<P> Default for Timeline<P> {
    fn default() -> Self {
        Self {
            entries: BinaryHeap::new(),
            next_order: 0,
        }
    }
}

impl<P> Timeline<P> {
    pub(crate) fn push(&mut self, due: Instant, queued_packet: QueuedPacket<P>) {
        self.entries.push(Entry {
            due,
            order: self.next_order,
            queued_packet,
        });
        self.next_order += 1;
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.entries.peek().map_or(Instant::MAX, |entry| entry.due)
    }

    pub(crate) fn pop(&mut self) -> Option<QueuedPacket<P>> {
        self.entries.pop().map(|entry| entry.queued_packet)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[derive(Debug)]
struct Entry<P> {
    due: Instant,
    order: u64,
    queued_packet: QueuedPacket<P>,
}

impl<P> Entry<P> {
    fn key(&self) -> (Instant, u64) {
        (self.due, self.order)
    }
}

/// Reversed: the heap of the standard library returns the greatest.
impl<P> Ord for Entry<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<P> PartialOrd for Entry<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> PartialEq for Entry<P> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<P> Eq for Entry<P> {}
