use crate::error::At;
use crate::observer::{EventKind, Observer, Reports};
use crate::queue::Queue;
use crate::queued_packet::QueuedPacket;
use crate::{QueueSpec, SpecError};
use eyelevel_units::{BitRate, Instant, Seed, Transmitter};

/// A link of constant rate: one packet in transmission, the others in the queue. A packet leaves
/// when its last bit has been sent.
#[derive(Debug)]
pub(crate) struct Rate<P> {
    transmitter: Transmitter,
    queue: Queue<P>,
    in_transmission: Option<QueuedPacket<P>>,
    /// When the packet in transmission leaves, or when the last one left.
    busy_until: Instant,
}

impl<P> Rate<P> {
    pub(crate) fn new(
        rate_bit_s: u64,
        queue: &QueueSpec,
        seed: Seed,
        place: &str,
    ) -> Result<Self, SpecError> {
        let rate =
            BitRate::from_bits_per_second(rate_bit_s).at(|| format!("{place}: rate_bit_s"))?;
        let queue = Queue::new(queue, rate, seed, &format!("{place}: queue"))?;
        Ok(Self {
            transmitter: Transmitter::new(rate),
            queue,
            in_transmission: None,
            busy_until: Instant::ZERO,
        })
    }

    pub(crate) fn start(&mut self, origin: Instant) {
        self.queue.start(origin);
    }

    #[inline]
    pub(crate) fn handle_packet<O: Observer<P>>(
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
    pub(crate) fn deadline(&self) -> Instant {
        if self.in_transmission.is_some() {
            self.busy_until
        } else {
            Instant::MAX
        }
    }

    #[inline]
    pub(crate) fn handle_timeout<O: Observer<P>>(
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

    /// Begins the transmission of the next waiting packet, where there is one.
    fn begin<O: Observer<P>>(&mut self, at: Instant, reports: &mut Reports<'_, O>) {
        self.in_transmission = self.queue.dequeue(at, reports);
        if let Some(next) = &self.in_transmission {
            self.busy_until = at + self.transmitter.transmit(next.packet.wire_bytes);
        }
    }
}
