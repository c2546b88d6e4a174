use crate::queued_packet::QueuedPacket;
use eyelevel_units::{Duration, Instant};
use std::collections::VecDeque;

/// Packets in order of arrival with the sum of their bytes: the store of every discipline.
#[derive(Debug)]
pub(crate) struct Fifo<P> {
    packets: VecDeque<QueuedPacket<P>>,
    bytes: u64,
}

impl<P> Default for Fifo<P> {
    fn default() -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: 0,
        }
    }
}

impl<P> Fifo<P> {
    #[inline]
    pub(crate) fn push(&mut self, queued_packet: QueuedPacket<P>) {
        self.bytes += queued_packet.bytes();
        self.packets.push_back(queued_packet);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<QueuedPacket<P>> {
        let queued_packet = self.packets.pop_front()?;
        self.bytes -= queued_packet.bytes();
        Some(queued_packet)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn packets(&self) -> u64 {
        self.packets.len() as u64
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Returns how long the packet at the head has waited; zero if there is none.
    pub(crate) fn age(&self, at: Instant) -> Duration {
        self.packets
            .front()
            .map_or(Duration::ZERO, |queued_packet| {
                at.since(queued_packet.entered)
            })
    }

    /// Returns the number of the packet at the head; the largest number if there is none.
    pub(crate) fn head_number(&self) -> u64 {
        self.packets
            .front()
            .map_or(u64::MAX, |queued_packet| queued_packet.number)
    }
}
