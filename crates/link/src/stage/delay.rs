use super::effect::Effect;
use super::interface::{StageSettings, StageState};
use crate::SpecError;
use crate::error::At;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::words::Words;
use eyelevel_units::{Duration, Instant, Seed, duration_from_ms};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A stage in which every packet leaves `delay_ms` after it arrived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelaySpec {
    /// One-way delay in milliseconds, down to the nanosecond.
    pub delay_ms: f64,
}

impl StageSettings for DelaySpec {
    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let delay_ms = words.ms()?;
        Ok(Self { delay_ms })
    }

    fn effect(&self) -> Result<Effect<'_>, SpecError> {
        let delay = duration_from_ms(self.delay_ms).at(|| "delay_ms".into())?;
        Ok(Effect::delay(delay))
    }
}

/// A fixed one-way delay.
#[derive(Debug)]
pub(crate) struct Delay<P> {
    delay: Duration,
    travelling: VecDeque<QueuedPacket<P>>,
}

impl<P> StageState<P> for Delay<P> {
    type Settings = DelaySpec;

    fn new(settings: &DelaySpec, _seed: Seed, place: &str) -> Result<Self, SpecError> {
        let delay = duration_from_ms(settings.delay_ms).at(|| format!("{place}: delay_ms"))?;
        Ok(Self {
            delay,
            travelling: VecDeque::new(),
        })
    }

    #[inline]
    fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        if self.delay.is_zero() {
            return Some(queued_packet);
        }
        let queued_packet = reports.admit(at, queued_packet, self.travelling.len())?;
        self.travelling.push_back(queued_packet);
        None
    }

    #[inline]
    fn deadline(&self) -> Instant {
        self.travelling
            .front()
            .map_or(Instant::MAX, |queued_packet| {
                queued_packet.entered + self.delay
            })
    }

    #[inline]
    fn handle_timeout<O: Observer<P>>(
        &mut self,
        _at: Instant,
        _reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        self.travelling.pop_front()
    }
}
