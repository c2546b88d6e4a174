use crate::error::At;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::{DropReason, SpecError};
use eyelevel_units::{Generator, Instant, Probability, Seed};

/// Independent loss: one draw a packet, whatever the probability, so that changing it moves no
/// other packet's luck.
#[derive(Debug)]
pub(crate) struct Loss {
    probability: Probability,
    generator: Generator,
}

impl Loss {
    pub(crate) fn new(probability: f64, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let probability = Probability::new(probability).at(|| format!("{place}: probability"))?;
        Ok(Self {
            probability,
            generator: seed.generator(),
        })
    }

    #[inline]
    pub(crate) fn handle_packet<P, O: Observer<P>>(
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
