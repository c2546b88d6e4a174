use crate::delivery::SentState;
use crate::repairs::Repairs;
use crate::{
    Ack, Controller, DeliverySampler, Loss, Mark, PacketAcked, PacketSent, RttEstimator,
    UNPACED_PACKETS,
};
use eyelevel_units::{Duration, Instant};
use std::collections::BTreeMap;

/// The most packets tracked, more than any window holds: beyond it the oldest are forgotten, so
/// that a peer which never acknowledges some cannot make the table grow.
const PACKETS_TRACKED_MAX: usize = 1 << 20;

#[derive(Clone, Copy, Debug)]
struct Tracked {
    number: u64,
    bytes: u64,
    /// The packet that carried its data first.
    first: u64,
    state: SentState,
}

#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    bytes: u64,
    sent_at_newest: Instant,
    in_flight_prior: u64,
    open: bool,
}

/// One connection's congestion control: a controller and the state between it and a transport.
///
/// For every acknowledgement, a transport calls [`Self::on_packet_acked`] for each packet,
/// [`Self::on_acks_end`], then [`Self::on_packet_lost`] for each packet that it declares lost, and
/// [`Self::on_congestion`]. Packet numbers may repeat (QUIC has three sequences) as long as two
/// packets of the same number were not sent at the same instant.
#[derive(Debug)]
pub struct Flow {
    controller: Box<dyn Controller>,
    sampler: DeliverySampler,
    rtt: RttEstimator,
    packets: BTreeMap<(u64, Instant), Tracked>,
    number_next: u64,
    number_newest_acked: u64,
    bytes_in_flight: u64,
    packet_bytes: u64,
    bytes_sent: u64,
    number_lost_newest: Option<u64>,
    repairs: Repairs,
    batch: Batch,
    application_dry: bool,
}

impl Clone for Flow {
    fn clone(&self) -> Self {
        Self {
            controller: self.controller.clone_box(),
            sampler: self.sampler.clone(),
            rtt: self.rtt.clone(),
            packets: self.packets.clone(),
            repairs: self.repairs.clone(),
            ..*self
        }
    }
}

impl Flow {
    /// Creates the state of a new connection, with full packets of `packet_bytes`.
    pub fn new(controller: Box<dyn Controller>, packet_bytes: u64) -> Self {
        Self {
            controller,
            sampler: DeliverySampler::default(),
            rtt: RttEstimator::default(),
            packets: BTreeMap::new(),
            number_next: 0,
            number_newest_acked: 0,
            bytes_in_flight: 0,
            packet_bytes,
            bytes_sent: 0,
            number_lost_newest: None,
            repairs: Repairs::default(),
            batch: Batch::default(),
            application_dry: false,
        }
    }

    /// Handles a sent packet that counts as in flight. `number` is the transport's.
    pub fn on_packet_sent(&mut self, now: Instant, number: u64, bytes: u64) {
        let state = self.sampler.on_packet_sent(now, self.bytes_in_flight);
        self.bytes_in_flight += bytes;
        self.bytes_sent += bytes;
        let tracked = Tracked {
            number: self.number_next,
            bytes,
            first: self.repairs.on_sent(self.number_next, bytes),
            state,
        };
        if self.packets.len() >= PACKETS_TRACKED_MAX {
            self.packets.pop_first();
        }
        self.packets.insert((number, now), tracked);
        self.controller.on_packet_sent(&PacketSent {
            now,
            number: self.number_next,
            bytes,
            bytes_in_flight: self.bytes_in_flight,
            bytes_delivered: self.sampler.bytes_delivered(),
            app_limited: self.application_dry || self.sampler.app_limited(),
        });
        self.number_next += 1;
        self.application_dry = false;
    }

