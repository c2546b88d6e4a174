use crate::error::At;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::{DropReason, SpecError};
use eyelevel_units::{Generator, Instant, Probability, Seed};
use serde::{Deserialize, Serialize};

/// Loss in bursts: a chain of two states, each with its own loss (Gilbert 1960, Elliott 1963; the
/// four-parameter form of Hasslinger and Hohlfeld 2008).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottSpec {
    /// Chance a packet to go from the good state to the bad one.
    pub good_to_bad: f64,
    /// Chance a packet to go from the bad state to the good one.
    pub bad_to_good: f64,
    /// Loss in the good state.
    #[serde(default)]
    pub loss_good: f64,
    /// Loss in the bad state.
    #[serde(default = "always")]
    pub loss_bad: f64,
}

/// Gilbert's own model loses half in the bad state; the simple one of two parameters loses all.
const fn always() -> f64 {
    1.0
}

/// A packet meets the loss of the state it finds, then the state may change for the next one. The
/// first packet finds the good state. Two draws a packet.
#[derive(Debug)]
pub(crate) struct GilbertElliott {
    leave: [Probability; 2],
    loss: [Probability; 2],
    bad: bool,
    generator: Generator,
}

impl GilbertElliott {
    pub(crate) fn new(
        spec: &GilbertElliottSpec,
        seed: Seed,
        place: &str,
    ) -> Result<Self, SpecError> {
        let checked = |key: &str, value| Probability::new(value).at(|| format!("{place}: {key}"));
        Ok(Self {
            leave: [
                checked("good_to_bad", spec.good_to_bad)?,
                checked("bad_to_good", spec.bad_to_good)?,
            ],
            loss: [
                checked("loss_good", spec.loss_good)?,
                checked("loss_bad", spec.loss_bad)?,
            ],
            bad: false,
            generator: seed.generator(),
        })
    }

    pub(crate) fn handle_packet<P, O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        let state = usize::from(self.bad);
        let lost = self.generator.chance(self.loss[state]);
        self.bad ^= self.generator.chance(self.leave[state]);
        if lost {
            reports.dropped(at, queued_packet, DropReason::Loss);
            return None;
        }
        Some(queued_packet)
    }
}
