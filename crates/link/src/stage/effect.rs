//! What stages come to: the numbers by which others size buffers and set time limits.

use crate::{QueueSpec, SpecError, StageSpec};
use eyelevel_units::{BitRate, Duration};
use serde::Serialize;

/// What one stage does to every packet.
#[derive(Debug)]
pub(crate) struct Effect<'a> {
    /// By how much every packet is delayed at least, without the time on a link.
    pub delay_min: Duration,
    /// Of what limits the rate: the mean in the long run.
    pub rate: Option<BitRate>,
    /// Of a link: its queue.
    pub queue: Option<&'a QueueSpec>,
}

impl<'a> Effect<'a> {
    /// Some packets pass at once, and none waits for another.
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

    /// A limit of the rate behind which nothing waits.
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

/// What a direction's stages come to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DirectionFacts {
    /// The lowest mean rate of links and policers; 0 without one.
    pub rate_bit_s: u64,
    /// By how much every packet is delayed at least, without the time on links.
    pub delay_ms_min: f64,
    /// What the queues hold at most, in time at `rate_bit_s`.
    pub queue_ms_max: f64,
}

impl DirectionFacts {
    /// Of stages whose files were read.
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