    /// Handles the confirmed delivery of a packet, identified by the transport's number and the
    /// instant that it was sent. `arrived_at` is the receiver's timestamp, if it sends them.
    pub fn on_packet_acked(
        &mut self,
        now: Instant,
        number: u64,
        sent_at: Instant,
        arrived_at: Option<Instant>,
    ) {
        let Some(tracked) = self.packets.remove(&(number, sent_at)) else {
            return;
        };
        if !self.batch.open {
            self.batch = Batch {
                in_flight_prior: self.bytes_in_flight,
                open: true,
                ..Batch::default()
            };
        }
        self.bytes_in_flight = self.bytes_in_flight.saturating_sub(tracked.bytes);
        self.sampler.on_packet_acked(tracked.state, tracked.bytes);
        self.repairs.on_acked(tracked.number);
        self.batch.bytes += tracked.bytes;
        self.batch.sent_at_newest = self.batch.sent_at_newest.max(sent_at);
        self.number_newest_acked = self.number_newest_acked.max(tracked.number);
        self.controller.on_packet_acked(&PacketAcked {
            now,
            number: tracked.number,
            sent_at,
            arrived_at,
            bytes: tracked.bytes,
        });
    }

    /// Ends the processing of an acknowledgement. `bytes_in_flight` is the transport's own count if
    /// it has one, `app_limited` whether the application had nothing more to send before it
    /// arrived.
    pub fn on_acks_end(&mut self, now: Instant, bytes_in_flight: Option<u64>, app_limited: bool) {
        if let Some(bytes) = bytes_in_flight {
            self.bytes_in_flight = bytes;
        }
        let batch = core::mem::take(&mut self.batch);
        if batch.open {
            self.rtt.on_sample(now.since(batch.sent_at_newest));
            let rtt = self.rtt.rtt();
            let rate = self.sampler.on_ack(now, rtt.min);
            self.controller.on_ack(&Ack {
                now,
                bytes_acked: batch.bytes,
                number_newest: self.number_newest_acked,
                bytes_in_flight_prior: batch.in_flight_prior,
                bytes_in_flight: self.bytes_in_flight,
                bytes_delivered: self.sampler.bytes_delivered(),
                rtt,
                rate,
                number_hole_oldest: self.repairs.oldest(self.number_newest_acked),
            });
        }
        if app_limited {
            self.on_app_limited();
        } else if self.controller.holds_back() {
            self.sampler.on_app_limited(self.bytes_in_flight);
        }
    }

    /// Handles that the application has nothing more to send, and neither window nor pacing limits
    /// it.
    pub fn on_app_limited(&mut self) {
        self.application_dry = true;
        self.repairs.on_no_data();
        self.sampler.on_app_limited(self.bytes_in_flight);
    }

    /// Handles a packet declared lost, by the transport's number; of equal numbers the oldest
    /// sending.
    pub fn on_packet_lost(&mut self, number: u64, bytes: u64) {
        let range = (number, Instant::ZERO)..=(number, Instant::MAX);
        let key = self.packets.range(range).next().map(|(key, _)| *key);
        let tracked = key.and_then(|key| self.packets.remove(&key));
        let bytes = tracked.map_or(bytes, |tracked| tracked.bytes);
        self.bytes_in_flight = self.bytes_in_flight.saturating_sub(bytes);
        if let Some(lost) = tracked {
            self.repairs.on_lost(lost.number, lost.first, lost.bytes);
            self.number_lost_newest = self.number_lost_newest.max(Some(lost.first));
        }
    }

    /// Treats the packets lost since the last call as one loss event.
    pub fn on_congestion(&mut self, now: Instant, bytes_lost: u64, persistent: bool) {
        let number_newest = self.number_lost_newest.take();
        self.controller.on_loss(&Loss {
            now,
            bytes_lost,
            number_newest: number_newest.unwrap_or(self.number_newest_acked),
            bytes_in_flight: self.bytes_in_flight,
            bytes_delivered: self.sampler.bytes_delivered(),
            persistent,
        });
    }

