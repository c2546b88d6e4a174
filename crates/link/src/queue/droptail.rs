use super::fifo::Fifo;
use super::limits::Limits;
use crate::DropReason;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use eyelevel_units::Instant;

/// A first-in, first-out queue; an arriving packet that would exceed a limit is dropped.
#[derive(Debug)]
pub(crate) struct DropTail<P> {
    limits: Limits,
    waiting: Fifo<P>,
}

impl<P> DropTail<P> {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
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
        if self.limits.admit(&self.waiting, queued_packet.bytes()) {
            self.waiting.push(queued_packet);
        } else {
            reports.dropped(at, queued_packet, DropReason::QueueFull);
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
