use eyelevel_units::{Duration, Instant};

/// The number of a connection's packets that the kernel sends unpaced, whether the congestion
/// control paces itself or is made to. So 32 packets at twice 32 packets per round trip of 200 ms
/// leave over 22 gaps of 3.1 ms: 69 ms, as measured.
pub const UNPACED_PACKETS: u64 = 10;

/// The pacing rate in percent of window over round trip time, in slow start and from half the
/// threshold on: the defaults of the sysctls `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`.
const SLOW_START_PERCENT: u64 = 200;
const AVOIDANCE_PERCENT: u64 = 120;

/// Returns the kernel's pacing rate for controllers that have only a window, in bytes/s: twice the
/// window per round trip while the window is below half the threshold, 1.2 times from there on.
pub fn window_pacing_rate_bytes_s(
    window_bytes: u64,
    bytes_in_flight: u64,
    threshold_bytes: Option<u64>,
    smoothed_rtt: Duration,
) -> u64 {
    let percent = match threshold_bytes {
        Some(threshold) if window_bytes >= threshold / 2 => AVOIDANCE_PERCENT,
        _ => SLOW_START_PERCENT,
    };
    let bytes = u128::from(window_bytes.max(bytes_in_flight)) * u128::from(percent);
    let rate = bytes * 10_000_000 / smoothed_rtt.as_nanos().max(1);
    u64::try_from(rate).unwrap_or(u64::MAX).max(1)
}

/// A timer that schedules packets as the kernel's internal pacing does: a burst of at most one
/// quantum, then the time that its bytes take at the pacing rate. For senders in virtual time; a
/// real transport has its own pacer.
#[derive(Clone, Debug, Default)]
pub struct DepartureTimer {
    next: Instant,
    quantum_bytes_left: u64,
    quantum_bytes_sent: u64,
    packets_sent: u64,
}

impl DepartureTimer {
    /// Returns when the next packet may leave; a past time means now.
    pub fn departure(&self) -> Instant {
        if self.quantum_bytes_left > 0 {
            Instant::ZERO
        } else {
            self.next
        }
    }

    /// Handles a packet sent at the current pacing rate; `None`: unpaced.
    pub fn on_packet_sent(
        &mut self,
        now: Instant,
        bytes: u64,
        packet_bytes: u64,
        rate: Option<u64>,
    ) {
        self.packets_sent += 1;
        let Some(rate) = rate.filter(|_| self.packets_sent >= UNPACED_PACKETS) else {
            return;
        };
        if self.quantum_bytes_left == 0 {
            self.quantum_bytes_left = quantum_bytes(rate, packet_bytes);
            self.quantum_bytes_sent = 0;
        }
        self.quantum_bytes_left = self.quantum_bytes_left.saturating_sub(bytes);
        self.quantum_bytes_sent += bytes;
        // A late sender catches up on at most half a quantum's time.
        let time = transmission(self.quantum_bytes_sent, rate);
        let late = now.since(self.next);
        let start = if self.quantum_bytes_sent == bytes {
            now - late.min(time / 2)
        } else {
            self.next - transmission(self.quantum_bytes_sent - bytes, rate)
        };
        self.next = start + time;
    }

    /// Ends the quantum when the sender stopped for another reason than pacing.
    pub fn on_blocked(&mut self) {
        self.quantum_bytes_left = 0;
    }
}

/// Returns the bytes that the kernel sends at once: about a millisecond's worth, at least two
/// packets.
pub(crate) fn quantum_bytes(rate_bytes_s: u64, packet_bytes: u64) -> u64 {
    let packets = ((rate_bytes_s >> 10).min(65_536) / packet_bytes).max(2);
    packets * packet_bytes
}

fn transmission(bytes: u64, rate_bytes_s: u64) -> Duration {
    let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(rate_bytes_s.max(1));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_window_leaves_over_the_time_measured_of_the_kernel() {
        let window = 32 * 1448;
        let rate = window_pacing_rate_bytes_s(window, 0, None, Duration::from_millis(200));
        let mut timer = DepartureTimer::default();
        let mut now = Instant::ZERO;
        for _ in 0..32 {
            now = now.max(timer.departure());
            timer.on_packet_sent(now, 1448, 1448, Some(rate));
        }
        // 69 ms measured on Linux 6.18 for 32 packets at 200 ms.
        let span_ms = now.since(Instant::ZERO).as_secs_f64() * 1e3;
        assert!((62.0..76.0).contains(&span_ms), "{span_ms} ms");
    }

    #[test]
    fn the_ratio_falls_at_half_the_threshold() {
        let rtt = Duration::from_millis(100);
        assert_eq!(window_pacing_rate_bytes_s(10_000, 0, None, rtt), 200_000);
        assert_eq!(
            window_pacing_rate_bytes_s(10_000, 0, Some(20_002), rtt),
            200_000
        );
        assert_eq!(
            window_pacing_rate_bytes_s(10_000, 0, Some(20_000), rtt),
            120_000
        );
    }
}