    /// Handles a last acknowledgement that reports more marked packets than the one before.
    pub fn on_mark(&mut self, now: Instant) {
        self.controller.on_mark(&Mark {
            now,
            number_newest: self.number_newest_acked,
            bytes_in_flight: self.bytes_in_flight,
        });
    }

    /// Handles a spurious loss: all packets of the last loss event have arrived after all.
    pub fn on_spurious_loss(&mut self, now: Instant) {
        self.controller.on_spurious_loss(now);
    }

    /// Handles a change of the size of full packets.
    pub fn on_packet_bytes(&mut self, packet_bytes: u64) {
        self.packet_bytes = packet_bytes;
        self.controller.on_packet_bytes(packet_bytes);
    }

    /// Returns the rate at which packets may leave; `None`: unpaced. `burst_bytes` returns how much
    /// the transport's pacer sends at once at a given rate: together with the unpaced packets at a
    /// connection's start it makes up the kernel's [`UNPACED_PACKETS`].
    pub fn pacing_rate_bytes_s(&self, burst_bytes: impl Fn(u64) -> u64) -> Option<u64> {
        let rate = self.controller.pacing_rate_bytes_s()?;
        let unpaced = (UNPACED_PACKETS * self.packet_bytes).saturating_sub(burst_bytes(rate));
        (self.bytes_sent + self.packet_bytes > unpaced).then_some(rate)
    }

    /// Returns the bytes sent, the handshake included.
    pub fn bytes_sent(&self) -> u64 {
        self.bytes_sent
    }

    /// Returns the bytes in flight, as counted here.
    pub fn bytes_in_flight(&self) -> u64 {
        self.bytes_in_flight
    }

    /// Returns the smoothed round trip time; `None` before the first acknowledgement.
    pub fn rtt_smoothed(&self) -> Option<Duration> {
        self.rtt.rtt().smoothed
    }

    /// Returns the smallest round trip time; `None` before the first acknowledgement.
    pub fn rtt_min(&self) -> Option<Duration> {
        self.rtt.rtt().min
    }

    /// Returns the controller, for its window, name and state.
    pub fn controller(&self) -> &dyn Controller {
        self.controller.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, by_name};

    fn flow() -> Flow {
        Flow::new(by_name("cubic", &Settings::default()).unwrap(), 1252)
    }

    #[test]
    fn counts_bytes_in_flight() {
        let mut flow = flow();
        let start = Instant::from_nanos(5);
        for number in 0..4 {
            flow.on_packet_sent(start, number, 1000);
        }
        // A second sequence of numbers, as in QUIC's handshake.
        flow.on_packet_sent(start + Duration::from_millis(1), 0, 500);
        assert_eq!(flow.bytes_in_flight(), 4500);
        let later = start + Duration::from_millis(50);
        flow.on_packet_acked(later, 0, start, None);
        flow.on_packet_acked(later, 0, start, None);
        flow.on_acks_end(later, None, false);
        assert_eq!(flow.bytes_in_flight(), 3500);
        assert_eq!(flow.rtt_min(), Some(Duration::from_millis(50)));
        flow.on_packet_lost(1, 1000);
        flow.on_congestion(later, 1000, false);
        assert_eq!(flow.bytes_in_flight(), 2500);
        assert_eq!(flow.controller().state(), "recovery");
    }

    #[test]
    fn the_first_packets_are_unpaced() {
        let mut flow = flow();
        flow.on_packet_sent(Instant::ZERO, 0, 1252);
        let later = Instant::from_nanos(200_000_000);
        flow.on_packet_acked(later, 0, Instant::ZERO, None);
        flow.on_acks_end(later, None, true);
        let burst = |_| 3 * 1252;
        for number in 1..7 {
            assert_eq!(flow.pacing_rate_bytes_s(burst), None, "packet {number}");
            flow.on_packet_sent(later, number, 1252);
        }
        assert!(flow.pacing_rate_bytes_s(burst).is_some());
    }
}
