//! The stages of a direction: one per file, with its settings, its text form and its state, and one
//! table of them all.

mod address_delay;
mod cell;
mod corrupt;
mod delay;
mod duplicate;
mod effect;
mod fates;
mod gilbert_elliott;
mod interface;
mod jitter;
mod loss;
mod outage;
mod rate;
mod recorded_loss;
mod schedule;
mod token_bucket;
mod trace;

use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::recorded::ReadFile;
use crate::words::Words;
use crate::{QueueSpec, SpecError};
use address_delay::AddressDelay;
pub use address_delay::AddressDelaySpec;
use cell::Cell;
pub use cell::{CellSpec, LightTrain};
use corrupt::Corrupt;
pub use corrupt::CorruptSpec;
use delay::Delay;
pub use delay::DelaySpec;
use duplicate::Duplicate;
pub use duplicate::DuplicateSpec;
pub use effect::DirectionFacts;
use effect::Effect;
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
use token_bucket::TokenBucket;
pub use token_bucket::TokenBucketSpec;
use trace::TraceLink;
pub use trace::TraceSpec;

/// The documentation of a kind of stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StageKind {
    /// The name in configurations.
    pub name: &'static str,
    /// Its effect, in a sentence.
    pub does: &'static str,
    /// The words after the name in the text form.
    pub follows: &'static str,
    /// The keys of the JSON form, with defaults in parentheses.
    pub keys: &'static str,
    /// Whether it sends one packet after the other and has a queue.
    pub is_link: bool,
}

/// Generates the two enums, of settings and of states, and their methods from the table: static
/// dispatch, since every packet passes every stage.
macro_rules! stages {
    ($(#[doc = $doc:literal] $name:literal: $stage:ident($settings:ty) => $state:ty, $follows:literal, $keys:literal;)+) => {
        /// One stage of a direction as configurations write it (`spec/lab-events.md`).
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "stage", deny_unknown_fields)]
        pub enum StageSpec {
            $(#[doc = $doc] #[serde(rename = $name)] $stage($settings),)+
        }

        impl StageSpec {
            /// Every kind of stage, with its documentation.
            pub const KINDS: &[StageKind] = &[$(StageKind {
                name: $name,
                does: $doc.trim_ascii_start(),
                follows: $follows,
                keys: $keys,
                is_link: <$settings as StageSettings>::IS_LINK,
            }),+];

            /// Returns the stage's name in configurations.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$stage(_) => $name,)+
                }
            }

            /// Parses the stage of this name and its words in the text form; `None` if there is no
            /// such stage.
            pub(crate) fn parse(name: &str, words: &mut Words<'_>) -> Option<Result<Self, SpecError>> {
                match name {
                    $($name => Some(<$settings>::parse(words).map(Self::$stage)),)+
                    _ => None,
                }
            }

            /// Returns whether it is a link, which sends one packet after the other and has a
            /// queue.
            pub fn is_link(&self) -> bool {
                match self {
                    $(Self::$stage(_) => <$settings as StageSettings>::IS_LINK,)+
                }
            }

            /// Returns the stage's queue, if it is a link.
            pub(crate) fn queue_mut(&mut self) -> Option<&mut QueueSpec> {
                match self {
                    $(Self::$stage(settings) => settings.queue_mut(),)+
                }
            }

            /// Returns the stage's effect on every packet.
            pub(crate) fn effect(&self) -> Result<Effect<'_>, SpecError> {
                match self {
                    $(Self::$stage(settings) => settings.effect(),)+
                }
            }

            /// Reads the files that a stage names, with `read` (name to text), which only a driver
            /// can do and which returns the name that refers to the file from then on. A stage
            /// without files is left unchanged.
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

        /// The state of a stage; its methods are those of [`StageState`].
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

