/// The reason for a drop, in one table for counters, logs and summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum DropReason {
    /// The queue was at its limit when this packet arrived.
    QueueFull,
    /// The queue was at its limit and dropped this packet, which had waited longest.
    QueueHead,
    /// Active queue management selected it.
    ActiveQueue,
    /// A random loss.
    Loss,
    /// A list of positions or an earlier log contained it.
    Recorded,
    /// The link was down.
    Outage,
    /// The direction held its maximum number of packets.
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

    /// Returns the reason's name in logs.
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
