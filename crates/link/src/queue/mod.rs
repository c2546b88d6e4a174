//! What waits in front of a link: one discipline a file.

mod droptail;
mod fifo;
mod limits;

use crate::held::Held;
use crate::observer::{Observer, Reports};
use crate::{QueueSpec, SpecError};
use droptail::DropTail;
use eyelevel_units::{BitRate, Instant};
use fifo::Fifo;
use limits::Limits;

/// A queue discipline. Static dispatch: a packet meets it twice.
#[derive(Debug)]
pub(crate) enum Queue<P> {
    Infinite(Fifo<P>),
    DropTail(DropTail<P>),
}

impl<P> Queue<P> {
    /// Builds the queue in front of a link whose (mean) rate is `rate`.
    pub(crate) fn new(spec: &QueueSpec, rate: BitRate, place: &str) -> Result<Self, SpecError> {
        Ok(match spec {
            QueueSpec::Infinite => Self::Infinite(Fifo::default()),
            QueueSpec::Droptail {
                limit_ms,
                limit_bytes,
                limit_packets,
            } => {
                let limits = Limits::new(*limit_ms, *limit_bytes, *limit_packets, rate, place)?;
                Self::DropTail(DropTail::new(limits))
            }
        })
    }

    /// Takes an arriving packet or drops packets.
    #[inline]
    pub(crate) fn enqueue<O: Observer<P>>(
        &mut self,
        at: Instant,
        held: Held<P>,
        reports: &mut Reports<'_, O>,
    ) {
        match self {
            Self::Infinite(queue) => queue.push(held),
            Self::DropTail(queue) => queue.enqueue(at, held, reports),
        }
    }

    /// Hands out the packet whose transmission begins at `at`.
    #[inline]
    pub(crate) fn dequeue<O: Observer<P>>(
        &mut self,
        _at: Instant,
        _reports: &mut Reports<'_, O>,
    ) -> Option<Held<P>> {
        match self {
            Self::Infinite(queue) => queue.pop(),
            Self::DropTail(queue) => queue.dequeue(),
        }
    }
}
