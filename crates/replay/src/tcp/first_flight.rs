use super::options::TcpInfo;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// Readings of `TCP_INFO` per round trip: a paced flight takes a third of one, so its span is
/// measured to a tenth.
const READINGS_PER_RTT: u32 = 32;
/// The shortest time between readings: the runtime's timers are no finer; a reading costs a
/// microsecond.
const READING_INTERVAL_MIN: Duration = Duration::from_millis(1);
/// The most readings, over four round trips: without an acknowledgement by then, a packet was lost.
const READINGS_MAX: u32 = 4 * READINGS_PER_RTT;

/// The segments sent between the handshake's end and the first acknowledgement of one of them, with
/// the part of the handshake that shares their window. The kernel keeps no such record, so
/// `TCP_INFO` is read repeatedly: after each write, and in between, since paced segments leave by
/// themselves.
///
/// A flight that is acknowledged completely and left the window as it was (HTTP/2's settings) does
/// not count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FirstFlight {
    /// Segments and bytes sent, and the window, when it began.
    base: Option<(u32, u64, u32)>,
    started_ns: Option<u64>,
    packets: u32,
    span_ns: u64,
    over: bool,
}

impl FirstFlight {
    /// Begins the flight at the end of the handshake.
    pub fn on_ready(&mut self, info: &TcpInfo) {
        let before = info.sent_packets.saturating_sub(info.in_flight_packets);
        self.base = Some((before, info.sent_bytes, info.window_packets));
    }

    /// Returns whether another reading would add to it.
    pub fn is_open(&self) -> bool {
        self.base.is_some() && !self.over
    }

    /// Returns whether a part of it is in flight.
    pub fn is_under_way(&self) -> bool {
        self.is_open() && self.started_ns.is_some()
    }

    /// Updates the flight from a reading of `TCP_INFO`.
    pub fn on_reading(&mut self, info: &TcpInfo, now_ns: u64) {
        let Some((packets, bytes, window)) = self.base.filter(|_| !self.over) else {
            return;
        };
        if info.acknowledged_bytes > bytes {
            if info.in_flight_packets == 0 && info.window_packets == window {
                *self = Self {
                    base: Some((info.sent_packets, info.sent_bytes, window)),
                    ..Self::default()
                };
            } else {
                self.over = true;
            }
            return;
        }
        let sent = info.sent_packets.saturating_sub(packets);
        if info.sent_bytes > bytes && sent > self.packets {
            let started = *self.started_ns.get_or_insert(now_ns);
            self.packets = sent;
            self.span_ns = now_ns.saturating_sub(started);
        }
    }

    /// Returns the segments observed to have left, and the time over which; `None` if there were
    /// none.
    pub fn measurement(&self) -> Option<(u32, f64)> {
        (self.packets > 0).then_some((self.packets, self.span_ns as f64 / 1e6))
    }
}

/// A timer for readings while a flight is under way.
#[derive(Debug)]
pub(super) struct ReadingTimer {
    interval: Interval,
    left: u32,
}

impl ReadingTimer {
    /// Creates a timer for a path of that round trip.
    pub fn new(rtt: Duration) -> Self {
        let period = (rtt / READINGS_PER_RTT).max(READING_INTERVAL_MIN);
        let mut interval = interval_at(Instant::now() + period, period);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            interval,
            left: READINGS_MAX,
        }
    }

    /// Returns ready when a reading is due; the caller's task is woken at the next one, if there is
    /// one.
    pub fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut due = Poll::Pending;
        while self.left > 0 && self.interval.poll_tick(context).is_ready() {
            self.left -= 1;
            due = Poll::Ready(());
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(sent_packets: u32, acknowledged_bytes: u64) -> TcpInfo {
        TcpInfo {
            sent_packets,
            sent_bytes: u64::from(sent_packets) * 1448,
            acknowledged_bytes,
            ..TcpInfo::default()
        }
    }

    #[test]
    fn the_flight_lasts_from_the_handshake_to_the_first_acknowledgement() {
        let mut flight = FirstFlight::default();
        flight.on_reading(&info(1, 0), 1_000_000);
        assert!(!flight.is_open() && flight.measurement().is_none());
        flight.on_ready(&info(2, 0));
        flight.on_reading(&info(2, 2896), 2_000_000);
        assert_eq!(flight.measurement(), None);
        flight.on_reading(&info(12, 2896), 3_000_000);
        flight.on_reading(&info(30, 2896), 9_000_000);
        let acknowledged = TcpInfo {
            in_flight_packets: 37,
            ..info(40, 2897)
        };
        flight.on_reading(&acknowledged, 20_000_000);
        assert!(!flight.is_open());
        assert_eq!(flight.measurement(), Some((28, 6.0)));
    }

    #[test]
    fn the_handshake_in_the_same_window_counts_with_the_flight() {
        let mut flight = FirstFlight::default();
        let tickets = TcpInfo {
            in_flight_packets: 1,
            ..info(3, 1448)
        };
        flight.on_ready(&tickets);
        flight.on_reading(&tickets, 1_000_000);
        assert!(!flight.is_under_way());
        flight.on_reading(&info(13, 1448), 2_000_000);
        assert!(flight.is_under_way());
        flight.on_reading(&info(34, 1448), 32_000_000);
        assert_eq!(flight.measurement(), Some((32, 30.0)));
    }

    #[test]
    fn settings_acknowledged_before_a_request_are_no_flight() {
        let mut flight = FirstFlight::default();
        flight.on_ready(&info(2, 2896));
        flight.on_reading(&info(3, 2896), 1_000_000);
        flight.on_reading(&info(3, 3 * 1448), 90_000_000);
        assert!(flight.is_open() && !flight.is_under_way());
        assert_eq!(flight.measurement(), None);
        flight.on_reading(&info(13, 3 * 1448), 500_000_000);
        flight.on_reading(&info(35, 3 * 1448), 530_000_000);
        // The window has grown with the acknowledgement: now the flight is over.
        let grown = TcpInfo {
            window_packets: 40,
            in_flight_packets: 30,
            ..info(36, 6 * 1448)
        };
        flight.on_reading(&grown, 600_000_000);
        assert!(!flight.is_open());
        assert_eq!(flight.measurement(), Some((32, 30.0)));
    }
}
