use crate::SpecError;
use crate::error::At;
use crate::held::{HELD_MAX, Held};
use crate::observer::{DropReason, Observer, Reports};
use eyelevel_units::{Duration, Instant, duration_from_ms};
use std::collections::VecDeque;

/// A fixed one-way delay.
#[derive(Debug)]
pub(crate) struct Delay<P> {
    delay: Duration,
    travelling: VecDeque<Held<P>>,
}

impl<P> Delay<P> {
    pub(crate) fn new(delay_ms: f64, place: &str) -> Result<Self, SpecError> {
        let delay = duration_from_ms(delay_ms).at(|| format!("{place}: delay_ms"))?;
        Ok(Self {
            delay,
            travelling: VecDeque::new(),
        })
    }

    #[inline]
    pub(crate) fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        held: Held<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<Held<P>> {
        if self.delay.is_zero() {
            return Some(held);
        }
        if self.travelling.len() >= HELD_MAX {
            reports.dropped(at, held, DropReason::Bound);
            return None;
        }
        self.travelling.push_back(held);
        None
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.travelling
            .front()
            .map_or(Instant::MAX, |held| held.entered + self.delay)
    }

    #[inline]
    pub(crate) fn handle_timeout(&mut self) -> Option<Held<P>> {
        self.travelling.pop_front()
    }
}
