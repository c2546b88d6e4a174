use crate::DropReason;

/// The counters of one stage since its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageCounters {
    /// Packets that entered.
    pub packets: u64,
    /// Bytes that entered.
    pub bytes: u64,
    /// Packets whose ECN bits this stage set.
    pub marked: u64,
    /// Copies that this stage created.
    pub duplicated: u64,
    /// Packets that this stage corrupted.
    pub corrupted: u64,
    /// Packets dropped, by [`DropReason`].
    dropped: [u64; DropReason::ALL.len()],
}

impl StageCounters {
    /// Returns the packets that this stage dropped for this reason.
    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.dropped[reason as usize]
    }

    /// Returns the packets that this stage dropped.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.iter().sum()
    }

    pub(crate) fn count_drop(&mut self, reason: DropReason) {
        self.dropped[reason as usize] += 1;
    }
}
