use crate::counters::StageCounters;
use crate::queued_packet::{QUEUED_PACKETS_MAX, QueuedPacket};
use crate::{DropReason, Ecn};
use eyelevel_units::{Duration, Instant};

/// An event of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It entered the direction.
    Arrival,
    /// It left a rate's or trace's link, `queued` after it had entered that stage (its own
    /// transmission included).
    Served {
        /// Waiting and transmission.
        queued: Duration,
    },
    /// It left the direction.
    Release,
    /// It was dropped, `queued` after it had entered the stage.
    Dropped {
        /// The reason.
        reason: DropReason,
        /// Time spent in the stage.
        queued: Duration,
    },
    /// A queue set its ECN bits to "congestion experienced".
    Marked {
        /// Time spent in the stage until then.
        queued: Duration,
    },
    /// A second copy of it was created.
    Duplicated,
    /// A bit of it was selected for inversion.
    Corrupted,
    /// An opportunity of a trace passed with `wire_bytes` of it unused. Such events are reported
    /// when the next packet arrives, so `at` may be before that of the preceding event.
    Unused,
}

/// One entry of a log. Events are in the order of the model's time, except for
/// [`EventKind::Unused`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The model's time, whenever the driver called.
    pub at: Instant,
    /// The stage's position in the direction, from 0; for arrivals 0, for releases the last.
    pub stage: u16,
    /// The packet's position among the direction's arrivals, from 0; `None` if there is no packet.
    pub packet: Option<u64>,
    /// The packet's size, or that of an unused opportunity.
    pub wire_bytes: u32,
    /// The kind of event.
    pub kind: EventKind,
}

/// An observer of the events inside a direction. Every method has an empty default, so an observer
/// pays only for what it implements; `()` observes nothing.
pub trait Observer<P> {
    /// Handles an event.
    #[inline]
    fn event(&mut self, _event: &Event) {}

    /// Returns whether unused opportunities of traces are reported one by one.
    #[inline]
    fn wants_unused(&self) -> bool {
        false
    }

    /// Takes back the payload of a dropped packet, such as a buffer's index.
    #[inline]
    fn reclaim(&mut self, _payload: P) {}

    /// Handles a duplication: this payload is now held once more.
    #[inline]
    fn duplicated(&mut self, _payload: &P) {}
}

impl<P> Observer<P> for () {}

/// The outputs of a stage: its counters and the direction's observer.
pub(crate) struct Reports<'a, O> {
    pub stage: u16,
    pub counters: &'a mut StageCounters,
    pub observer: &'a mut O,
}

impl<O> Reports<'_, O> {
    #[inline]
    pub(crate) fn event<P>(&mut self, at: Instant, queued_packet: &QueuedPacket<P>, kind: EventKind)
    where
        O: Observer<P>,
    {
        let (packet, wire_bytes) = (Some(queued_packet.number), queued_packet.packet.wire_bytes);
        self.observer.event(&Event {
            at,
            stage: self.stage,
            packet,
            wire_bytes,
            kind,
        });
    }

    pub(crate) fn dropped<P>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reason: DropReason,
    ) where
        O: Observer<P>,
    {
        self.counters.count_drop(reason);
        self.event(
            at,
            &queued_packet,
            EventKind::Dropped {
                reason,
                queued: at.since(queued_packet.entered),
            },
        );
        self.observer.reclaim(queued_packet.packet.payload);
    }

    /// Returns the packet if a stage without a limit of its own may hold one more than `held`; else
    /// drops it.
    #[inline]
    pub(crate) fn admit<P>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        held: usize,
    ) -> Option<QueuedPacket<P>>
    where
        O: Observer<P>,
    {
        if held < QUEUED_PACKETS_MAX {
            return Some(queued_packet);
        }
        self.dropped(at, queued_packet, DropReason::Bound);
        None
    }

    /// Marks an ECN-capable packet.
    pub(crate) fn mark<P>(&mut self, at: Instant, queued_packet: &mut QueuedPacket<P>)
    where
        O: Observer<P>,
    {
        queued_packet.packet.ecn = Ecn::Ce;
        self.counters.marked += 1;
        self.event(
            at,
            queued_packet,
            EventKind::Marked {
                queued: at.since(queued_packet.entered),
            },
        );
    }

    /// Reports an opportunity at `at` that passed with `bytes` unused.
    pub(crate) fn unused<P>(&mut self, at: Instant, bytes: u32)
    where
        O: Observer<P>,
    {
        let (stage, kind) = (self.stage, EventKind::Unused);
        self.observer.event(&Event {
            at,
            stage,
            packet: None,
            wire_bytes: bytes,
            kind,
        });
    }
}
