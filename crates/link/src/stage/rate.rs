use super::effect::Effect;
use super::interface::{StageSettings, StageState};
use crate::error::At;
use crate::observer::{EventKind, Observer, Reports};
use crate::queue::Queue;
use crate::queued_packet::QueuedPacket;
use crate::words::Words;
use crate::{QueueSpec, SpecError};
use eyelevel_units::{BitRate, Instant, Seed, Transmitter};
use serde::{Deserialize, Serialize};

/// A link of constant rate with a queue in front of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateSpec {
    /// The rate in bits of IP packets per second.
    pub rate_bit_s: u64,
    /// The queue; unbounded if it is not given.
    #[serde(default)]
    pub queue: QueueSpec,
}

impl StageSettings for RateSpec {
    const IS_LINK: bool = true;

    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        Ok(Self {
            rate_bit_s: words.rate()?.bits_per_second(),
            queue: QueueSpec::Infinite,
        })
    }

    fn effect(&self) -> Result<Effect<'_>, SpecError> {
        let rate = BitRate::from_bits_per_second(self.rate_bit_s).at(|| "rate_bit_s".into())?;
        Ok(Effect::link(rate, &self.queue))
    }

    fn queue_mut(&mut self) -> Option<&mut QueueSpec> {
        Some(&mut self.queue)
    }
}

/// The state of a link: one packet in transmission, the others in the queue. A packet leaves when
/// its last bit has been sent.
#[derive(Debug)]
pub(crate) struct Rate<P> {
    transmitter: Transmitter,
    queue: Queue<P>,
    in_transmission: Option<QueuedPacket<P>>,
    /// Time when the packet in transmission leaves, or when the last one left.
    busy_until: Instant,
}

impl<P> StageState<P> for Rate<P> {
    type Settings = RateSpec;

    fn new(settings: &RateSpec, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let rate = BitRate::from_bits_per_second(settings.rate_bit_s)
            .at(|| format!("{place}: rate_bit_s"))?;
        let queue = Queue::new(&settings.queue, rate, seed, &format!("{place}: queue"))?;
        Ok(Self {
            transmitter: Transmitter::new(rate),
            queue,
            in_transmission: None,
            busy_until: Instant::ZERO,
        })
    }

    fn start(&mut self, origin: Instant) {
        self.queue.start(origin);
    }

    #[inline]
    fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        self.queue.enqueue(at, queued_packet, reports);
        if self.in_transmission.is_none() {
            if at > self.busy_until {
                self.transmitter.restart();
            }
            self.begin(at, reports);
        }
        None
    }

    #[inline]
    fn deadline(&self) -> Instant {
        if self.in_transmission.is_some() {
            self.busy_until
        } else {
            Instant::MAX
        }
    }

    #[inline]
    fn handle_timeout<O: Observer<P>>(
        &mut self,
        at: Instant,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        let sent = self.in_transmission.take()?;
        let queued = at.since(sent.entered);
        reports.event(at, &sent, EventKind::Served { queued });
        self.begin(at, reports);
        Some(sent)
    }
}

impl<P> Rate<P> {
    /// Begins the transmission of the next queued packet, if there is one.
    fn begin<O: Observer<P>>(&mut self, at: Instant, reports: &mut Reports<'_, O>) {
        self.in_transmission = self.queue.dequeue(at, reports);
        if let Some(next) = &self.in_transmission {
            self.busy_until = at + self.transmitter.transmit(next.packet.wire_bytes);
        }
    }
}
