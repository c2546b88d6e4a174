use eyelevel_units::Instant;
use std::time::Duration;

/// A stamp that is older than this was made before somebody set the wall clock.
const WAITED_MAX: Duration = Duration::from_secs(60);

/// A packet that was read.
#[derive(Clone, Copy, Debug)]
pub struct ReadPacket {
    /// Bytes of the packet and of the offload header before it.
    pub length: usize,
    /// When the read returned.
    pub at: Instant,
    /// When the namespace handed it to the device, by the kernel's stamp; none where the kernel gave
    /// none.
    pub came: Option<Instant>,
}

impl ReadPacket {
    /// Without a stamp that cannot be right, and with none after the read.
    #[inline]
    pub(crate) fn with_sound_stamp(mut self) -> Self {
        let is_sound = |came: &Instant| self.at.since(*came) < WAITED_MAX;
        self.came = self.came.filter(is_sound).map(|came| came.min(self.at));
        self
    }
}
