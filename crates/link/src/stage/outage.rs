use super::effect::Effect;
use super::interface::{StageSettings, StageState};
use crate::error::At;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::words::Words;
use crate::{DropReason, SpecError};
use eyelevel_units::{Duration, Generator, Instant, Seed, duration_from_ms};
use serde::{Deserialize, Serialize};

/// A link that is down at times and then loses every packet. It starts up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum OutageSpec {
    /// Durations up and down are drawn from exponential distributions (Mahimahi's mm-onoff).
    Exponential {
        /// Mean time up in milliseconds.
        on_mean_ms: f64,
        /// Mean time down in milliseconds.
        off_mean_ms: f64,
    },
    /// Durations up and down are fixed (Mahimahi's mm-intermittent).
    Periodic {
        /// Time up in milliseconds.
        on_ms: f64,
        /// Time down in milliseconds.
        off_ms: f64,
    },
}

/// The smallest mean: with a shorter one, a packet after a long pause would draw millions of
/// numbers.
const MEAN_MIN: Duration = Duration::from_millis(1);

/// The most switches that one packet catches up with: hours without a packet at the smallest means.
const SWITCHES_MAX: u32 = 10_000_000;

impl StageSettings for OutageSpec {
    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        match words.word("exponential or periodic")? {
            "exponential" => Ok(Self::Exponential {
                on_mean_ms: words.ms()?,
                off_mean_ms: words.ms()?,
            }),
            "periodic" => Ok(Self::Periodic {
                on_ms: words.ms()?,
                off_ms: words.ms()?,
            }),
            other => Err(words.error(
                &format!("unknown kind of outage {other:?}"),
                "use exponential or periodic",
            )),
        }
    }

    fn effect(&self) -> Result<Effect<'_>, SpecError> {
        Ok(Effect::NONE)
    }
}

#[derive(Debug)]
pub(crate) struct Outage {
    process: Process,
    origin: Instant,
}

#[derive(Debug)]
enum Process {
    Exponential {
        means: [Duration; 2],
        down: bool,
        switch: Option<Instant>,
        generator: Generator,
    },
    Periodic {
        on: Duration,
        cycle: Duration,
    },
}

impl<P> StageState<P> for Outage {
    type Settings = OutageSpec;

    fn new(settings: &OutageSpec, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let checked = |key: &str, ms: f64| {
            let duration = duration_from_ms(ms).at(|| format!("{place}: {key}"))?;
            if duration < MEAN_MIN {
                let problem = format!("{key} is {ms}");
                return Err(SpecError::setting(place, problem, "use at least 1"));
            }
            Ok(duration)
        };
        let process = match *settings {
            OutageSpec::Exponential {
                on_mean_ms,
                off_mean_ms,
            } => Process::Exponential {
                means: [
                    checked("on_mean_ms", on_mean_ms)?,
                    checked("off_mean_ms", off_mean_ms)?,
                ],
                down: false,
                switch: None,
                generator: seed.generator(),
            },
            OutageSpec::Periodic { on_ms, off_ms } => {
                let on = checked("on_ms", on_ms)?;
                let cycle = on.saturating_add(checked("off_ms", off_ms)?);
                Process::Periodic { on, cycle }
            }
        };
        Ok(Self {
            process,
            origin: Instant::ZERO,
        })
    }

    fn start(&mut self, origin: Instant) {
        self.origin = origin;
    }

    fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        if self.is_down(at) {
            reports.dropped(at, queued_packet, DropReason::Outage);
            return None;
        }
        Some(queued_packet)
    }
}

impl Outage {
    /// Returns whether the link is down at `at`; a switch at that very instant has happened.
    fn is_down(&mut self, at: Instant) -> bool {
        match &mut self.process {
            Process::Periodic { on, cycle } => {
                at.since(self.origin).as_nanos() % cycle.as_nanos() >= on.as_nanos()
            }
            Process::Exponential {
                means,
                down,
                switch,
                generator,
            } => {
                let mut draw =
                    |down: bool| means[usize::from(down)].mul_f64(generator.exponential());
                let mut next = switch.unwrap_or_else(|| self.origin + draw(false));
                let mut switches = 0;
                while next <= at && switches < SWITCHES_MAX {
                    *down = !*down;
                    next += draw(*down);
                    switches += 1;
                }
                *switch = Some(next);
                *down
            }
        }
    }
}
