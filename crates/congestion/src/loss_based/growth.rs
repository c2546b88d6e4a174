use crate::{Rtt, SlowStart};
use core::fmt::Debug;
use eyelevel_units::{Duration, Instant};

/// What makes one loss-based controller differ from another: how it grows and how it shrinks.
pub trait Growth: Debug + Clone + Default + Send + Sync + 'static {
    /// The controller's name.
    const NAME: &'static str;
    /// How its slow start ends unless the settings say otherwise.
    const SLOW_START: SlowStart;

    /// The window in packets after a congestion event in a window of `window_packets`.
    fn on_congestion(&mut self, window_packets: u64) -> u64;

    /// In congestion avoidance: how many packets must be acknowledged for the window to grow by
    /// one; at least 1.
    fn packets_per_increase(
        &mut self,
        now: Instant,
        window_packets: u64,
        packets_acked: u64,
        rtt: &Rtt,
    ) -> u64;

    /// The connection sends again, having been idle since so long.
    fn on_idle(&mut self, now: Instant, idle: Duration) {
        let _ = (now, idle);
    }

    /// A timeout: everything learnt is void.
    fn on_timeout(&mut self) {}

    /// Whether round trips are still those of a queue that a recovery has just drained, and say
    /// nothing about slow start.
    fn is_just_recovered(&self, now: Instant) -> bool {
        let _ = now;
        false
    }
}
