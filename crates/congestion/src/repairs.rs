use std::collections::{BTreeMap, VecDeque};

/// The number of packets by which a retransmission may be older than the newest acknowledged one:
/// beyond it is neither delivered nor lost any more, since its keys were discarded (QUIC's
/// handshake), and it is forgotten.
const REORDERING_MAX: u64 = 64;

/// Lost data that were not yet delivered, identified by the number of the packet that carried them
/// first: TCP's left edge of the window. A transport retransmits lost data before it sends new
/// ones, so the next bytes sent after a loss are assumed to be the retransmission.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repairs {
    /// Lost and not yet retransmitted: first number, bytes.
    waiting: VecDeque<(u64, u64)>,
    /// Retransmitted: the current number, and the first one.
    in_flight: BTreeMap<u64, u64>,
}

impl Repairs {
    /// Handles the sending of packet `number`; returns the number under which its data were sent
    /// first.
    pub(crate) fn on_sent(&mut self, number: u64, bytes: u64) -> u64 {
        let Some((first, _)) = self.waiting.front().copied() else {
            return number;
        };
        let mut room = bytes;
        while let Some((_, left)) = self.waiting.front_mut() {
            let part = room.min(*left);
            room -= part;
            *left -= part;
            if *left > 0 {
                break;
            }
            self.waiting.pop_front();
        }
        self.in_flight.insert(number, first);
        first
    }

    pub(crate) fn on_acked(&mut self, number: u64) {
        self.in_flight.remove(&number);
    }

    pub(crate) fn on_lost(&mut self, number: u64, first: u64, bytes: u64) {
        self.in_flight.remove(&number);
        self.waiting.push_back((first, bytes));
    }

    /// Drops the data waiting for retransmission: the transport has nothing more to send, so they
    /// need none.
    pub(crate) fn on_no_data(&mut self) {
        self.waiting.clear();
    }

    /// Returns the oldest data not yet delivered.
    pub(crate) fn oldest(&mut self, number_acked_newest: u64) -> Option<u64> {
        while let Some(entry) = self.in_flight.first_entry() {
            if *entry.key() + REORDERING_MAX > number_acked_newest {
                break;
            }
            entry.remove();
        }
        let waiting = self.waiting.iter().map(|(first, _)| *first);
        waiting.chain(self.in_flight.values().copied()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_lost_data_through_their_repetitions() {
        let mut repairs = Repairs::default();
        assert_eq!(repairs.on_sent(5, 1000), 5);
        repairs.on_lost(3, 3, 1000);
        repairs.on_lost(5, 5, 1000);
        assert_eq!(repairs.oldest(6), Some(3));
        assert_eq!(repairs.on_sent(7, 1000), 3);
        assert_eq!(repairs.on_sent(8, 1000), 5);
        assert_eq!(repairs.on_sent(9, 1000), 9);
        // The retransmission is lost too.
        repairs.on_lost(7, 3, 1000);
        assert_eq!(repairs.on_sent(10, 1000), 3);
        repairs.on_acked(10);
        assert_eq!(repairs.oldest(10), Some(5));
        repairs.on_acked(8);
        assert_eq!(repairs.oldest(10), None);
    }

    #[test]
    fn forgets_retransmissions_that_cannot_be_acknowledged() {
        let mut repairs = Repairs::default();
        repairs.on_lost(0, 0, 1000);
        assert_eq!(repairs.on_sent(1, 1000), 0);
        assert_eq!(repairs.oldest(64), Some(0));
        assert_eq!(repairs.oldest(65), None);
        repairs.on_lost(2, 2, 1000);
        repairs.on_no_data();
        assert_eq!(repairs.oldest(65), None);
    }
}
