use crate::{Growth, LossBased, Rtt, SlowStart};
use eyelevel_units::Instant;

/// Reno (RFC 5681, RFC 6582) with proportional rate reduction, as the kernel's `reno`.
pub type Reno = LossBased<RenoGrowth>;

/// Growth by one packet per acknowledged window, and half the window on congestion.
#[derive(Clone, Debug, Default)]
pub struct RenoGrowth;

impl Growth for RenoGrowth {
    const NAME: &'static str = "reno";
    const SLOW_START: SlowStart = SlowStart::Plain;

    fn on_congestion(&mut self, window_packets: u64) -> u64 {
        window_packets / 2
    }

    fn packets_per_increase(&mut self, _: Instant, window_packets: u64, _: u64, _: &Rtt) -> u64 {
        window_packets
    }
}
