use crate::SpecError;
use crate::error::At;
use crate::observer::{EventKind, Observer, Reports};
use crate::queued_packet::QueuedPacket;
use eyelevel_units::{Generator, Instant, Probability, Seed};

/// Chooses one bit of some packets to be inverted by the driver. The whole IP packet is at risk, its
/// header too, as on a real wire; whoever checks a checksum then drops it. Two draws a packet.
#[derive(Debug)]
pub(crate) struct Corrupt {
    probability: Probability,
    generator: Generator,
}

impl Corrupt {
    pub(crate) fn new(probability: f64, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let probability = Probability::new(probability).at(|| format!("{place}: probability"))?;
        Ok(Self {
            probability,
            generator: seed.generator(),
        })
    }

    pub(crate) fn handle_packet<P, O: Observer<P>>(
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
