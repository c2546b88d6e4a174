use eyelevel_units::Instant;
use std::time::Duration;

/// The oldest valid timestamp; an older one was made before the wall clock was set.
const WAITED_MAX: Duration = Duration::from_secs(60);

/// A packet that was read.
#[derive(Clone, Copy, Debug)]
pub struct ReadPacket {
    /// The length of the packet and the offload header before it, bytes.
    pub length: usize,
    /// When the read returned.
    pub at: Instant,
    /// The kernel's timestamp of when the namespace sent it to the device, if there is one.
    pub came: Option<Instant>,
}

impl ReadPacket {
    /// Removes an implausibly old timestamp and limits one that is later than the read.
    #[inline]
    pub(crate) fn drop_invalid_stamp(mut self) -> Self {
        let is_sound = |came: &Instant| self.at.since(*came) < WAITED_MAX;
        self.came = self.came.filter(is_sound).map(|came| came.min(self.at));
        self
    }
}
