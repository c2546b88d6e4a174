use super::fifo::Fifo;
use crate::held::{HELD_MAX, Held};
use crate::observer::{DropReason, Observer, Reports};
use eyelevel_units::Instant;

/// First in, first out, without a limit but the stage's bound on memory.
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
        held: Held<P>,
        reports: &mut Reports<'_, O>,
    ) {
        if self.waiting.packets() >= HELD_MAX as u64 {
            reports.dropped(at, held, DropReason::Bound);
        } else {
            self.waiting.push(held);
        }
    }

    #[inline]
    pub(crate) fn dequeue(&mut self) -> Option<Held<P>> {
        self.waiting.pop()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
