use super::effect::Effect;
use super::interface::{StageSettings, StageState};
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::recorded::{ReadFile, Recorded};
use crate::trace;
use crate::words::Words;
use crate::{DropReason, SpecError};
use eyelevel_units::{Instant, Seed};
use serde::{Deserialize, Serialize};

/// A stage that loses the packets at given positions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedLossSpec {
    /// Positions among the packets that reach this stage, from 0; in a file one per line.
    pub positions: Recorded<u64>,
    /// The number of packets after which the list repeats; without it, later packets pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period_packets: Option<u64>,
}

impl StageSettings for RecordedLossSpec {
    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let positions = Recorded::from_file(words.file()?);
        let repeats = words.take("period");
        let period_packets = repeats
            .then(|| words.count("a count of packets"))
            .transpose()?;
        Ok(Self {
            positions,
            period_packets,
        })
    }

    fn effect(&self) -> Result<Effect<'_>, SpecError> {
        Ok(Effect::NONE)
    }

    fn load_files(&mut self, read: &mut ReadFile<'_>) -> Result<(), SpecError> {
        self.positions
            .load(read, trace::parse_line, "a packet's position, from 0")
    }
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

impl<P> StageState<P> for RecordedLoss {
    type Settings = RecordedLossSpec;

    fn new(settings: &RecordedLossSpec, _seed: Seed, place: &str) -> Result<Self, SpecError> {
        let mut positions = settings
            .positions
            .values(&format!("{place}: positions"))?
            .to_vec();
        positions.sort_unstable();
        positions.dedup();
        let period = settings.period_packets.unwrap_or(u64::MAX);
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

    fn handle_packet<O: Observer<P>>(
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
