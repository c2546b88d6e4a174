use crate::{Rtt, SlowStart};
use core::fmt::Debug;
use eyelevel_units::{Duration, Instant};

/// The growth and reduction of a loss-based controller, by which such controllers differ.
pub trait Growth: Debug + Clone + Default + Send + Sync + 'static {
    /// The controller's name.
    const NAME: &'static str;
    /// The end of its slow start unless the settings override it.
    const SLOW_START: SlowStart;

    /// Returns the window in packets after a congestion event in a window of `window_packets`.
    fn on_congestion(&mut self, window_packets: u64) -> u64;

    /// Returns how many packets must be acknowledged in congestion avoidance for the window to grow
    /// by one; at least 1.
    fn packets_per_increase(
        &mut self,
        now: Instant,
        window_packets: u64,
        packets_acked: u64,
        rtt: &Rtt,
    ) -> u64;

    /// Handles a restart after an idle period.
    fn on_idle(&mut self, now: Instant, idle: Duration) {
        let _ = (now, idle);
    }

    /// Handles a timeout, which resets everything learnt.
    fn on_timeout(&mut self) {}

    /// Returns whether round trips are still those of a queue that a recovery has just drained, and
    /// no sign for slow start.
    fn is_just_recovered(&self, now: Instant) -> bool {
        let _ = now;
        false
    }
}
