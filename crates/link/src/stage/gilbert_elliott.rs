use super::effect::Effect;
use super::interface::{StageSettings, StageState};
use crate::error::At;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::words::Words;
use crate::{DropReason, SpecError};
use eyelevel_units::{Generator, Instant, Probability, Seed};
use serde::{Deserialize, Serialize};

/// Loss in bursts: a chain of two states, each with its own loss (Gilbert 1960, Elliott 1963; the
/// four-parameter form of Hasslinger and Hohlfeld 2008).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottSpec {
    /// Probability per packet to change from the good state to the bad one.
    pub good_to_bad: f64,
    /// Probability per packet to change from the bad state to the good one.
    pub bad_to_good: f64,
    /// Loss probability in the good state.
    #[serde(default)]
    pub loss_good: f64,
    /// Loss probability in the bad state.
    #[serde(default = "default_loss_bad")]
    pub loss_bad: f64,
}

/// Returns the default loss of the bad state: all, as in the simple model of two parameters,
/// whereas Gilbert's own loses half.
const fn default_loss_bad() -> f64 {
    1.0
}

impl StageSettings for GilbertElliottSpec {
    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let (good_to_bad, bad_to_good) = (words.probability()?, words.probability()?);
        let (loss_good, loss_bad) = if words.is_empty() {
            (0.0, 1.0)
        } else {
            (words.probability()?, words.probability()?)
        };
        Ok(Self {
            good_to_bad,
            bad_to_good,
            loss_good,
            loss_bad,
        })
    }

    fn effect(&self) -> Result<Effect<'_>, SpecError> {
        Ok(Effect::NONE)
    }
}

/// The state of the chain. A packet has the loss of the current state, then the state may change
/// for the next one. The first packet finds the good state. Two random draws per packet.
#[derive(Debug)]
pub(crate) struct GilbertElliott {
    leave: [Probability; 2],
    loss: [Probability; 2],
    bad: bool,
    generator: Generator,
}

impl<P> StageState<P> for GilbertElliott {
    type Settings = GilbertElliottSpec;

    fn new(settings: &GilbertElliottSpec, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let checked = |key: &str, value| Probability::new(value).at(|| format!("{place}: {key}"));
        Ok(Self {
            leave: [
                checked("good_to_bad", settings.good_to_bad)?,
                checked("bad_to_good", settings.bad_to_good)?,
            ],
            loss: [
                checked("loss_good", settings.loss_good)?,
                checked("loss_bad", settings.loss_bad)?,
            ],
            bad: false,
            generator: seed.generator(),
        })
    }

    fn handle_packet<O: Observer<P>>(
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
