use crate::{Growth, LossBased, Rtt, SlowStart};
use eyelevel_units::{Duration, Instant};

/// CUBIC (RFC 9438) with the kernel's constants and integers, HyStart and proportional rate
/// reduction.
pub type Cubic = LossBased<CubicGrowth>;

/// The multiplicative decrease, 0.7, in 1/1024.
const BETA: u64 = 717;
const SCALE: u64 = 1024;
/// C = 0.4 packets/s^3, as 410/1024.
const C: u64 = 410;
/// RFC 9438's alpha, 3 (1 - beta) / (1 + beta), as packets acknowledged per increase and packet of
/// the window, in eighths: 15/8.
const RENO_EIGHTHS: u64 = 8 * (SCALE + BETA) / 3 / (SCALE - BETA);
/// The growth until a first loss has shown the window's size: at least 5 % per round trip.
const PACKETS_PER_INCREASE_UNKNOWN: u64 = 20;
/// The largest growth, half a packet per packet acknowledged (RFC 9438 section 4.4's 1.5 bound).
const PACKETS_PER_INCREASE_MIN: u64 = 2;
/// The time after which the curve is evaluated again if the window is unchanged.
const UPDATE_INTERVAL: Duration = Duration::from_nanos(1_000_000_000 / 32);
/// The time after a recovery in which round trips are no sign of congestion.
const JUST_RECOVERED: Duration = Duration::from_secs(1);

/// The cubic curve, its Reno-friendly region and fast convergence.
#[derive(Clone, Debug, Default)]
pub struct CubicGrowth {
    /// The window before the last reduction, or less by fast convergence; 0 if unknown.
    window_max_packets: u64,
    epoch: Option<Epoch>,
    updated: Option<(Instant, u64)>,
    packets_per_increase: u64,
}

#[derive(Clone, Copy, Debug)]
struct Epoch {
    started_at: Instant,
    /// The plateau.
    origin_packets: u64,
    /// Time when the plateau is reached, in 1/1024 s from the start.
    plateau: u64,
    /// The window of Reno.
    reno_packets: u64,
    packets_acked: u64,
}

impl Epoch {
    fn new(now: Instant, window: u64, window_max: u64) -> Self {
        let missing = window_max.saturating_sub(window);
        // K^3 = (W_max - W) / C, in (1/1024 s)^3.
        let cube = (u128::from(missing) << 40) / u128::from(C);
        Self {
            started_at: now,
            origin_packets: window_max.max(window),
            plateau: cube_root(cube),
            reno_packets: window,
            packets_acked: 0,
        }
    }

    /// Returns the value of the curve one smallest round trip ahead.
    fn target_packets(&self, now: Instant, rtt_min: Duration) -> u64 {
        let elapsed = now.since(self.started_at) + rtt_min;
        let time = u64::try_from(elapsed.as_nanos() * 1024 / 1_000_000_000).unwrap_or(u64::MAX);
        let offset = u128::from(time.abs_diff(self.plateau));
        let delta = (u128::from(C) * offset.pow(3).min(1 << 100)) >> 40;
        let delta = u64::try_from(delta).unwrap_or(u64::MAX);
        if time < self.plateau {
            self.origin_packets.saturating_sub(delta)
        } else {
            self.origin_packets.saturating_add(delta)
        }
    }

    /// Advances Reno's window by the growth of RFC 9438 section 4.3.
    fn advance_reno(&mut self, window: u64) {
        let every = (window * RENO_EIGHTHS / 8).max(1);
        let increases = self.packets_acked.saturating_sub(1) / every;
        self.packets_acked -= increases * every;
        self.reno_packets += increases;
    }
}

impl Growth for CubicGrowth {
    const NAME: &'static str = "cubic";
    const SLOW_START: SlowStart = SlowStart::HyStart;

    fn on_congestion(&mut self, window_packets: u64) -> u64 {
        self.epoch = None;
        // Fast convergence: a window that did not grow as far as last time makes room.
        self.window_max_packets = if window_packets < self.window_max_packets {
            window_packets * (SCALE + BETA) / (2 * SCALE)
        } else {
            window_packets
        };
        window_packets * BETA / SCALE
    }

