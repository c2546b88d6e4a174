use crate::{Ack, Controller, Loss, PacketAcked, Settings};
use eyelevel_units::{Duration, Instant};

/// The shortest time over which arrivals are counted.
const TICK: Duration = Duration::from_millis(20);
/// The gap of sending after which a packet measures the sender and not the link: the tick has ended
/// before it.
const SENDING_GAP: Duration = Duration::from_millis(5);
/// The weight of one tick.
const ALPHA: f64 = 1.0 / 8.0;
/// The smallest window; below it nothing could be sent that would raise the rate again.
const WINDOW_PACKETS_MIN: f64 = 2.0;

/// Sprout-EWMA: Winstein, Sivaraman and Balakrishnan, "Stochastic forecasts achieve high throughput
/// and low delay over cellular networks", NSDI 2013, with the parameters of Das's thesis of 2014,
/// section 6.2.
///
/// The window is the smoothed arrival rate times a horizon, the larger of 100 ms and the smallest
/// round trip time (Das's text has the smaller, his code the larger; the smaller starves round
/// trips above 100 ms, and is a setting). Neither losses nor timeouts matter, and nothing is paced.
///
/// Arrival times are the receiver's if it reports them, else those of its acknowledgements. Results
/// of the two are not one algorithm's.
#[derive(Clone, Debug)]
pub struct SproutEwma {
    packet_bytes: u64,
    initial_window_packets: u64,
    target_delay: Duration,
    horizon_min: bool,
    probe_gain: f64,
    rate_bytes_s: Option<f64>,
    rtt_min: Option<Duration>,
    tick: Option<Tick>,
}

#[derive(Clone, Copy, Debug)]
struct Tick {
    started_at: Instant,
    bytes: u64,
    sent_at: Instant,
}

impl SproutEwma {
    /// Creates the state of a new connection; the settings must be validated.
    pub fn new(settings: &Settings) -> Self {
        Self {
            packet_bytes: settings.packet_bytes,
            initial_window_packets: settings.initial_window_packets,
            target_delay: settings.sprout_target_delay,
            horizon_min: settings.sprout_horizon_min,
            probe_gain: settings.sprout_probe_gain,
            rate_bytes_s: None,
            rtt_min: None,
            tick: None,
        }
    }

    fn horizon(&self) -> Duration {
        let rtt_min = self.rtt_min.unwrap_or(self.target_delay);
        if self.horizon_min {
            self.target_delay.min(rtt_min)
        } else {
            self.target_delay.max(rtt_min)
        }
    }

    fn on_tick(&mut self, bytes: u64, length: Duration) {
        // The average starts at the value that yields the initial window.
        let initial = self.initial_window_bytes() as f64;
        let start = initial / (self.horizon().as_secs_f64() * self.probe_gain);
        let rate = self.rate_bytes_s.unwrap_or(start);
        let sample = bytes as f64 / length.as_secs_f64();
        self.rate_bytes_s = Some(rate * (1.0 - ALPHA) + sample * ALPHA);
    }

    /// Ends the tick before its time; it counts as a whole one.
    fn end_tick_early(&mut self) {
        if let Some(tick) = self.tick.take().filter(|tick| tick.bytes > 0) {
            self.on_tick(tick.bytes, TICK);
        }
    }
}

impl Controller for SproutEwma {
    fn name(&self) -> &'static str {
        "sprout_ewma"
    }

    fn on_packet_acked(&mut self, packet: &PacketAcked) {
        let rtt = packet.now.since(packet.sent_at);
        self.rtt_min = Some(self.rtt_min.map_or(rtt, |min| min.min(rtt)));
        let arrived_at = packet.arrived_at.unwrap_or(packet.now);
        if self
            .tick
            .is_some_and(|tick| packet.sent_at.since(tick.sent_at) > SENDING_GAP)
        {
            self.end_tick_early();
        }
        let tick = self.tick.get_or_insert(Tick {
            started_at: arrived_at,
            bytes: 0,
            sent_at: packet.sent_at,
        });
        tick.bytes += packet.bytes;
        tick.sent_at = tick.sent_at.max(packet.sent_at);
        let (bytes, length) = (tick.bytes, arrived_at.since(tick.started_at));
        if length >= TICK {
            (tick.started_at, tick.bytes) = (arrived_at, 0);
            self.on_tick(bytes, length);
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        // No packet followed.
        if ack.bytes_in_flight == 0 {
            self.end_tick_early();
        }
    }

    fn on_loss(&mut self, _loss: &Loss) {}

    fn on_packet_bytes(&mut self, packet_bytes: u64) {
        self.packet_bytes = packet_bytes.max(1);
    }

    fn window_bytes(&self) -> u64 {
        let Some(rate) = self.rate_bytes_s else {
            return self.initial_window_bytes();
        };
        let window = rate * self.horizon().as_secs_f64() * self.probe_gain;
        window.max(WINDOW_PACKETS_MIN * self.packet_bytes as f64) as u64
    }

    fn initial_window_bytes(&self) -> u64 {
        self.initial_window_packets * self.packet_bytes
    }

    fn bandwidth_bytes_s(&self) -> Option<u64> {
        self.rate_bytes_s.map(|rate| rate as u64)
    }

    fn state(&self) -> &'static str {
        match self.rate_bytes_s {
            Some(_) => "tracking",
            None => "start",
        }
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn sprout() -> SproutEwma {
        SproutEwma::new(&Settings {
            packet_bytes: 1000,
            initial_window_packets: 10,
            ..Settings::default()
        })
    }

    fn acked(sent_ms: u64, arrived_ms: u64) -> PacketAcked {
        PacketAcked {
            now: at(arrived_ms + 25),
            number: 0,
            sent_at: at(sent_ms),
            arrived_at: Some(at(arrived_ms)),
            bytes: 1000,
        }
    }

    #[test]
    fn a_whole_tick_counts_its_own_length() {
        let mut sprout = sprout();
        assert_eq!(sprout.window_bytes(), 10_000);
        for n in 0..4 {
            sprout.on_packet_acked(&acked(n, 25 + 8 * n));
        }
        // Four packets in 24 ms; the average starts at 10 kB in 100 ms.
        let rate = 100_000.0 * 7.0 / 8.0 + 4_000.0 / 0.024 / 8.0;
        assert!((sprout.rate_bytes_s.unwrap() - rate).abs() < 1e-6);
        assert_eq!(sprout.window_bytes(), (rate * 0.1) as u64);
    }

    #[test]
    fn a_gap_in_sending_ends_the_tick_which_counts_as_20_ms() {
        let mut sprout = sprout();
        sprout.on_packet_acked(&acked(0, 25));
        sprout.on_packet_acked(&acked(5, 26));
        assert_eq!(sprout.rate_bytes_s, None);
        sprout.on_packet_acked(&acked(11, 400));
        let rate = 100_000.0 * 7.0 / 8.0 + 2_000.0 / 0.020 / 8.0;
        assert!((sprout.rate_bytes_s.unwrap() - rate).abs() < 1e-6);
    }

    #[test]
    fn the_horizon_is_the_larger_or_on_request_the_smaller() {
        let mut sprout = sprout();
        sprout.rtt_min = Some(Duration::from_millis(300));
        assert_eq!(sprout.horizon(), Duration::from_millis(300));
        sprout.horizon_min = true;
        assert_eq!(sprout.horizon(), Duration::from_millis(100));
        sprout.rtt_min = Some(Duration::from_millis(30));
        assert_eq!(sprout.horizon(), Duration::from_millis(30));
    }
}
