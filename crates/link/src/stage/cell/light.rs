//! The light recording: the delays and opportunities of short trains of packets.

use crate::SpecError;
use crate::error::At;
use crate::trace::OPPORTUNITY_MS_MAX;
use eyelevel_units::{Duration, duration_from_ms};
use serde::{Deserialize, Serialize};

/// The contents of a light recording's line, for messages.
pub(super) const LINE: &str = "a train: when, its delay and when its packets came, in milliseconds";

/// The longest delay; a longer one is a mistake of units.
const DELAY_MS_MAX: f64 = 60_000.0;

/// The most opportunities, more than a short train has packets.
const OPPORTUNITIES_MAX: usize = 10_000;

/// One train of a light recording. In text one line: `AT DELAY OPPORTUNITY ...`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LightTrain {
    /// Time when it was sent, in milliseconds since the recording's start.
    pub at_ms: f64,
    /// One-way delay of its first packet, in milliseconds.
    pub delay_ms: f64,
    /// Arrival of each packet, in milliseconds since the first one's.
    pub opportunities_ms: Vec<f64>,
}

/// Parses one line: numbers between single spaces.
pub(super) fn parse_line(line: &str) -> Option<LightTrain> {
    let mut numbers = line.split(' ').map(crate::recorded::parse_ms);
    let (at_ms, delay_ms) = (numbers.next()??, numbers.next()??);
    let opportunities_ms = numbers.collect::<Option<Vec<f64>>>()?;
    (1..=OPPORTUNITIES_MAX)
        .contains(&opportunities_ms.len())
        .then_some(LightTrain {
            at_ms,
            delay_ms,
            opportunities_ms,
        })
}

#[derive(Debug)]
struct Train {
    at: Duration,
    delay: Duration,
    opportunities: Vec<Duration>,
}

/// A validated light recording: the last train is its end, where it repeats.
#[derive(Debug)]
pub(super) struct Light {
    trains: Vec<Train>,
}

impl Light {
    /// Validates the trains; `place` is the file or stage for messages, and `line` the word for one
    /// train there.
    pub(super) fn new(trains: &[LightTrain], place: &str, line: &str) -> Result<Self, SpecError> {
        let mut read: Vec<Train> = Vec::with_capacity(trains.len());
        for (index, train) in trains.iter().enumerate() {
            let place = || format!("{place}{line}{}", index + 1);
            let ms = |ms: f64| duration_from_ms(ms).at(place);
            let opportunities = train.opportunities_ms.iter().map(|at| ms(*at));
            let next = Train {
                at: ms(train.at_ms)?,
                delay: ms(train.delay_ms)?,
                opportunities: opportunities.collect::<Result<_, _>>()?,
            };
            let wrong =
                |problem: &str, remedy: &str| Err(SpecError::setting(place(), problem, remedy));
            if read.last().is_some_and(|before| before.at >= next.at) {
                return wrong(
                    "the train is not later than the one before",
                    "sort them by time",
                );
            }
            if train.at_ms > OPPORTUNITY_MS_MAX as f64 || train.delay_ms > DELAY_MS_MAX {
                return wrong(
                    "a train beyond 30 days, or a delay beyond 60 s",
                    "write milliseconds",
                );
            }
            if next.opportunities.is_empty() || !next.opportunities.is_sorted() {
                return wrong(
                    "its packets do not come one after the other",
                    "sort them by time",
                );
            }
            read.push(next);
        }
        if read.len() < 2 {
            return Err(SpecError::setting(
                place,
                "a light recording of one train",
                "give at least two: the last one's time is the recording's length",
            ));
        }
        Ok(Self { trains: read })
    }

    /// Returns the smallest delay of a train.
    pub(super) fn delay_min(&self) -> Duration {
        let delays = self.trains.iter().map(|train| train.delay);
        delays.min().unwrap_or(Duration::ZERO)
    }

    /// Returns the opportunities and delay of a train that begins at `elapsed` after the path's
    /// start: the index of the opportunities, and the delay interpolated between the two trains
    /// around it.
    pub(super) fn at(&self, elapsed: Duration) -> (usize, Duration) {
        let length = self.trains[self.trains.len() - 1].at.as_nanos();
        let within = elapsed.as_nanos() % length;
        let after = self
            .trains
            .partition_point(|train| train.at.as_nanos() <= within);
        let Some(before) = after.checked_sub(1) else {
            return (0, self.trains[0].delay);
        };
        let (from, to) = (&self.trains[before], &self.trains[after]);
        let (passed, span) = (within - from.at.as_nanos(), (to.at - from.at).as_nanos());
        let weighted = from.delay.as_nanos() * (span - passed) + to.delay.as_nanos() * passed;
        let nanos = u64::try_from(weighted / span).unwrap_or(u64::MAX);
        (before, Duration::from_nanos(nanos))
    }

    pub(super) fn opportunities(&self, index: usize) -> &[Duration] {
        &self.trains[index].opportunities
    }
}
