//! What a packet meets on its way: one stage a file, with its settings, its text form and its state,
//! and one table of them all.

mod address_delay;
mod corrupt;
mod delay;
mod duplicate;
mod fates;
mod gilbert_elliott;
mod interface;
mod jitter;
mod loss;
mod outage;
mod rate;
mod recorded_loss;
mod schedule;
mod trace;

use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::recorded::ReadFile;
use crate::words::Words;
use crate::{QueueSpec, SpecError};
use address_delay::AddressDelay;
pub use address_delay::AddressDelaySpec;
use corrupt::Corrupt;
pub use corrupt::CorruptSpec;
use delay::Delay;
pub use delay::DelaySpec;
use duplicate::Duplicate;
pub use duplicate::DuplicateSpec;
use eyelevel_units::{Instant, Seed};
use fates::Fates;
pub use fates::FatesSpec;
use gilbert_elliott::GilbertElliott;
pub use gilbert_elliott::GilbertElliottSpec;
use interface::{StageSettings, StageState};
use jitter::Jitter;
pub use jitter::{JitterDistribution, JitterSpec};
use loss::Loss;
pub use loss::LossSpec;
use outage::Outage;
pub use outage::OutageSpec;
use rate::Rate;
pub use rate::RateSpec;
use recorded_loss::RecordedLoss;
pub use recorded_loss::RecordedLossSpec;
use schedule::Schedule;
pub use schedule::{ScheduleSpec, ScheduleStep};
use serde::{Deserialize, Serialize};
use trace::TraceLink;
pub use trace::TraceSpec;

/// Makes of the table the two enums, of settings and of states, and all that goes by the stage: static
/// dispatch, since every packet meets every stage.
macro_rules! stages {
    ($($(#[$doc:meta])* $name:literal: $stage:ident($settings:ty) => $state:ty, $follows:literal;)+) => {
        /// One stage of a direction as configurations write it (`spec/lab-events.md`).
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "stage", deny_unknown_fields)]
        pub enum StageSpec {
            $($(#[$doc])* #[serde(rename = $name)] $stage($settings),)+
        }

        /// Each stage's name, and what follows it in the text form.
        pub(crate) const CLAUSES: &[(&str, &str)] = &[$(($name, $follows)),+];

        impl StageSpec {
            /// The stage's name in configurations.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$stage(_) => $name,)+
                }
            }

            /// The stage of this name, with what follows it in the text form; none if there is no
            /// such stage.
            pub(crate) fn parse(name: &str, words: &mut Words<'_>) -> Option<Result<Self, SpecError>> {
                match name {
                    $($name => Some(<$settings>::parse(words).map(Self::$stage)),)+
                    _ => None,
                }
            }

            /// Whether it is a link, which sends one packet after the other and has a queue.
            pub fn is_link(&self) -> bool {
                match self {
                    $(Self::$stage(settings) => settings.queue().is_some(),)+
                }
            }

            /// The stage's queue, if it is a link.
            pub(crate) fn queue_mut(&mut self) -> Option<&mut QueueSpec> {
                match self {
                    $(Self::$stage(settings) => settings.queue_mut(),)+
                }
            }

            /// Reads the files that a stage names, with `read` (name to text), which only a driver
            /// can do. A stage that names none is left as it is.
            ///
            /// # Errors
            /// When a file cannot be read or one of its lines is wrong; the message names file and
            /// line.
            pub fn load_files(&mut self, read: &mut ReadFile<'_>) -> Result<(), SpecError> {
                match self {
                    $(Self::$stage(settings) => settings.load_files(read),)+
                }
            }
        }

        /// A stage at work; its methods are those of [`StageState`].
        #[derive(Debug)]
        pub(crate) enum Stage<P> {
            $($stage($state),)+
        }

        impl<P: Clone> Stage<P> {
            pub(crate) fn new(spec: &StageSpec, seed: Seed, place: &str) -> Result<Self, SpecError> {
                Ok(match spec {
                    $(StageSpec::$stage(settings) => {
                        Self::$stage(<$state as StageState<P>>::new(settings, seed, place)?)
                    })+
                })
            }

            pub(crate) fn start(&mut self, origin: Instant) {
                match self {
                    $(Self::$stage(stage) => StageState::<P>::start(stage, origin),)+
                }
            }

            #[inline]
            pub(crate) fn handle_packet<O: Observer<P>>(
                &mut self,
                at: Instant,
                queued_packet: QueuedPacket<P>,
                reports: &mut Reports<'_, O>,
            ) -> Option<QueuedPacket<P>> {
                match self {
                    $(Self::$stage(stage) => stage.handle_packet(at, queued_packet, reports),)+
                }
            }

            #[inline]
            pub(crate) fn deadline(&self) -> Instant {
                match self {
                    $(Self::$stage(stage) => StageState::<P>::deadline(stage),)+
                }
            }

            #[inline]
            pub(crate) fn handle_timeout<O: Observer<P>>(
                &mut self,
                at: Instant,
                reports: &mut Reports<'_, O>,
            ) -> Option<QueuedPacket<P>> {
                match self {
                    $(Self::$stage(stage) => stage.handle_timeout(at, reports),)+
                }
            }
        }
    };
}

