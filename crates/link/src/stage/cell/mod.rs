//! A cellular link from two recordings of it, one lightly used and one saturated.

mod light;

use super::effect::Effect;
use super::interface::{StageSettings, StageState};
use super::trace::{TraceLink, TraceSpec};
use crate::error::At;
use crate::observer::{EventKind, Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::recorded::{ReadFile, Recorded};
use crate::trace::OPPORTUNITY_BYTES;
use crate::words::Words;
use crate::{QueueSpec, SpecError};
use eyelevel_units::{Duration, Instant, Seed, duration_from_ms};
use light::Light;
pub use light::LightTrain;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A cellular link that treats short trains and long flows each as they were recorded.
///
/// The idea and the two recordings are those of `CellReplay` (Sentosa, Chandrasekaran, Godfrey and
/// Hassanieh, NSDI 2025). A packet that arrives at an idle link begins a train: it waits the delay
/// that the light recording has for that time, interpolated linearly between two of its trains, and
/// the packets after it leave at the opportunities of the earlier train. Packets beyond these wait
/// the same delay and then for the opportunities of the saturated recording, as in `trace`; so do
/// packets that would overtake them. The link is idle again when a packet would leave more than
/// `idle_ms` after its predecessor. Both recordings repeat after their last line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellSpec {
    /// The light recording; in a file one train per line.
    pub light: Recorded<LightTrain>,
    /// The saturated recording: opportunities in whole milliseconds; in a file one per line.
    pub heavy: Recorded<u64>,
    /// Idle time after which the next packet begins a train, in milliseconds.
    #[serde(default)]
    pub idle_ms: f64,
    /// Bytes that an opportunity carries, in both recordings.
    #[serde(default = "opportunity_bytes")]
    pub opportunity_bytes: u32,
    /// The queue of packets that wait for the saturated recording's opportunities.
    #[serde(default)]
    pub queue: QueueSpec,
}

const fn opportunity_bytes() -> u32 {
    OPPORTUNITY_BYTES
}

impl CellSpec {
    fn heavy_trace(&self) -> TraceSpec {
        TraceSpec {
            trace: self.heavy.clone(),
            once: false,
            opportunity_bytes: self.opportunity_bytes,
            packet_overhead_bytes: 0,
            queue: self.queue.clone(),
        }
    }
}

impl StageSettings for CellSpec {
    const IS_LINK: bool = true;

    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let (light, heavy) = (words.file()?, words.file()?);
        let idle_ms = if words.take("idle") { words.ms()? } else { 0.0 };
        let opportunity_bytes = if words.take("opportunity") {
            let expected = "write the bytes that an opportunity carries, such as 1396B";
            let bytes = words.bytes(expected)?;
            u32::try_from(bytes)
                .map_err(|_| words.error("more than 4 GB an opportunity", expected))?
        } else {
            OPPORTUNITY_BYTES
        };
        Ok(Self {
            light: Recorded::from_file(light),
            heavy: Recorded::from_file(heavy),
            idle_ms,
            opportunity_bytes,
            queue: QueueSpec::Infinite,
        })
    }

    fn effect(&self) -> Result<Effect<'_>, SpecError> {
        let light = Light::new(self.light.values("light")?, "light", ": train ")?;
        Ok(Effect {
            delay_min: light.delay_min(),
            rate: self.heavy_trace().effect()?.rate,
            queue: Some(&self.queue),
        })
    }

    fn queue_mut(&mut self) -> Option<&mut QueueSpec> {
        Some(&mut self.queue)
    }

    fn load_files(&mut self, read: &mut ReadFile<'_>) -> Result<(), SpecError> {
        if let Some(file) = self.light.file().map(str::to_owned) {
            self.light.load(read, light::parse_line, light::LINE)?;
            Light::new(self.light.values(&file)?, &file, ":")?;
        }
        let mut heavy = self.heavy_trace();
        heavy.load_files(read)?;
        self.heavy = heavy.trace;
        Ok(())
    }
}

/// The current train.
#[derive(Debug)]
struct Train {
    began: Instant,
    delay: Duration,
    /// The index of its opportunities, the next of these, and the bytes left of that.
    recorded: usize,
    index: usize,
    credit: u64,
}

/// A packet in its delay.
#[derive(Debug)]
struct Travelling<P> {
    due: Instant,
    /// The time since when it is late, if a train's opportunity carries it; `None` if the saturated
    /// link does.
    light: Option<Instant>,
    queued_packet: QueuedPacket<P>,
}

