use super::fifo::Fifo;
use crate::DropReason;
use crate::observer::{Observer, Reports};
use crate::queued_packet::{QUEUED_PACKETS_MAX, QueuedPacket};
use eyelevel_units::Instant;

/// A first-in, first-out queue without a limit other than the stage's bound on memory.
#[derive(Debug)]
pub(crate) struct Infinite<P> {
    waiting: Fifo<P>,
}

impl<P> Infinite<P> {
    pub(crate) fn new() -> Self {
        Self {
            waiting: Fifo::default(),
        }
    }

    #[inline]
    pub(crate) fn enqueue<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) {
        if self.waiting.packets() >= QUEUED_PACKETS_MAX as u64 {
            reports.dropped(at, queued_packet, DropReason::Bound);
        } else {
            self.waiting.push(queued_packet);
        }
    }

    #[inline]
    pub(crate) fn dequeue(&mut self) -> Option<QueuedPacket<P>> {
        self.waiting.pop()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
