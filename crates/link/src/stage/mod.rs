//! What a packet meets on its way: one stage a file.

mod delay;
mod loss;
mod rate;

use crate::held::Held;
use crate::observer::{Observer, Reports};
use crate::{SpecError, StageSpec};
use delay::Delay;
use eyelevel_units::{Instant, Seed};
use loss::Loss;
use rate::Rate;

/// A stage. Static dispatch: every packet meets every stage.
#[derive(Debug)]
pub(crate) enum Stage<P> {
    Delay(Delay<P>),
    Rate(Rate<P>),
    Loss(Loss),
}

impl<P> Stage<P> {
    /// Builds a stage; `place` ("stage 2 (rate)") begins every error.
    pub(crate) fn new(spec: &StageSpec, seed: Seed, place: &str) -> Result<Self, SpecError> {
        Ok(match spec {
            StageSpec::Delay { delay_ms } => Self::Delay(Delay::new(*delay_ms, place)?),
            StageSpec::Rate { rate_bit_s, queue } => {
                Self::Rate(Rate::new(*rate_bit_s, queue, place)?)
            }
            StageSpec::Loss { probability } => Self::Loss(Loss::new(*probability, seed, place)?),
        })
    }

    /// A packet enters at `at`; every event of this stage up to `at` has been handled. Returns it
    /// where it leaves at the same instant.
    #[inline]
    pub(crate) fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        held: Held<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<Held<P>> {
        match self {
            Self::Delay(stage) => stage.handle_packet(held),
            Self::Rate(stage) => stage.handle_packet(at, held, reports),
            Self::Loss(stage) => stage.handle_packet(at, held, reports),
        }
    }

    /// The next event; [`Instant::MAX`] where nothing is held.
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        match self {
            Self::Delay(stage) => stage.deadline(),
            Self::Rate(stage) => stage.deadline(),
            Self::Loss(_) => Instant::MAX,
        }
    }

    /// Handles the event due at `at`, which is the deadline. Returns a packet that leaves; another
    /// one that leaves at the same instant leaves the deadline where it is.
    #[inline]
    pub(crate) fn handle_timeout<O: Observer<P>>(
        &mut self,
        at: Instant,
        reports: &mut Reports<'_, O>,
    ) -> Option<Held<P>> {
        match self {
            Self::Delay(stage) => stage.handle_timeout(),
            Self::Rate(stage) => stage.handle_timeout(at, reports),
            Self::Loss(_) => None,
        }
    }
}
