use crate::SpecError;
use crate::error::At;
use crate::held::Held;
use crate::observer::{EventKind, Observer, Reports};
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
        mut held: Held<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<Held<P>> {
        let corrupt = self.generator.chance(self.probability);
        // An IP packet has at most 2^16 bytes, so the bit's number fits.
        let bit = self.generator.below(held.bytes() * 8) as u32;
        if corrupt && held.bytes() > 0 {
            held.packet.corrupt_bit = Some(bit);
            reports.counters.corrupted += 1;
            reports.event(at, &held, EventKind::Corrupted);
        }
        Some(held)
    }
}
