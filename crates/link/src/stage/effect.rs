//! What stages come to: the numbers by which others size buffers and set time limits.

use crate::{QueueSpec, SpecError, StageSpec};
use eyelevel_units::{BitRate, Duration};
use serde::Serialize;

/// What one stage does to every packet.
#[derive(Debug)]
pub(crate) struct Effect<'a> {
    /// By how much every packet is delayed at least, without the time on a link.
    pub delay_min: Duration,
    /// Of a link: its mean rate in the long run, and its queue.
    pub link: Option<(BitRate, &'a QueueSpec)>,
}

impl<'a> Effect<'a> {
    /// Some packets pass at once, and none waits for another.
    pub const NONE: Self = Self {
        delay_min: Duration::ZERO,
        link: None,
    };

    pub fn delay(delay_min: Duration) -> Self {
        Self {
            delay_min,
            link: None,
        }
    }

    pub fn link(rate_mean: BitRate, queue: &'a QueueSpec) -> Self {
        Self {
            delay_min: Duration::ZERO,
            link: Some((rate_mean, queue)),
        }
    }
}

/// What a direction's stages come to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DirectionFacts {
    /// The lowest mean rate of the links; 0 without a link.
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
        let links = || effects.iter().filter_map(|effect| effect.link);
        let slowest = links().map(|(rate, _)| rate).min();
        let queue_ms_max = slowest.map_or(0.0, |rate| {
            links()
                .map(|(_, queue)| queue.ms_max(rate))
                .fold(0.0, f64::max)
        });
        Ok(Self {
            rate_bit_s: slowest.map_or(0, BitRate::bits_per_second),
            delay_ms_min: delay_min.as_nanos() as f64 / 1e6,
            queue_ms_max,
        })
    }
}
