use crate::counters::StageCounters;
use crate::held::Held;
use eyelevel_units::{Duration, Instant};

/// Why a packet was dropped. One table for counters, logs and summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum DropReason {
    /// The queue was at its limit.
    QueueFull,
    /// A random loss.
    Loss,
}

impl DropReason {
    /// Every reason, in the order of its number.
    pub const ALL: [Self; 2] = [Self::QueueFull, Self::Loss];

    /// The reason's name in logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue-full",
            Self::Loss => "loss",
        }
    }
}

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
}

/// One entry for a log. Events come in the order of the model's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The model's time, whenever the driver called.
    pub at: Instant,
    /// The stage's place in the direction, from 0; for arrivals 0, for releases the last.
    pub stage: u16,
    /// The packet's place among the direction's arrivals, from 0.
    pub packet: u64,
    /// The packet's size.
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
    pub(crate) fn event<P>(&mut self, at: Instant, held: &Held<P>, kind: EventKind)
    where
        O: Observer<P>,
    {
        let (packet, wire_bytes) = (held.number, held.packet.wire_bytes);
        self.observer.event(&Event {
            at,
            stage: self.stage,
            packet,
            wire_bytes,
            kind,
        });
    }

    pub(crate) fn dropped<P>(&mut self, at: Instant, held: Held<P>, reason: DropReason)
    where
        O: Observer<P>,
    {
        self.counters.count_drop(reason);
        self.event(
            at,
            &held,
            EventKind::Dropped {
                reason,
                queued: at.since(held.entered),
            },
        );
        self.observer.reclaim(held.packet.payload);
    }
}
