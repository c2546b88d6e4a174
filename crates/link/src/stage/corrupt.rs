use super::effect::Effect;
use super::interface::{StageSettings, StageState};
use crate::SpecError;
use crate::error::At;
use crate::observer::{EventKind, Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::words::Words;
use eyelevel_units::{Generator, Instant, Probability, Seed};
use serde::{Deserialize, Serialize};

/// A stage that inverts one bit of some packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorruptSpec {
    /// The probability, from 0 to 1.
    pub probability: f64,
}

impl StageSettings for CorruptSpec {
    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let probability = words.probability()?;
        Ok(Self { probability })
    }

    fn effect(&self) -> Result<Effect<'_>, SpecError> {
        Ok(Effect::NONE)
    }
}

/// The state of a stage that selects one bit of some packets, which the driver inverts. It may be
/// any bit of the IP packet, its header included, as on a real wire; receivers drop packets whose
/// checksum fails. Two random draws per packet.
#[derive(Debug)]
pub(crate) struct Corrupt {
    probability: Probability,
    generator: Generator,
}

impl<P> StageState<P> for Corrupt {
    type Settings = CorruptSpec;

    fn new(settings: &CorruptSpec, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let probability =
            Probability::new(settings.probability).at(|| format!("{place}: probability"))?;
        Ok(Self {
            probability,
            generator: seed.generator(),
        })
    }

    fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        mut queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        let corrupt = self.generator.chance(self.probability);
        // An IP packet has at most 2^16 bytes, so the bit's number fits.
        let bit = self.generator.below(queued_packet.bytes() * 8) as u32;
        if corrupt && queued_packet.bytes() > 0 {
            queued_packet.packet.corrupt_bit = Some(bit);
            reports.counters.corrupted += 1;
            reports.event(at, &queued_packet, EventKind::Corrupted);
        }
        Some(queued_packet)
    }
}
