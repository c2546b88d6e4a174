//! Publishes a path's counts while it runs: the path writes them, and a reader never interrupts or
//! wakes it.

use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The counts of one direction at one time, since the start unless noted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DirectionState {
    /// Packets that arrived.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets written to the receiver's device.
    pub released_packets: u64,
    /// Their bytes.
    pub released_bytes: u64,
    /// Packets dropped for any reason.
    pub dropped_packets: u64,
    /// Packets whose ECN bits a queue set.
    pub marked_packets: u64,
    /// Packets inside the direction now.
    pub held_packets: u64,
    /// Packets that are queued or in transmission at its links now.
    pub queue_packets: u64,
    /// Their bytes.
    pub queue_bytes: u64,
    /// Queueing and transmission time of the last packet to leave a link.
    pub queue_delay_us: u64,
    /// Lateness of the last packet released.
    pub lateness_us: u64,
}

const FIELDS: usize = 11;

impl DirectionState {
    fn to_array(self) -> [u64; FIELDS] {
        [
            self.packets,
            self.bytes,
            self.released_packets,
            self.released_bytes,
            self.dropped_packets,
            self.marked_packets,
            self.held_packets,
            self.queue_packets,
            self.queue_bytes,
            self.queue_delay_us,
            self.lateness_us,
        ]
    }

    fn of_array(values: [u64; FIELDS]) -> Self {
        let [
            packets,
            bytes,
            released_packets,
            released_bytes,
            dropped_packets,
            marked_packets,
            held_packets,
            queue_packets,
            queue_bytes,
            queue_delay_us,
            lateness_us,
        ] = values;
        Self {
            packets,
            bytes,
            released_packets,
            released_bytes,
            dropped_packets,
            marked_packets,
            held_packets,
            queue_packets,
            queue_bytes,
            queue_delay_us,
            lateness_us,
        }
    }
}

/// A view of a running path. Values read together may be a few packets apart.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    down: Arc<[AtomicU64; FIELDS]>,
    up: Arc<[AtomicU64; FIELDS]>,
}

/// Both directions at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PathState {
    /// The direction from the server to the client.
    pub down: DirectionState,
    /// The direction from the client to the server.
    pub up: DirectionState,
}

impl Watch {
    /// Returns the latest counts of the path.
    pub fn read(&self) -> PathState {
        let read = |cells: &[AtomicU64; FIELDS]| {
            DirectionState::of_array(std::array::from_fn(|i| cells[i].load(Ordering::Relaxed)))
        };
        PathState {
            down: read(&self.down),
            up: read(&self.up),
        }
    }

    pub(crate) fn publish(&self, state: &PathState) {
        for (cells, direction) in [(&self.down, state.down), (&self.up, state.up)] {
            for (cell, value) in cells.iter().zip(direction.to_array()) {
                cell.store(value, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_counts_are_read() {
        let state = PathState {
            down: DirectionState::of_array(std::array::from_fn(|i| i as u64)),
            up: DirectionState::of_array(std::array::from_fn(|i| 100 + i as u64)),
        };
        let watch = Watch::default();
        watch.clone().publish(&state);
        assert_eq!(watch.read(), state);
    }
}
