use crate::held::Held;
use std::collections::VecDeque;

/// Packets in order of arrival with their sum of bytes; the store of every simple discipline, and
/// the `infinite` one by itself.
#[derive(Debug)]
pub(crate) struct Fifo<P> {
    packets: VecDeque<Held<P>>,
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
    pub(crate) fn push(&mut self, held: Held<P>) {
        self.bytes += held.bytes();
        self.packets.push_back(held);
    }

    pub(crate) fn pop(&mut self) -> Option<Held<P>> {
        let held = self.packets.pop_front()?;
        self.bytes -= held.bytes();
        Some(held)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn packets(&self) -> u64 {
        self.packets.len() as u64
    }
}
