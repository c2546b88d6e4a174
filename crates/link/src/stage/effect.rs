//! Derives the rates, delays and queues of stages, by which others size buffers and set time
//! limits.

use crate::{QueueSpec, SpecError, StageSpec};
use eyelevel_units::{BitRate, Duration};
use serde::Serialize;

/// The effect of one stage on every packet.
#[derive(Debug)]
pub(crate) struct Effect<'a> {
    /// The smallest delay of every packet, without the time on a link.
    pub delay_min: Duration,
    /// The long-term mean rate, if the stage limits it.
    pub rate: Option<BitRate>,
    /// The queue, if the stage is a link.
    pub queue: Option<&'a QueueSpec>,
}

impl<'a> Effect<'a> {
    /// The effect of a stage that passes some packets at once and queues none.
    pub const NONE: Self = Self {
        delay_min: Duration::ZERO,
        rate: None,
        queue: None,
    };

    pub fn delay(delay_min: Duration) -> Self {
        Self {
            delay_min,
            ..Self::NONE
        }
    }

    /// Returns the effect of a rate limit without a queue.
    pub fn policer(rate: BitRate) -> Self {
        Self {
            rate: Some(rate),
            ..Self::NONE
        }
    }

    pub fn link(rate_mean: BitRate, queue: &'a QueueSpec) -> Self {
        Self {
            rate: Some(rate_mean),
            queue: Some(queue),
            ..Self::NONE
        }
    }
}

/// The rate, delay and queue of a direction's stages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DirectionFacts {
    /// The lowest mean rate of links and policers; 0 without one.
    pub rate_bit_s: u64,
    /// The smallest delay of every packet, without the time on links, in milliseconds.
    pub delay_ms_min: f64,
    /// The most that the queues hold, in milliseconds at `rate_bit_s`.
    pub queue_ms_max: f64,
}

impl DirectionFacts {
    /// Computes the facts of stages whose files were read.
    ///
    /// # Errors
    /// When a number is out of range or a file was not read.
    pub fn new(stages: &[StageSpec]) -> Result<Self, SpecError> {
        let effects = stages
            .iter()
            .map(StageSpec::effect)
            .collect::<Result<Vec<_>, _>>()?;
        let delay_min: Duration = effects.iter().map(|effect| effect.delay_min).sum();
        let slowest = effects.iter().filter_map(|effect| effect.rate).min();
        let queue_ms_max = slowest.map_or(0.0, |rate| {
            let queues = effects.iter().filter_map(|effect| effect.queue);
            queues.map(|queue| queue.ms_max(rate)).fold(0.0, f64::max)
        });
        Ok(Self {
            rate_bit_s: slowest.map_or(0, BitRate::bits_per_second),
            delay_ms_min: delay_min.as_nanos() as f64 / 1e6,
            queue_ms_max,
        })
    }
}
