use super::fifo::Fifo;
use super::limits::Limits;
use crate::DropReason;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use eyelevel_units::Instant;

/// A first-in, first-out queue; if an arriving packet would exceed a limit, the packets that have
/// waited longest are dropped until it fits. A packet above the limit by itself empties the queue
/// and waits there alone.
#[derive(Debug)]
pub(crate) struct DropHead<P> {
    limits: Limits,
    waiting: Fifo<P>,
}

impl<P> DropHead<P> {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            waiting: Fifo::default(),
        }
    }

    pub(crate) fn enqueue<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) {
        while !self.limits.admit(&self.waiting, queued_packet.bytes()) {
            let Some(oldest) = self.waiting.pop() else {
                break;
            };
            reports.dropped(at, oldest, DropReason::QueueHead);
        }
        self.waiting.push(queued_packet);
    }

    pub(crate) fn dequeue(&mut self) -> Option<QueuedPacket<P>> {
        self.waiting.pop()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
