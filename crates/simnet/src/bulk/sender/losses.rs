use super::{Sender, Sent};
use crate::bulk::format_numbers;
use eyelevel_units::{Duration, Instant};

const PACKET_THRESHOLD: u64 = 3;
const GRANULARITY: Duration = Duration::from_millis(1);
const PEER_ACK_DELAY: Duration = Duration::from_millis(25);

/// Loss detection (RFC 9002, section 6).
impl Sender {
    fn probe_timeout(&self) -> Duration {
        let Some(smoothed) = self.flow.rtt_smoothed() else {
            return Duration::from_secs(1);
        };
        // The variance is bounded by half the smoothed round trip: enough for these tests.
        (smoothed + (smoothed / 2).max(GRANULARITY) + PEER_ACK_DELAY)
            * 2u32.pow(self.timeouts.min(6))
    }

    fn loss_delay(&self) -> Duration {
        let rtt = self
            .flow
            .rtt_smoothed()
            .unwrap_or_default()
            .max(self.rtt_latest);
        (rtt * 9 / 8).max(GRANULARITY)
    }

    pub(super) fn detect_losses(&mut self, now: Instant) {
        let Some(largest) = self.number_acked else {
            return;
        };
        let delay = self.loss_delay();
        let lost: Vec<(u64, Sent)> = self
            .in_flight
            .range(..largest)
            .filter(|(number, sent)| {
                largest >= **number + PACKET_THRESHOLD || now.since(sent.at) >= delay
            })
            .map(|(number, sent)| (*number, *sent))
            .collect();
        let (Some(first), Some(last)) = (lost.first(), lost.last()) else {
            return;
        };
        let unbroken = last.0 - first.0 + 1 == lost.len() as u64;
        let span = last.1.at.since(first.1.at);
        let persistent = unbroken && span > 3 * self.probe_timeout();
        for (number, sent) in &lost {
            self.in_flight.remove(number);
            self.again.push_back(sent.chunk);
            self.flow.on_packet_lost(*number, self.packet_bytes);
        }
        self.packets_lost += lost.len() as u64;
        let bytes = lost.len() as u64 * self.packet_bytes;
        self.flow.on_congestion(now, bytes, persistent);
        let numbers: Vec<u64> = lost.iter().map(|(number, _)| *number).collect();
        let kind = if persistent { "timeout" } else { "loss" };
        self.note(now, &format!("{kind}\t{}", format_numbers(&numbers)));
    }

    pub(super) fn loss_timer(&self) -> Option<Instant> {
        let largest = self.number_acked?;
        let oldest = self.in_flight.range(..largest).next();
        oldest.map(|(_, sent)| sent.at + self.loss_delay())
    }

    pub(super) fn probe_timer(&self) -> Option<Instant> {
        (!self.in_flight.is_empty()).then(|| self.last_sent_at + self.probe_timeout())
    }
}
