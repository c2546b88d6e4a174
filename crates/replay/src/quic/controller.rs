//! Adapts our congestion controllers to noq's traits.

use super::meter::Meter;
use eyelevel_congestion::{Flow, Settings, UNPACED_PACKETS, by_name};
use eyelevel_units::{Duration as OwnDuration, Instant as OwnInstant};
use noq::congestion::{Controller, ControllerFactory, ControllerMetrics};
use noq_proto::RttEstimator;
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The rate of an unpaced stack, 8 Tbit/s, at which noq's pacer never delays anything, so that it
/// sends what its window allows. Without a rate from the controller, noq would pace by itself.
const UNPACED_BYTES_S: u64 = 1_000_000_000_000;

/// The minimum window (RFC 9002, section 7.2).
const WINDOW_PACKETS_MIN: u64 = 2;

/// A factory of one connection's controller.
#[derive(Clone, Debug)]
pub(super) struct Factory {
    /// A controller's name that the registry has.
    pub name: String,
    /// Validated settings.
    pub settings: Settings,
    /// The connection's meter.
    pub meter: Arc<Meter>,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, packet_bytes: u16) -> Box<dyn Controller> {
        let settings = Settings {
            packet_bytes: packet_bytes.into(),
            ..self.settings.clone()
        };
        let controller = by_name(&self.name, &settings)
            .expect("the server looked the controller up with these settings when it was made");
        self.meter
            .on_start(controller.name(), controller.window_bytes());
        Box::new(FlowController {
            flow: Flow::new(controller, packet_bytes.into()),
            started: now,
            packet_bytes: packet_bytes.into(),
            meter: self.meter.clone(),
            first_flight: FirstFlight::default(),
            sent_after_handshake: false,
            now: OwnInstant::ZERO,
        })
    }
}

/// A [`Flow`] with noq's controller trait.
#[derive(Clone, Debug)]
struct FlowController {
    flow: Flow,
    /// The origin of the flow's time.
    started: Instant,
    packet_bytes: u64,
    meter: Arc<Meter>,
    first_flight: FirstFlight,
    /// Whether anything was sent since the handshake's end.
    sent_after_handshake: bool,
    /// The time of the last event; noq passes none when a loss turned out to be spurious.
    now: OwnInstant,
}

impl FlowController {
    fn to_own_instant(&self, instant: Instant) -> OwnInstant {
        let since = instant.saturating_duration_since(self.started);
        OwnInstant::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }

    fn publish(&self) {
        self.meter.on_in_flight(self.flow.bytes_in_flight());
    }
}

