/// Why a packet was dropped. One table for counters, logs and summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum DropReason {
    /// The queue was at its limit when this packet came.
    QueueFull,
    /// The queue was at its limit and gave up this packet, which had waited longest.
    QueueHead,
    /// Active queue management chose it.
    ActiveQueue,
    /// A random loss.
    Loss,
    /// A list of positions or an earlier log said so.
    Recorded,
    /// The link was down.
    Outage,
    /// The direction held as many packets as it ever may.
    Bound,
    /// It exceeded a policer's rate and burst.
    Policed,
}

impl DropReason {
    /// Every reason, in the order of its number.
    pub const ALL: [Self; 8] = [
        Self::QueueFull,
        Self::QueueHead,
        Self::ActiveQueue,
        Self::Loss,
        Self::Recorded,
        Self::Outage,
        Self::Bound,
        Self::Policed,
    ];

    /// The reason's name in logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue-full",
            Self::QueueHead => "queue-head",
            Self::ActiveQueue => "active-queue",
            Self::Loss => "loss",
            Self::Recorded => "recorded",
            Self::Outage => "outage",
            Self::Bound => "bound",
            Self::Policed => "policed",
        }
    }
}
