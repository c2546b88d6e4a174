//! What waits in front of a link: one discipline a file.

mod aqm;
mod codel;
mod drophead;
mod droptail;
mod dualpi2;
mod fifo;
mod fq_codel;
mod infinite;
mod limits;
mod pie;

use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::{QueueSpec, SpecError};
use codel::Codel;
pub use codel::CodelSpec;
use drophead::DropHead;
use droptail::DropTail;
use dualpi2::DualPi2;
pub use dualpi2::DualPi2Spec;
use eyelevel_units::{BitRate, Instant, Seed};
use fq_codel::FqCodel;
pub use fq_codel::FqCodelSpec;
use infinite::Infinite;
use limits::Limits;
use pie::Pie;
pub use pie::PieSpec;

/// A queue discipline. Static dispatch: a packet meets it twice.
#[derive(Debug)]
pub(crate) enum Queue<P> {
    Infinite(Infinite<P>),
    DropTail(DropTail<P>),
    DropHead(DropHead<P>),
    Codel(Box<Codel<P>>),
    FqCodel(Box<FqCodel<P>>),
    Pie(Box<Pie<P>>),
    DualPi2(Box<DualPi2<P>>),
}

impl<P> Queue<P> {
    /// Builds the queue in front of a link whose (mean) rate is `rate`.
    pub(crate) fn new(
        spec: &QueueSpec,
        rate: BitRate,
        seed: Seed,
        place: &str,
    ) -> Result<Self, SpecError> {
        Ok(match spec {
            QueueSpec::Infinite => Self::Infinite(Infinite::new()),
            QueueSpec::Droptail {
                limit_ms,
                limit_bytes,
                limit_packets,
            } => {
                let limits = Limits::new(*limit_ms, *limit_bytes, *limit_packets, rate, place)?;
                Self::DropTail(DropTail::new(limits))
            }
            QueueSpec::Drophead {
                limit_ms,
                limit_bytes,
                limit_packets,
            } => {
                let limits = Limits::new(*limit_ms, *limit_bytes, *limit_packets, rate, place)?;
                Self::DropHead(DropHead::new(limits))
            }
            QueueSpec::Codel(spec) => Self::Codel(Box::new(Codel::new(spec, place)?)),
            QueueSpec::FqCodel(spec) => {
                Self::FqCodel(Box::new(FqCodel::new(spec, seed.child("fq_codel"), place)?))
            }
            QueueSpec::Pie(spec) => Self::Pie(Box::new(Pie::new(spec, seed.child("pie"), place)?)),
            QueueSpec::Dualpi2(spec) => Self::DualPi2(Box::new(DualPi2::new(spec, place)?)),
        })
    }

    /// The path begins: periodic updates count from here.
    pub(crate) fn start(&mut self, origin: Instant) {
        match self {
            Self::Pie(queue) => queue.start(origin),
            Self::DualPi2(queue) => queue.start(origin),
            _ => {}
        }
    }

    /// Takes an arriving packet or drops packets.
    #[inline]
    pub(crate) fn enqueue<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) {
        match self {
            Self::Infinite(queue) => queue.enqueue(at, queued_packet, reports),
            Self::DropTail(queue) => queue.enqueue(at, queued_packet, reports),
            Self::DropHead(queue) => queue.enqueue(at, queued_packet, reports),
            Self::Codel(queue) => queue.enqueue(at, queued_packet, reports),
            Self::FqCodel(queue) => queue.enqueue(at, queued_packet, reports),
            Self::Pie(queue) => queue.enqueue(at, queued_packet, reports),
            Self::DualPi2(queue) => queue.enqueue(at, queued_packet, reports),
        }
    }

    /// Hands out the packet whose transmission begins at `at`.
    #[inline]
    pub(crate) fn dequeue<O: Observer<P>>(
        &mut self,
        at: Instant,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        match self {
            Self::Infinite(queue) => queue.dequeue(),
            Self::DropTail(queue) => queue.dequeue(),
            Self::DropHead(queue) => queue.dequeue(),
            Self::Codel(queue) => queue.dequeue(at, reports),
            Self::FqCodel(queue) => queue.dequeue(at, reports),
            Self::Pie(queue) => queue.dequeue(at),
            Self::DualPi2(queue) => queue.dequeue(at, reports),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Infinite(queue) => queue.is_empty(),
            Self::DropTail(queue) => queue.is_empty(),
            Self::DropHead(queue) => queue.is_empty(),
            Self::Codel(queue) => queue.is_empty(),
            Self::FqCodel(queue) => queue.is_empty(),
            Self::Pie(queue) => queue.is_empty(),
            Self::DualPi2(queue) => queue.is_empty(),
        }
    }
}