impl Controller for FlowController {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.now = self.to_own_instant(now);
        self.flow.on_packet_sent(self.now, number, bytes.into());
        self.sent_after_handshake |= self.meter.is_ready();
        let full = u64::from(bytes) * 10 >= self.packet_bytes * 9;
        if full && self.meter.is_ready() && self.first_flight.on_packet_sent(self.now) {
            let FirstFlight { packets, span, .. } = self.first_flight;
            let ns = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
            self.meter.on_first_flight(packets, ns);
        }
        self.publish();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        _bytes: u64,
        number: u64,
        _app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        let (now, sent) = (self.to_own_instant(now), self.to_own_instant(sent));
        self.flow.on_packet_acked(now, number, sent, None);
        self.first_flight.on_packet_acked(sent);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        self.now = self.to_own_instant(now);
        self.flow
            .on_acks_end(self.now, Some(in_flight), app_limited);
        if let Some(rtt) = self.flow.rtt_min() {
            self.meter
                .on_rtt_min(u64::try_from(rtt.as_nanos()).unwrap_or(u64::MAX));
        }
        self.publish();
    }

    fn on_packet_lost(&mut self, bytes: u16, number: u64, _now: Instant) {
        self.flow.on_packet_lost(number, bytes.into());
        self.publish();
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        _sent: Instant,
        persistent: bool,
        is_ecn: bool,
        lost_bytes: u64,
        _largest_lost: u64,
    ) {
        let now = self.to_own_instant(now);
        if is_ecn {
            self.flow.on_mark(now);
        } else {
            self.flow.on_congestion(now, lost_bytes, persistent);
        }
    }

    fn on_spurious_congestion_event(&mut self) {
        self.flow.on_spurious_loss(self.now);
    }

    fn on_mtu_update(&mut self, packet_bytes: u16) {
        self.packet_bytes = packet_bytes.into();
        self.flow.on_packet_bytes(packet_bytes.into());
    }

    fn window(&self) -> u64 {
        if self.meter.is_held() {
            return 0;
        }
        let window = self.flow.controller().window_bytes();
        if self.sent_after_handshake || !self.meter.is_ready() {
            return window;
        }
        // noq-proto 1.4 arms no timer for what it sent with 1-RTT keys before the handshake's end:
        // if that is lost and fills the window, nothing would ever be sent again, not even an
        // acknowledgement. So RFC 9002's minimum window always remains for what follows.
        window.max(self.flow.bytes_in_flight() + WINDOW_PACKETS_MIN * self.packet_bytes)
    }

    fn metrics(&self) -> ControllerMetrics {
        let controller = self.flow.controller();
        let burst = |rate| burst_bytes(rate, self.packet_bytes);
        let rate = self.flow.pacing_rate_bytes_s(burst);
        if let Some(rate) = rate {
            self.meter.on_pacing_rate(rate);
        }
        let at_start = self.meter.is_ready() && !self.sent_after_handshake;
        let rate = rate.map(|rate| {
            if at_start {
                start_rate(rate, self.flow.bytes_sent(), self.packet_bytes)
            } else {
                rate
            }
        });
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = controller.window_bytes();
        metrics.ssthresh = controller.slow_start_threshold_bytes();
        metrics.pacing_rate = Some(rate.unwrap_or(UNPACED_BYTES_S));
        metrics.send_quantum = controller.send_quantum_bytes();
        let bandwidth = controller.bandwidth_bytes_s();
        metrics.bandwidth_estimate = bandwidth.map(|bytes_s| bytes_s.saturating_mul(8));
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.flow.controller().initial_window_bytes()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The full packets sent before the first of them is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct FirstFlight {
    started: Option<OwnInstant>,
    packets: u32,
    span: OwnDuration,
    over: bool,
}

impl FirstFlight {
    /// Records a full packet, and returns whether it belongs to the flight.
    fn on_packet_sent(&mut self, now: OwnInstant) -> bool {
        if !self.over {
            let started = *self.started.get_or_insert(now);
            self.packets += 1;
            self.span = now.since(started);
        }
        !self.over
    }

    /// Ends the flight if the acknowledged packet, sent at `sent`, belongs to it.
    fn on_packet_acked(&mut self, sent: OwnInstant) {
        self.over |= self.started.is_some_and(|started| sent >= started);
    }
}

/// Returns the rate for the page's first packet, whose burst is what the handshake has left of the
/// kernel's unpaced packets: the kernel counts handshake segments among them, while noq's pacer has
/// since regained a whole burst. noq limits its saved credit to the burst of the rate that it is
/// given.
fn start_rate(rate_bytes_s: u64, sent_bytes: u64, packet_bytes: u64) -> u64 {
    let left = (UNPACED_PACKETS * packet_bytes).saturating_sub(sent_bytes);
    let in_10_ms = left.max(packet_bytes);
    rate_bytes_s.min(in_10_ms * 100)
}

/// Returns how much noq's pacer sends at once at a rate: 2 ms worth within 10 to 256 packets, at
/// most 10 ms worth, at least one packet (noq-proto 1.4, `connection/pacing.rs`).
fn burst_bytes(rate_bytes_s: u64, packet_bytes: u64) -> u64 {
    let worth = |time: Duration| {
        let bytes = u128::from(rate_bytes_s) * time.as_nanos() / 1_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    };
    let most = worth(Duration::from_millis(10)).max(packet_bytes);
    let target = worth(Duration::from_millis(2));
    most.min(target.clamp(10 * packet_bytes, 256 * packet_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET_BYTES: u16 = 1452;

    #[test]
    fn the_handshakes_packets_are_among_the_unpaced_ones() {
        let packet = u64::from(PACKET_BYTES);
        // 32 packets at twice a window in 20 ms; a handshake of two packets.
        let rate = 2 * 32 * packet * 50;
        assert_eq!(burst_bytes(rate, packet), 10 * packet);
        let start = start_rate(rate, 2 * packet, packet);
        assert_eq!(burst_bytes(start, packet), 8 * packet);
        // A long chain leaves one packet, not none; a slow path's burst is shorter already.
        assert_eq!(
            burst_bytes(start_rate(rate, 20 * packet, packet), packet),
            packet
        );
        assert_eq!(start_rate(packet, 2 * packet, packet), packet);
    }

    /// As measured over a queue of two packets: after the handshake's losses, eight session tickets
    /// fill the window.
    #[test]
    fn a_handshake_with_losses_leaves_room_for_what_follows() {
        let meter = Arc::new(Meter::default());
        let factory = Factory {
            name: "cubic".into(),
            settings: Settings::default(),
            meter: meter.clone(),
        };
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut controller = Arc::new(factory).build(start, PACKET_BYTES);
        controller.on_packet_sent(at(0), 1200, 0);
        controller.on_packet_lost(1200, 0, at(1000));
        controller.on_congestion_event(at(1000), at(0), false, false, 1200, 0);
        for ticket in 0..8 {
            controller.on_packet_sent(at(1000 + ticket), 124, ticket);
        }
        let in_flight = 992;
        assert!(controller.window() < in_flight + u64::from(PACKET_BYTES));
        meter.on_ready();
        assert!(controller.window() >= in_flight + u64::from(PACKET_BYTES));
        controller.on_packet_sent(at(1071), PACKET_BYTES, 9);
        assert!(
            controller.window() < in_flight + u64::from(PACKET_BYTES),
            "once"
        );
    }
}
