use super::effect::Effect;
use super::interface::{StageSettings, StageState};
use crate::error::At;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::recorded::{ReadFile, Recorded, parse_ms};
use crate::timeline::Timeline;
use crate::words::Words;
use crate::{DropReason, SpecError};
use eyelevel_units::{Duration, Instant, Seed, duration_from_ms};
use serde::{Deserialize, Serialize};

/// A stage that repeats the delays and drops of an earlier log, packet by packet: another
/// controller gets the same conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FatesSpec {
    /// The delay of each packet from arrival to release in milliseconds, or null if it was dropped.
    /// In a file one per line, `lost` for a dropped one.
    pub delays_ms: Recorded<Option<f64>>,
    /// Whether the list repeats; if not, later packets pass at once.
    #[serde(default)]
    pub repeat: bool,
    /// Whether a packet may overtake another one; if not, it waits for those before it.
    #[serde(default)]
    pub reordering: bool,
}

impl StageSettings for FatesSpec {
    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        Ok(Self {
            delays_ms: Recorded::from_file(words.file()?),
            repeat: words.take("repeat"),
            reordering: words.take("reordering"),
        })
    }

    fn effect(&self) -> Result<Effect<'_>, SpecError> {
        let delays_ms = self.delays_ms.values("delays_ms")?.iter().flatten();
        let least_ms = delays_ms.copied().reduce(f64::min);
        // Without repetition, packets after the list pass at once.
        let least_ms = least_ms.filter(|_| self.repeat).unwrap_or(0.0);
        Ok(Effect::delay(
            duration_from_ms(least_ms).at(|| "delays_ms".into())?,
        ))
    }

    fn load_files(&mut self, read: &mut ReadFile<'_>) -> Result<(), SpecError> {
        let parse = |line: &str| match line {
            "lost" => Some(None),
            _ => parse_ms(line).map(Some),
        };
        self.delays_ms
            .load(read, parse, "a delay in milliseconds or \"lost\"")
    }
}

#[derive(Debug)]
pub(crate) struct Fates<P> {
    fates: Vec<Option<Duration>>,
    next: usize,
    repeat: bool,
    reordering: bool,
    last_due: Instant,
    travelling: Timeline<P>,
}

impl<P> StageState<P> for Fates<P> {
    type Settings = FatesSpec;

    fn new(settings: &FatesSpec, _seed: Seed, place: &str) -> Result<Self, SpecError> {
        let place = format!("{place}: delays_ms");
        let fate = |(index, ms): (usize, &Option<f64>)| {
            ms.map(|ms| duration_from_ms(ms).at(|| format!("{place}, packet {index}")))
                .transpose()
        };
        let fates = settings
            .delays_ms
            .values(&place)?
            .iter()
            .enumerate()
            .map(fate);
        Ok(Self {
            fates: fates.collect::<Result<_, _>>()?,
            next: 0,
            repeat: settings.repeat,
            reordering: settings.reordering,
            last_due: Instant::ZERO,
            travelling: Timeline::default(),
        })
    }

    fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        if self.next == self.fates.len() && self.repeat {
            self.next = 0;
        }
        let fate = self
            .fates
            .get(self.next)
            .copied()
            .unwrap_or(Some(Duration::ZERO));
        self.next = (self.next + 1).min(self.fates.len());
        let Some(delay) = fate else {
            reports.dropped(at, queued_packet, DropReason::Recorded);
            return None;
        };
        let queued_packet = reports.admit(at, queued_packet, self.travelling.len())?;
        let mut due = at + delay;
        if !self.reordering {
            due = due.max(self.last_due);
            self.last_due = due;
        }
        self.travelling.push(due, queued_packet);
        None
    }

    fn deadline(&self) -> Instant {
        self.travelling.deadline()
    }

    fn handle_timeout<O: Observer<P>>(
        &mut self,
        _at: Instant,
        _reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        self.travelling.pop()
    }
}
