//! Observes the events inside a direction: for the log, for the view of the queue, and to release a
//! packet's bytes.

use crate::arena::Arena;
use crate::log::Log;
use crate::log::record::Record;
use crate::measured::timeline::Timeline;
use crate::segment::Segment;
use eyelevel_link::{Event, EventKind, Observer, StageCounters};
use std::collections::HashMap;
use std::net::IpAddr;

/// The most addresses that one log numbers; further ones have no number.
const ADDRESSES_MAX: usize = 1 << 16;

/// The observer of one direction.
#[derive(Default)]
pub(crate) struct Tap {
    pub arena: Arena,
    pub log: Option<Log>,
    /// The direction over time, if it is recorded.
    pub timeline: Option<Timeline>,
    addresses: HashMap<IpAddr, u32>,
    /// Packets and bytes that left each stage as a link, and bytes that it dropped.
    links: Vec<Link>,
    pub queue_delay_ns: u64,
    pub dropped_packets: u64,
    pub duplicated_packets: u64,
    pub marked_packets: u64,
}

#[derive(Clone, Copy, Default)]
struct Link {
    served_packets: u64,
    served_bytes: u64,
    dropped_packets: u64,
    dropped_bytes: u64,
}

impl Tap {
    /// Creates the observer of a direction with that many stages.
    pub(crate) fn new(stages: usize, log: Option<Log>) -> Self {
        Self {
            log,
            links: vec![Link::default(); stages.max(1)],
            ..Self::default()
        }
    }

    /// Returns the packets and bytes that are queued or in transmission at stages that have served
    /// any packet.
    pub(crate) fn queued(&self, counters: &[StageCounters], is_link: &[bool]) -> (u64, u64) {
        let of = |((link, counters), is_link): ((&Link, &StageCounters), &bool)| {
            if !is_link {
                return (0, 0);
            }
            (
                counters.packets - link.served_packets - link.dropped_packets,
                counters.bytes - link.served_bytes - link.dropped_bytes,
            )
        };
        self.links
            .iter()
            .zip(counters)
            .zip(is_link)
            .map(of)
            .fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    }

    /// Returns the index of the last stage, where releases are.
    pub(crate) fn last_stage(&self) -> u16 {
        self.links.len() as u16 - 1
    }

    /// Returns the number of `address` in the log, to which a new one is added.
    pub(crate) fn address_number(&mut self, at_ns: u64, address: IpAddr) -> u32 {
        if let Some(number) = self.addresses.get(&address) {
            return *number;
        }
        if self.addresses.len() >= ADDRESSES_MAX {
            return 0;
        }
        let number = self.addresses.len() as u32 + 1;
        self.addresses.insert(address, number);
        if let Some(log) = &mut self.log {
            log.push(&Record::address(at_ns, address, number));
        }
        number
    }
}

impl Observer<Segment> for Tap {
    #[inline]
    fn event(&mut self, event: &Event) {
        let link = &mut self.links[usize::from(event.stage)];
        let bytes = u64::from(event.wire_bytes);
        match event.kind {
            EventKind::Served { queued } => {
                link.served_packets += 1;
                link.served_bytes += bytes;
                self.queue_delay_ns = queued.as_nanos() as u64;
            }
            EventKind::Dropped { .. } => {
                link.dropped_packets += 1;
                link.dropped_bytes += bytes;
                self.dropped_packets += 1;
            }
            EventKind::Duplicated => self.duplicated_packets += 1,
            EventKind::Marked { .. } => self.marked_packets += 1,
            _ => {}
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.event(event);
        }
        if let Some(log) = &mut self.log
            && let Some(record) = Record::from_event(event)
        {
            log.push(&record);
        }
    }

    fn wants_unused(&self) -> bool {
        self.log.is_some()
    }

    fn reclaim(&mut self, payload: Segment) {
        self.arena.release(payload.chunk);
    }

    fn duplicated(&mut self, payload: &Segment) {
        self.arena.hold(payload.chunk);
    }
}
