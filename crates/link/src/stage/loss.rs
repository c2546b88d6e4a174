use super::effect::Effect;
use super::interface::{StageSettings, StageState};
use crate::error::At;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::words::Words;
use crate::{DropReason, SpecError};
use eyelevel_units::{Generator, Instant, Probability, Seed};
use serde::{Deserialize, Serialize};

/// A stage that loses each packet independently.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossSpec {
    /// The probability, from 0 to 1.
    pub probability: f64,
}

impl StageSettings for LossSpec {
    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let probability = words.probability()?;
        Ok(Self { probability })
    }

    fn effect(&self) -> Result<Effect<'_>, SpecError> {
        Ok(Effect::NONE)
    }
}

/// The state of independent loss: one random draw per packet, whatever the probability, so that
/// changing it shifts no other packet's draw.
#[derive(Debug)]
pub(crate) struct Loss {
    probability: Probability,
    generator: Generator,
}

impl<P> StageState<P> for Loss {
    type Settings = LossSpec;

    fn new(settings: &LossSpec, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let probability =
            Probability::new(settings.probability).at(|| format!("{place}: probability"))?;
        Ok(Self {
            probability,
            generator: seed.generator(),
        })
    }

    #[inline]
    fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        if self.generator.chance(self.probability) {
            reports.dropped(at, queued_packet, DropReason::Loss);
            return None;
        }
        Some(queued_packet)
    }
}
