use eyelevel_units::{Duration, Instant};

/// A delivery rate sample (draft-cheng-iccrg-delivery-rate-estimation): the bytes delivered in an
/// interval, the longer of the sending's and the acknowledging's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes delivered between the newest packet's sending and now.
    pub bytes: u64,
    /// The interval; not zero.
    pub interval: Duration,
    /// Bytes delivered in total when that packet was sent: it delimits rounds.
    pub bytes_delivered_prior: u64,
    /// Whether the packet was sent while the application limited the sender: then only a lower
    /// bound.
    pub app_limited: bool,
}

impl RateSample {
    /// Returns the rate in bytes/s.
    pub fn rate_bytes_s(&self) -> u64 {
        let rate = u128::from(self.bytes) * 1_000_000_000 / self.interval.as_nanos().max(1);
        u64::try_from(rate).unwrap_or(u64::MAX)
    }
}

/// The state of a packet between its sending and its acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct SentState {
    sent_at: Instant,
    first_sent_at: Instant,
    delivered_at: Instant,
    bytes_delivered: u64,
    app_limited: bool,
}

/// An estimator of the delivery rate from sent and acknowledged packets.
#[derive(Clone, Debug, Default)]
pub struct DeliverySampler {
    bytes_delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// While `Some`, packets are sent as application limited; ends when this many bytes were
    /// delivered.
    app_limited_until_bytes: Option<u64>,
    newest: Option<SentState>,
}

impl DeliverySampler {
    /// Returns the bytes delivered so far.
    pub fn bytes_delivered(&self) -> u64 {
        self.bytes_delivered
    }

    /// Returns whether packets sent now are application limited.
    pub fn app_limited(&self) -> bool {
        self.app_limited_until_bytes.is_some()
    }

    /// Marks the coming samples as application limited: the application has nothing more to send,
    /// or a controller wants them treated so.
    pub fn on_app_limited(&mut self, bytes_in_flight: u64) {
        self.app_limited_until_bytes = Some((self.bytes_delivered + bytes_in_flight).max(1));
    }

    /// Handles a packet that is sent; `bytes_in_flight_prior` is without it. The caller keeps the
    /// result with the packet.
    pub fn on_packet_sent(&mut self, now: Instant, bytes_in_flight_prior: u64) -> SentState {
        if bytes_in_flight_prior == 0 {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        SentState {
            sent_at: now,
            first_sent_at: self.first_sent_at,
            delivered_at: self.delivered_at,
            bytes_delivered: self.bytes_delivered,
            app_limited: self.app_limited(),
        }
    }

    /// Handles a packet that was delivered.
    pub fn on_packet_acked(&mut self, state: SentState, bytes: u64) {
        self.bytes_delivered += bytes;
        if self
            .newest
            .is_none_or(|newest| state.sent_at >= newest.sent_at)
        {
            self.newest = Some(state);
        }
    }

    /// Completes an acknowledgement; returns `None` if it covers no packet, or if its interval is
    /// below the smallest round trip, which no real bottleneck yields.
    pub fn on_ack(&mut self, now: Instant, rtt_min: Option<Duration>) -> Option<RateSample> {
        if self
            .app_limited_until_bytes
            .is_some_and(|until| self.bytes_delivered > until)
        {
            self.app_limited_until_bytes = None;
        }
        let newest = self.newest.take()?;
        self.delivered_at = now;
        self.first_sent_at = newest.sent_at;
        let sending = newest.sent_at.since(newest.first_sent_at);
        let acknowledging = now.since(newest.delivered_at);
        let interval = sending.max(acknowledging);
        if interval.is_zero() || rtt_min.is_some_and(|min| interval < min) {
            return None;
        }
        Some(RateSample {
            bytes: self.bytes_delivered - newest.bytes_delivered,
            interval,
            bytes_delivered_prior: newest.bytes_delivered,
            app_limited: newest.app_limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn measures_the_slower_of_sending_and_acknowledging() {
        let mut sampler = DeliverySampler::default();
        // Ten packets in a burst, acknowledged one per millisecond after 100 ms.
        let states: Vec<_> = (0..10)
            .map(|n| sampler.on_packet_sent(at(0), n * 1000))
            .collect();
        let mut last = None;
        for (n, state) in (1..).zip(states) {
            sampler.on_packet_acked(state, 1000);
            last = sampler.on_ack(at(100 + n), None);
        }
        let sample = last.unwrap();
        assert_eq!((sample.bytes, sample.interval.as_millis()), (10_000, 110));
        assert!(!sample.app_limited);
    }

    #[test]
    fn marks_packets_after_the_application_ran_dry() {
        let mut sampler = DeliverySampler::default();
        let first = sampler.on_packet_sent(at(0), 0);
        sampler.on_app_limited(1000);
        let second = sampler.on_packet_sent(at(10), 1000);
        sampler.on_packet_acked(first, 1000);
        assert!(!sampler.on_ack(at(100), None).unwrap().app_limited);
        sampler.on_packet_acked(second, 1000);
        assert!(sampler.on_ack(at(110), None).unwrap().app_limited);
        assert!(!sampler.on_packet_sent(at(120), 0).app_limited);
    }

    #[test]
    fn refuses_an_interval_below_the_smallest_round_trip() {
        let mut sampler = DeliverySampler::default();
        let state = sampler.on_packet_sent(at(0), 0);
        sampler.on_packet_acked(state, 1000);
        assert_eq!(
            sampler.on_ack(at(10), Some(Duration::from_millis(20))),
            None
        );
    }
}