// The table of stages. A line: the name in configurations, the settings, the state, and what follows
// the name in the text form, as `docs/reference/path.md` has it.
stages! {
    /// Every packet leaves a fixed time after it came.
    "delay": Delay(DelaySpec) => Delay<P>,
        "TIME";
    /// A fixed delay of its own for each origin address.
    "address_delay": AddressDelay(AddressDelaySpec) => AddressDelay<P>,
        "ADDRESS=TIME ... [`default` TIME]";
    /// A delay that varies.
    "jitter": Jitter(JitterSpec) => Box<Jitter<P>>,
        "`normal` MEAN DEVIATION, `uniform` MIN MAX, `pareto` SCALE SHAPE or `recorded` FILE \
         [INTERVAL]; then, as wanted, `for` ADDRESS and one of these again, and `reordering`; only \
         `for ...`: the other addresses have none";
    /// A link of constant rate with a queue in front of it.
    "rate": Rate(RateSpec) => Box<Rate<P>>,
        "RATE";
    /// A link whose rate changes over time.
    "schedule": Schedule(ScheduleSpec) => Box<Schedule<P>>,
        "TIME=RATE ... [`repeat` TIME]; a RATE of 0 sends nothing";
    /// A link that sends at the instants of a packet-delivery trace.
    "trace": Trace(TraceSpec) => Box<TraceLink<P>>,
        "FILE [`once`]";
    /// Each packet is lost independently.
    "loss": Loss(LossSpec) => Loss,
        "PROBABILITY";
    /// Loss in bursts.
    "gilbert_elliott": GilbertElliott(GilbertElliottSpec) => Box<GilbertElliott>,
        "GOOD_TO_BAD BAD_TO_GOOD [LOSS_GOOD LOSS_BAD]";
    /// Loss at given positions.
    "recorded_loss": RecordedLoss(RecordedLossSpec) => RecordedLoss,
        "FILE [`period` COUNT]";
    /// The fates of an earlier log's packets.
    "fates": Fates(FatesSpec) => Box<Fates<P>>,
        "FILE [`repeat`] [`reordering`]";
    /// Some packets come twice.
    "duplicate": Duplicate(DuplicateSpec) => Box<Duplicate<P>>,
        "PROBABILITY";
    /// A bit of some packets is inverted.
    "corrupt": Corrupt(CorruptSpec) => Corrupt,
        "PROBABILITY";
    /// The link is down at times.
    "outage": Outage(OutageSpec) => Box<Outage>,
        "`exponential` ON_MEAN OFF_MEAN or `periodic` ON OFF";
}
