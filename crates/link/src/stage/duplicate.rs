use super::effect::Effect;
use super::interface::{StageSettings, StageState};
use crate::SpecError;
use crate::error::At;
use crate::observer::{EventKind, Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::words::Words;
use eyelevel_units::{Generator, Instant, Probability, Seed};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A stage that sends some packets twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DuplicateSpec {
    /// The probability, from 0 to 1.
    pub probability: f64,
}

impl StageSettings for DuplicateSpec {
    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let probability = words.probability()?;
        Ok(Self { probability })
    }

    fn effect(&self) -> Result<Effect<'_>, SpecError> {
        Ok(Effect::NONE)
    }
}

/// The state of a stage that sends some packets twice: the copy leaves right behind its original.
/// One random draw per packet.
#[derive(Debug)]
pub(crate) struct Duplicate<P> {
    probability: Probability,
    generator: Generator,
    /// Copies that have not left, with the instant of their originals.
    copies: VecDeque<(Instant, QueuedPacket<P>)>,
}

impl<P: Clone> StageState<P> for Duplicate<P> {
    type Settings = DuplicateSpec;

    fn new(settings: &DuplicateSpec, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let probability =
            Probability::new(settings.probability).at(|| format!("{place}: probability"))?;
        Ok(Self {
            probability,
            generator: seed.generator(),
            copies: VecDeque::new(),
        })
    }

    fn handle_packet<O: Observer<P>>(
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

    fn deadline(&self) -> Instant {
        self.copies.front().map_or(Instant::MAX, |(at, _)| *at)
    }

    fn handle_timeout<O: Observer<P>>(
        &mut self,
        _at: Instant,
        _reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        self.copies
            .pop_front()
            .map(|(_, queued_packet)| queued_packet)
    }
}
