use crate::error::At;
use crate::observer::{Observer, Reports};
use crate::queued_packet::{QUEUED_PACKETS_MAX, QueuedPacket};
use crate::{DropReason, SpecError};
use eyelevel_units::{Duration, Instant, duration_from_ms};
use std::collections::VecDeque;

/// A fixed one-way delay.
#[derive(Debug)]
pub(crate) struct Delay<P> {
    delay: Duration,
    travelling: VecDeque<QueuedPacket<P>>,
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
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        if self.delay.is_zero() {
            return Some(queued_packet);
        }
        if self.travelling.len() >= QUEUED_PACKETS_MAX {
            reports.dropped(at, queued_packet, DropReason::Bound);
            return None;
        }
        self.travelling.push_back(queued_packet);
        None
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.travelling
            .front()
            .map_or(Instant::MAX, |queued_packet| {
                queued_packet.entered + self.delay
            })
    }

    #[inline]
    pub(crate) fn handle_timeout(&mut self) -> Option<QueuedPacket<P>> {
        self.travelling.pop_front()
    }
}
