//! What a packet meets on its way: one stage a file.

mod address_delay;
mod corrupt;
mod delay;
mod duplicate;
mod fates;
mod gilbert_elliott;
mod jitter;
mod loss;
mod outage;
mod rate;
mod recorded_loss;
mod schedule;
mod trace;

use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::{SpecError, StageSpec};
use address_delay::AddressDelay;
pub use address_delay::AddressDelaySpec;
use corrupt::Corrupt;
use delay::Delay;
use duplicate::Duplicate;
use eyelevel_units::{Instant, Seed};
use fates::Fates;
pub use fates::FatesSpec;
use gilbert_elliott::GilbertElliott;
pub use gilbert_elliott::GilbertElliottSpec;
use jitter::Jitter;
pub use jitter::{JitterDistribution, JitterSpec};
use loss::Loss;
use outage::Outage;
pub use outage::OutageSpec;
use rate::Rate;
use recorded_loss::RecordedLoss;
pub use recorded_loss::RecordedLossSpec;
use schedule::Schedule;
pub use schedule::{ScheduleSpec, ScheduleStep};
use trace::TraceLink;
pub use trace::TraceSpec;

/// A stage. Static dispatch: every packet meets every stage.
#[derive(Debug)]
pub(crate) enum Stage<P> {
    Delay(Delay<P>),
    AddressDelay(AddressDelay<P>),
    Jitter(Box<Jitter<P>>),
    Rate(Box<Rate<P>>),
    Schedule(Box<Schedule<P>>),
    Trace(Box<TraceLink<P>>),
    Loss(Loss),
    GilbertElliott(Box<GilbertElliott>),
    RecordedLoss(RecordedLoss),
    Fates(Box<Fates<P>>),
    Duplicate(Box<Duplicate<P>>),
    Corrupt(Corrupt),
    Outage(Box<Outage>),
}

impl<P: Clone> Stage<P> {
    /// Builds a stage; `place` ("stage 2 (rate)") begins every error.
    pub(crate) fn new(spec: &StageSpec, seed: Seed, place: &str) -> Result<Self, SpecError> {
        Ok(match spec {
            StageSpec::Delay { delay_ms } => Self::Delay(Delay::new(*delay_ms, place)?),
            StageSpec::AddressDelay(spec) => Self::AddressDelay(AddressDelay::new(spec, place)?),
            StageSpec::Jitter(spec) => Self::Jitter(Box::new(Jitter::new(spec, seed, place)?)),
            StageSpec::Rate { rate_bit_s, queue } => {
                Self::Rate(Box::new(Rate::new(*rate_bit_s, queue, seed, place)?))
            }
            StageSpec::Schedule(spec) => {
                Self::Schedule(Box::new(Schedule::new(spec, seed, place)?))
            }
            StageSpec::Trace(spec) => Self::Trace(Box::new(TraceLink::new(spec, seed, place)?)),
            StageSpec::Loss { probability } => Self::Loss(Loss::new(*probability, seed, place)?),
            StageSpec::GilbertElliott(spec) => {
                Self::GilbertElliott(Box::new(GilbertElliott::new(spec, seed, place)?))
            }
            StageSpec::RecordedLoss(spec) => Self::RecordedLoss(RecordedLoss::new(spec, place)?),
            StageSpec::Fates(spec) => Self::Fates(Box::new(Fates::new(spec, place)?)),
            StageSpec::Duplicate { probability } => {
                Self::Duplicate(Box::new(Duplicate::new(*probability, seed, place)?))
            }
            StageSpec::Corrupt { probability } => {
                Self::Corrupt(Corrupt::new(*probability, seed, place)?)
            }
            StageSpec::Outage(spec) => Self::Outage(Box::new(Outage::new(spec, seed, place)?)),
        })
    }

    /// The path begins: what happens by the clock counts from here.
    pub(crate) fn start(&mut self, origin: Instant) {
        match self {
            Self::Jitter(stage) => stage.start(origin),
            Self::Rate(stage) => stage.start(origin),
            Self::Schedule(stage) => stage.start(origin),
            Self::Trace(stage) => stage.start(origin),
            Self::Outage(stage) => stage.start(origin),
            _ => {}
        }
    }

    /// A packet enters at `at`; every event of this stage up to `at` has been handled. Returns it
    /// where it leaves at the same instant.
    #[inline]
    pub(crate) fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        match self {
            Self::Delay(stage) => stage.handle_packet(at, queued_packet, reports),
            Self::AddressDelay(stage) => stage.handle_packet(at, queued_packet, reports),
            Self::Jitter(stage) => stage.handle_packet(at, queued_packet, reports),
            Self::Rate(stage) => stage.handle_packet(at, queued_packet, reports),
            Self::Schedule(stage) => stage.handle_packet(at, queued_packet, reports),
            Self::Trace(stage) => stage.handle_packet(at, queued_packet, reports),
            Self::Loss(stage) => stage.handle_packet(at, queued_packet, reports),
            Self::GilbertElliott(stage) => stage.handle_packet(at, queued_packet, reports),
            Self::RecordedLoss(stage) => stage.handle_packet(at, queued_packet, reports),
            Self::Fates(stage) => stage.handle_packet(at, queued_packet, reports),
            Self::Duplicate(stage) => stage.handle_packet(at, queued_packet, reports),
            Self::Corrupt(stage) => stage.handle_packet(at, queued_packet, reports),
            Self::Outage(stage) => stage.handle_packet(at, queued_packet, reports),
        }
    }

    /// The next event; [`Instant::MAX`] where nothing is held.
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        match self {
            Self::Delay(stage) => stage.deadline(),
            Self::AddressDelay(stage) => stage.deadline(),
            Self::Jitter(stage) => stage.deadline(),
            Self::Rate(stage) => stage.deadline(),
            Self::Schedule(stage) => stage.deadline(),
            Self::Trace(stage) => stage.deadline(),
            Self::Fates(stage) => stage.deadline(),
            Self::Duplicate(stage) => stage.deadline(),
            Self::Loss(_)
            | Self::GilbertElliott(_)
            | Self::RecordedLoss(_)
            | Self::Corrupt(_)
            | Self::Outage(_) => Instant::MAX,
        }
    }

    /// Handles the event due at `at`, which is the deadline. Returns a packet that leaves; another
    /// one that leaves at the same instant leaves the deadline where it is.
    #[inline]
    pub(crate) fn handle_timeout<O: Observer<P>>(
        &mut self,
        at: Instant,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        match self {
            Self::Delay(stage) => stage.handle_timeout(),
            Self::AddressDelay(stage) => stage.handle_timeout(),
            Self::Jitter(stage) => stage.handle_timeout(),
            Self::Rate(stage) => stage.handle_timeout(at, reports),
            Self::Schedule(stage) => stage.handle_timeout(at, reports),
            Self::Trace(stage) => stage.handle_timeout(at, reports),
            Self::Fates(stage) => stage.handle_timeout(),
            Self::Duplicate(stage) => stage.handle_timeout(),
            Self::Loss(_)
            | Self::GilbertElliott(_)
            | Self::RecordedLoss(_)
            | Self::Corrupt(_)
            | Self::Outage(_) => None,
        }
    }
}
