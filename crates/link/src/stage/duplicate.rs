use crate::SpecError;
use crate::error::At;
use crate::observer::{EventKind, Observer, Reports};
use crate::queued_packet::QueuedPacket;
use eyelevel_units::{Generator, Instant, Probability, Seed};
use std::collections::VecDeque;

/// Sends some packets twice: the copy leaves right behind its original. One draw a packet.
#[derive(Debug)]
pub(crate) struct Duplicate<P> {
    probability: Probability,
    generator: Generator,
    /// Copies on their way out, with the instant of their originals.
    copies: VecDeque<(Instant, QueuedPacket<P>)>,
}

impl<P: Clone> Duplicate<P> {
    pub(crate) fn new(probability: f64, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let probability = Probability::new(probability).at(|| format!("{place}: probability"))?;
        Ok(Self {
            probability,
            generator: seed.generator(),
            copies: VecDeque::new(),
        })
    }

    pub(crate) fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        if self.generator.chance(self.probability) {
            reports.counters.duplicated += 1;
            reports.event(at, &queued_packet, EventKind::Duplicated);
            reports.observer.duplicated(&queued_packet.packet.payload);
            self.copies.push_back((at, queued_packet.clone()));
        }
        Some(queued_packet)
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.copies.front().map_or(Instant::MAX, |(at, _)| *at)
    }

    pub(crate) fn handle_timeout(&mut self) -> Option<QueuedPacket<P>> {
        self.copies
            .pop_front()
            .map(|(_, queued_packet)| queued_packet)
    }
}
