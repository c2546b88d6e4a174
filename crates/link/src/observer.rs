use crate::counters::StageCounters;
use crate::queued_packet::{QUEUED_PACKETS_MAX, QueuedPacket};
use crate::{DropReason, Ecn};
use eyelevel_units::{Duration, Instant};

/// What happened to a packet.
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
    /// It is gone, `queued` after it had entered the stage.
    Dropped {
        /// Why.
        reason: DropReason,
        /// Time spent in the stage.
        queued: Duration,
    },
    /// A queue set its ECN bits to "congestion experienced".
    Marked {
        /// Time spent in the stage until then.
        queued: Duration,
    },
    /// A second copy of it came into being.
    Duplicated,
    /// A bit of it was chosen to be inverted.
    Corrupted,
    /// An opportunity of a trace passed with `wire_bytes` of it unused. Such events come when the
    /// next packet does, so `at` may lie before that of the event before.
    Unused,
}

/// One entry for a log. Events come in the order of the model's time, [`EventKind::Unused`] apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The model's time, whenever the driver called.
    pub at: Instant,
    /// The stage's place in the direction, from 0; for arrivals 0, for releases the last.
    pub stage: u16,
    /// The packet's place among the direction's arrivals, from 0; None where there is no packet.
    pub packet: Option<u64>,
    /// The packet's size, or that of an unused opportunity.
    pub wire_bytes: u32,
    /// What happened.
    pub kind: EventKind,
}

/// Sees what happens inside a direction. Every method has an empty default, so an observer that
/// does not want something costs nothing for it; `()` is the observer that wants nothing.
pub trait Observer<P> {
    /// Something happened.
    #[inline]
    fn event(&mut self, _event: &Event) {}

    /// Whether unused opportunities of traces shall be reported one by one.
    #[inline]
    fn wants_unused(&self) -> bool {
        false
    }

    /// Takes back the payload of a dropped packet, such as a buffer's index.
    #[inline]
    fn reclaim(&mut self, _payload: P) {}

    /// A packet was duplicated: this payload is now held once more.
    #[inline]
    fn duplicated(&mut self, _payload: &P) {}
}

impl<P> Observer<P> for () {}

/// Where a stage reports while it works: its counters and the direction's observer.
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

    /// The packet, if a stage without a limit of its own may hold one more than `held`; else it is
    /// dropped.
    #[inline]
    pub(crate) fn within_bound<P>(
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

    /// Sets a packet's ECN bits; the caller knows that it is capable.
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

    /// An opportunity at `at` passed with `bytes` unused.
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