    fn packets_per_increase(
        &mut self,
        now: Instant,
        window_packets: u64,
        packets_acked: u64,
        rtt: &Rtt,
    ) -> u64 {
        if let Some(epoch) = &mut self.epoch {
            epoch.packets_acked += packets_acked;
        }
        let recent = self.updated.is_some_and(|(at, window)| {
            window == window_packets && now.since(at) <= UPDATE_INTERVAL
        });
        if recent {
            return self.packets_per_increase;
        }
        self.updated = Some((now, window_packets));
        let unknown = self.window_max_packets == 0;
        let window_max = self.window_max_packets;
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            packets_acked,
            ..Epoch::new(now, window_packets, window_max)
        });
        let target = epoch.target_packets(now, rtt.min.unwrap_or_default());
        let mut every = match target.saturating_sub(window_packets) {
            0 => 100 * window_packets,
            missing => window_packets / missing,
        };
        if unknown {
            every = every.min(PACKETS_PER_INCREASE_UNKNOWN);
        }
        epoch.advance_reno(window_packets);
        if epoch.reno_packets > window_packets {
            every = every.min(window_packets / (epoch.reno_packets - window_packets));
        }
        self.packets_per_increase = every.max(PACKETS_PER_INCREASE_MIN);
        self.packets_per_increase
    }

    /// Excludes time without sending from the curve (RFC 9438 section 5.8).
    fn on_idle(&mut self, now: Instant, idle: Duration) {
        if let Some(epoch) = &mut self.epoch {
            epoch.started_at = (epoch.started_at + idle).min(now);
        }
    }

    fn on_timeout(&mut self) {
        *self = Self::default();
    }

    fn is_just_recovered(&self, now: Instant) -> bool {
        self.epoch
            .is_some_and(|epoch| now.since(epoch.started_at) < JUST_RECOVERED)
    }
}

/// Returns the largest integer whose cube is not above `value`.
fn cube_root(value: u128) -> u64 {
    let (mut low, mut high) = (0u64, 1 << 40);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if u128::from(middle).pow(3) <= value {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rtt(ms: u64) -> Rtt {
        Rtt {
            min: Some(Duration::from_millis(ms)),
            ..Rtt::default()
        }
    }

    #[test]
    fn cube_roots_are_exact() {
        for root in [0u64, 1, 2, 3, 1000, 123_456, 1 << 39] {
            let cube = u128::from(root).pow(3);
            assert_eq!(cube_root(cube), root);
            assert_eq!(cube_root(cube + 1), root.max(1));
        }
    }

    #[test]
    fn the_plateau_is_that_of_rfc_9438() {
        // W_max 1000, W 700: K = cbrt(300 / 0.4) = 9.086 s.
        let epoch = Epoch::new(Instant::ZERO, 700, 1000);
        let seconds = epoch.plateau as f64 / 1024.0;
        assert!((seconds - 9.086).abs() < 0.01, "{seconds}");
        let at =
            |ms: u64| epoch.target_packets(Instant::from_nanos(ms * 1_000_000), Duration::ZERO);
        assert_eq!(at(0), 701);
        assert_eq!(at(9_086), 1000);
        // Two seconds past it: 0.4 * 8 packets.
        assert_eq!(at(11_086), 1003);
    }

    #[test]
    fn shrinks_to_seven_tenths_and_converges() {
        let mut growth = CubicGrowth::default();
        assert_eq!(growth.on_congestion(100), 70);
        assert_eq!(growth.window_max_packets, 100);
        assert_eq!(growth.on_congestion(80), 56);
        assert_eq!(growth.window_max_packets, 68);
    }

    #[test]
    fn small_windows_grow_as_reno_would() {
        let mut growth = CubicGrowth::default();
        growth.on_congestion(20);
        let mut now = Instant::from_nanos(1);
        let (mut window, mut credit) = (14u64, 0u64);
        // 20 ms round trips: the curve needs 2.5 s to its plateau, Reno's line is above it.
        for _ in 0..50 {
            let every = growth.packets_per_increase(now, window, window, &rtt(20));
            if credit >= every {
                (window, credit) = (window + 1, 0);
            }
            credit += window;
            window += credit / every;
            credit %= every;
            now += Duration::from_millis(40);
        }
        assert!((30..48).contains(&window), "{window}");
    }

    #[test]
    fn before_any_loss_it_grows_five_percent_a_round() {
        let mut growth = CubicGrowth::default();
        let every = growth.packets_per_increase(Instant::from_nanos(1), 100, 2, &rtt(100));
        assert_eq!(every, 20);
    }
}
