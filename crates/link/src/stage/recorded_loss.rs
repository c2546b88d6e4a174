use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::recorded::Recorded;
use crate::{DropReason, SpecError};
use eyelevel_units::Instant;
use serde::{Deserialize, Serialize};

/// Loses the packets at given positions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedLossSpec {
    /// Positions among the packets that reach this stage, from 0; in a file one a line.
    pub positions: Recorded<u64>,
    /// Repeats the list after so many packets; without it, later packets pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period_packets: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct RecordedLoss {
    /// Sorted, without repetition.
    positions: Vec<u64>,
    period: u64,
    /// The position of the next packet within the period, and of the next loss in `positions`.
    position: u64,
    next: usize,
}

impl RecordedLoss {
    pub(crate) fn new(spec: &RecordedLossSpec, place: &str) -> Result<Self, SpecError> {
        let mut positions = spec
            .positions
            .values(&format!("{place}: positions"))?
            .to_vec();
        positions.sort_unstable();
        positions.dedup();
        let period = spec.period_packets.unwrap_or(u64::MAX);
        let last = *positions.last().expect("an empty list is refused");
        if period <= last {
            return Err(SpecError::setting(
                place,
                format!("period_packets {period} does not reach past position {last}"),
                format!("use at least {}", last.saturating_add(1)),
            ));
        }
        Ok(Self {
            positions,
            period,
            position: 0,
            next: 0,
        })
    }

    pub(crate) fn handle_packet<P, O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        let lost = self.positions.get(self.next) == Some(&self.position);
        self.next += usize::from(lost);
        self.position += 1;
        if self.position == self.period {
            (self.position, self.next) = (0, 0);
        }
        if lost {
            reports.dropped(at, queued_packet, DropReason::Recorded);
            return None;
        }
        Some(queued_packet)
    }
}