// The table of stages. Each line: the name in configurations, the settings, the state, the words
// after the name in the text form, and the keys of the JSON form (`docs/reference/stages.md`).
stages! {
    /// Each packet leaves a fixed time after it arrived.
    "delay": Delay(DelaySpec) => Delay<P>,
        "TIME",
        "`delay_ms`";
    /// Each origin address has a fixed delay of its own.
    "address_delay": AddressDelay(AddressDelaySpec) => AddressDelay<P>,
        "ADDRESS=TIME ... [`default` TIME]",
        "`delays_ms` (object: origin address to delay), `default_ms` (0)";
    /// A delay that varies from packet to packet.
    "jitter": Jitter(JitterSpec) => Box<Jitter<P>>,
        "`normal` MEAN DEVIATION, `uniform` MIN MAX, `pareto` SCALE SHAPE or `recorded` FILE \
         [INTERVAL]; then optionally `for` ADDRESS and another of these, and `reordering`; with \
         nothing before `for`, other addresses have no jitter",
        "`distribution`, `reordering` (false), `per_address` (object: origin \
         address to distribution)";
    /// A link with a constant rate and a queue in front of it.
    "rate": Rate(RateSpec) => Box<Rate<P>>,
        "RATE",
        "`rate_bit_s`, `queue` (`infinite`)";
    /// A link whose rate changes over time.
    "schedule": Schedule(ScheduleSpec) => Box<Schedule<P>>,
        "TIME=RATE ... [`repeat` TIME]; at a RATE of 0 nothing is sent",
        "`steps` (a list of `at_ms` and `rate_bit_s`, of which the first is at 0; at a rate of 0 \
         nothing is sent), `period_ms` (none: the last rate continues), `queue`";
    /// A link that sends packets at the times in a packet-delivery trace.
    "trace": Trace(TraceSpec) => Box<TraceLink<P>>,
        "FILE [`once`]",
        "`trace` (the times in whole milliseconds, or a file), `once` (false), \
         `opportunity_bytes` (1500), `packet_overhead_bytes` (0), `queue`";
    /// A cellular link, from a recording of it under light load and one under saturation.
    "cell": Cell(CellSpec) => Box<Cell<P>>,
        "LIGHT HEAVY [`idle` TIME] [`opportunity` BYTES], two files",
        "`light` (a list of `at_ms`, `delay_ms` and `opportunities_ms`, or a file with one such \
         packet train per line: `AT DELAY OPPORTUNITY ...`), `heavy` (as `trace`), `idle_ms` (0), \
         `opportunity_bytes` (1500), `queue`";
    /// A policer: packets beyond its rate and burst are dropped, and none are queued.
    "token_bucket": TokenBucket(TokenBucketSpec) => TokenBucket,
        "RATE BURST, such as `5 Mbit/s 64 kB`",
        "`rate_bit_s`, `burst_bytes` (at least 1500; the bucket starts full)";
    /// Each packet is lost independently of the others.
    "loss": Loss(LossSpec) => Loss,
        "PROBABILITY",
        "`probability`";
    /// Packets are lost in bursts.
    "gilbert_elliott": GilbertElliott(GilbertElliottSpec) => Box<GilbertElliott>,
        "GOOD_TO_BAD BAD_TO_GOOD [LOSS_GOOD LOSS_BAD]",
        "`good_to_bad`, `bad_to_good`, `loss_good` (0), `loss_bad` (1): probabilities per packet";
    /// Packets at given positions are lost.
    "recorded_loss": RecordedLoss(RecordedLossSpec) => RecordedLoss,
        "FILE [`period` COUNT]",
        "`positions` (counted from 0, or a file), `period_packets` (none: they are used once)";
    /// Each packet meets the fate of a packet in an earlier log.
    "fates": Fates(FatesSpec) => Box<Fates<P>>,
        "FILE [`repeat`] [`reordering`]",
        "`delays_ms` (the delay of each packet, or null if it is lost; or a file, which says \
         `lost`), `repeat` (false), `reordering` (false)";
    /// Some packets arrive twice.
    "duplicate": Duplicate(DuplicateSpec) => Box<Duplicate<P>>,
        "PROBABILITY",
        "`probability`";
    /// In some packets one bit is flipped.
    "corrupt": Corrupt(CorruptSpec) => Corrupt,
        "PROBABILITY",
        "`probability`";
    /// The link is down at times.
    "outage": Outage(OutageSpec) => Box<Outage>,
        "`exponential` ON_MEAN OFF_MEAN or `periodic` ON OFF",
        "`kind`: `exponential` with `on_mean_ms`, `off_mean_ms`, or `periodic` with `on_ms`, \
         `off_ms`";
}