#[derive(Debug)]
pub(crate) struct Cell<P> {
    light: Light,
    idle: Duration,
    opportunity_bytes: u64,
    origin: Instant,
    train: Option<Train>,
    /// Time when the last packet leaves or has left, as far as it is known.
    last_left: Instant,
    travelling: VecDeque<Travelling<P>>,
    heavy: TraceLink<P>,
}

impl<P> StageState<P> for Cell<P> {
    type Settings = CellSpec;

    fn new(settings: &CellSpec, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let of_light = format!("{place}: light");
        Ok(Self {
            light: Light::new(settings.light.values(&of_light)?, &of_light, ": train ")?,
            idle: duration_from_ms(settings.idle_ms).at(|| format!("{place}: idle_ms"))?,
            opportunity_bytes: settings.opportunity_bytes.into(),
            origin: Instant::ZERO,
            train: None,
            last_left: Instant::ZERO,
            travelling: VecDeque::new(),
            heavy: TraceLink::new(&settings.heavy_trace(), seed, place)?,
        })
    }

    fn start(&mut self, origin: Instant) {
        self.origin = origin;
        StageState::start(&mut self.heavy, origin);
    }

    fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        let queued_packet = reports.admit(at, queued_packet, self.travelling.len())?;
        let (delay, opportunity) = self.opportunity(at, queued_packet.bytes());
        let without_link = at + delay;
        // Nothing overtakes: a packet that would waits for the last, on the link.
        let due = opportunity.unwrap_or(without_link);
        let last_due = self
            .travelling
            .back()
            .map_or(Instant::ZERO, |last| last.due);
        let light = opportunity.map(|_| without_link);
        let light = light.filter(|_| due >= last_due);
        let due = due.max(last_due);
        self.last_left = self.last_left.max(due);
        self.travelling.push_back(Travelling {
            due,
            light,
            queued_packet,
        });
        None
    }

    fn deadline(&self) -> Instant {
        let travels = self
            .travelling
            .front()
            .map_or(Instant::MAX, |first| first.due);
        travels.min(StageState::<P>::deadline(&self.heavy))
    }

    fn handle_timeout<O: Observer<P>>(
        &mut self,
        at: Instant,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        // An opportunity comes first: a packet that arrives at its very instant is too late for it.
        if StageState::<P>::deadline(&self.heavy) <= at {
            let sent = self.heavy.handle_timeout(at, reports);
            self.last_left = self.last_left.max(at);
            return sent;
        }
        let mut first = self.travelling.pop_front()?;
        match first.light {
            Some(since) if self.heavy.is_idle() => {
                let queued = at.since(since);
                reports.event(at, &first.queued_packet, EventKind::Served { queued });
                Some(first.queued_packet)
            }
            _ => {
                first.queued_packet.entered = at;
                self.heavy.handle_packet(at, first.queued_packet, reports)
            }
        }
    }
}

impl<P> Cell<P> {
    /// Returns the delay of a packet that arrives now, and the time of its opportunity in the light
    /// recording, if there is one.
    fn opportunity(&mut self, at: Instant, bytes: u64) -> (Duration, Option<Instant>) {
        let (last_left, idle) = (self.last_left, self.idle);
        let goes_on = |train: &Train| at + train.delay <= last_left + idle;
        let busy = !self.heavy.is_idle();
        let train = match self.train.take().filter(|train| busy || goes_on(train)) {
            Some(train) => self.train.insert(train),
            None => {
                let (recorded, delay) = self.light.at(at.since(self.origin));
                self.train.insert(Train {
                    began: at,
                    delay,
                    recorded,
                    index: 0,
                    credit: self.opportunity_bytes,
                })
            }
        };
        let opportunities = self.light.opportunities(train.recorded);
        let elapsed = at.since(train.began);
        // The opportunity is over, or has too few bytes left.
        while opportunities
            .get(train.index)
            .is_some_and(|next| *next < elapsed || train.credit < bytes.min(self.opportunity_bytes))
        {
            train.index += 1;
            train.credit = self.opportunity_bytes;
        }
        let next = opportunities.get(train.index);
        let next = next.filter(|_| bytes <= train.credit);
        train.credit -= if next.is_some() { bytes } else { 0 };
        (
            train.delay,
            next.map(|next| train.began + train.delay + *next),
        )
    }
}
