mod growth;
mod idle;
mod reduction;

use crate::hystart::{Observation, SlowStartExit};
use crate::prr::Reduction;
use crate::usage::WindowUsage;
use crate::{Ack, Controller, Loss, Mark, PacketSent, Rtt, Settings, window_pacing_rate_bytes_s};
use eyelevel_units::{Duration, Instant};
pub use growth::Growth;
use reduction::{Cause, Undo};

/// The kernel's framework of a loss-based controller: slow start, growth only while the window is
/// the limit, proportional rate reduction, idle periods and the pacing rate.
///
/// The window is counted in whole packets, as in Linux.
#[derive(Clone, Debug)]
pub struct LossBased<G> {
    name: &'static str,
    growth: G,
    packet_bytes: u64,
    pacing: bool,
    slow_start_after_idle: bool,
    initial_window_packets: u64,
    window_packets: u64,
    threshold_packets: Option<u64>,
    /// Acknowledged bytes short of a whole packet.
    bytes_acked_rest: u64,
    /// Packets acknowledged since the last increase.
    packets_acked: u64,
    slow_start: SlowStartExit,
    usage: WindowUsage,
    reduction: Option<Reduction>,
    /// Losses up to this packet belong to a congestion event that was already handled.
    number_reduced: Option<u64>,
    /// The cause, if new data were lost or marked during the reduction.
    reduce_again: Option<Cause>,
    undo: Option<Undo>,
    number_next: u64,
    sent_at: Option<Instant>,
    limited_at: Instant,
    last_ack: Option<(Instant, u64)>,
    timeout: Duration,
    pacing_rate_bytes_s: Option<u64>,
}

impl<G: Growth> LossBased<G> {
    /// Creates the state of a new connection; the settings must be validated.
    pub fn new(settings: &Settings) -> Self {
        Self {
            name: G::NAME,
            growth: G::default(),
            packet_bytes: settings.packet_bytes,
            pacing: settings.pacing,
            slow_start_after_idle: settings.slow_start_after_idle,
            initial_window_packets: settings.initial_window_packets,
            window_packets: settings.initial_window_packets,
            threshold_packets: None,
            bytes_acked_rest: 0,
            packets_acked: 0,
            slow_start: SlowStartExit::new(settings.slow_start.unwrap_or(G::SLOW_START)),
            usage: WindowUsage::default(),
            reduction: None,
            number_reduced: None,
            reduce_again: None,
            undo: None,
            number_next: 0,
            sent_at: None,
            limited_at: Instant::ZERO,
            last_ack: None,
            timeout: Rtt::default().timeout,
            pacing_rate_bytes_s: None,
        }
    }

    /// Returns the controller under another name, for a variant by its settings.
    pub fn with_name(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    fn is_slow_start(&self) -> bool {
        self.threshold_packets
            .is_none_or(|threshold| self.window_packets < threshold)
    }

    fn grow(&mut self, ack: &Ack) {
        let mut bytes = ack.bytes_acked;
        if self.is_slow_start() {
            bytes = self
                .slow_start
                .growth_bytes(bytes, self.packet_bytes, self.pacing);
        }
        self.bytes_acked_rest += bytes;
        let mut packets = self.bytes_acked_rest / self.packet_bytes;
        self.bytes_acked_rest %= self.packet_bytes;
        if self.is_slow_start() {
            let threshold = self.threshold_packets.unwrap_or(u64::MAX);
            let raised = (self.window_packets + packets).min(threshold);
            packets -= raised - self.window_packets;
            self.window_packets = raised;
        }
        if packets == 0 {
            return;
        }
        let window = self.window_packets;
        let every = self
            .growth
            .packets_per_increase(ack.now, window, packets, &ack.rtt)
            .max(1);
        // Credit collected during slower growth counts for one packet at most.
        if self.packets_acked >= every {
            self.packets_acked = 0;
            self.window_packets += 1;
        }
        self.packets_acked += packets;
        self.window_packets += self.packets_acked / every;
        self.packets_acked %= every;
    }

    fn check_slow_start_exit(&mut self, ack: &Ack) {
        let (Some(rtt_latest), Some(rtt_min)) = (ack.rtt.latest, ack.rtt.min) else {
            return;
        };
        if !self.is_slow_start()
            || self.reduction.is_some()
            || self.growth.is_just_recovered(ack.now)
        {
            return;
        }
        let rate = self.pacing_rate_bytes_s.unwrap_or(0);
        let spacing_ns = ack.bytes_acked.saturating_mul(1_000_000_000) / rate.max(1);
        let exits = self.slow_start.on_ack(&Observation {
            now: ack.now,
            number_newest: ack.number_newest,
            number_next: self.number_next,
            window_packets: self.window_packets,
            packets_acked: ack.bytes_acked.div_ceil(self.packet_bytes).max(1),
            rtt_latest,
            rtt_min,
            paced: self.pacing,
            pacing_rate_bytes_s: rate,
            spacing: Duration::from_nanos(if rate == 0 { 0 } else { spacing_ns }),
        });
        if exits {
            self.threshold_packets = Some(self.window_packets);
        }
    }

    fn update_pacing_rate(&mut self, ack: &Ack) {
        if let Some(smoothed) = ack.rtt.smoothed {
            self.pacing_rate_bytes_s = Some(window_pacing_rate_bytes_s(
                self.window_bytes(),
                ack.bytes_in_flight,
                self.slow_start_threshold_bytes(),
                smoothed,
            ));
        }
    }
}

impl<G: Growth> Controller for LossBased<G> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn on_packet_sent(&mut self, packet: &PacketSent) {
        if let Some(sent_at) = self
            .sent_at
            .filter(|_| packet.bytes_in_flight == packet.bytes)
        {
            let idle = packet.now.since(sent_at);
            self.growth.on_idle(packet.now, idle);
            if self.slow_start_after_idle && idle > self.timeout {
                self.restart(packet.now, idle);
            }
        }
        let window_bytes = self.window_bytes();
        self.usage
            .on_packet_sent(packet, window_bytes, self.packet_bytes);
        if let Some(reduction) = &mut self.reduction {
            reduction.on_packet_sent(packet.bytes);
        } else if self.slow_start_after_idle {
            self.decay_unused(packet);
        }
        self.number_next = packet.number + 1;
        self.sent_at = Some(packet.now);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.timeout = ack.rtt.timeout;
        self.usage.on_ack(ack.number_newest);
        self.last_ack = Some((ack.now, ack.bytes_acked));
        self.end_reduction(ack);
        self.check_slow_start_exit(ack);
        if let Some(reduction) = &mut self.reduction {
            reduction.on_delivered(ack.bytes_acked);
            reduction.update(ack.bytes_in_flight, ack.bytes_acked, false);
        } else {
            let slow_start = self.is_slow_start();
            if self
                .usage
                .is_window_limited(slow_start, self.window_packets)
            {
                self.grow(ack);
            }
        }
        self.update_pacing_rate(ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.react(loss);
    }

    fn on_mark(&mut self, mark: &Mark) {
        self.react_to_mark(mark);
    }

    fn on_spurious_loss(&mut self, _now: Instant) {
        self.undo_reduction();
    }

    fn on_packet_bytes(&mut self, packet_bytes: u64) {
        self.packet_bytes = packet_bytes.max(1);
    }

    fn window_bytes(&self) -> u64 {
        match &self.reduction {
            Some(reduction) => reduction.window_bytes(),
            None => self.window_packets * self.packet_bytes,
        }
    }

    fn initial_window_bytes(&self) -> u64 {
        self.initial_window_packets * self.packet_bytes
    }

    fn slow_start_threshold_bytes(&self) -> Option<u64> {
        Some(self.threshold_packets? * self.packet_bytes)
    }

    fn pacing_rate_bytes_s(&self) -> Option<u64> {
        self.pacing_rate_bytes_s.filter(|_| self.pacing)
    }

    fn state(&self) -> &'static str {
        match (&self.reduction, self.is_slow_start()) {
            (Some(_), _) => "recovery",
            (None, true) => "slow start",
            (None, false) => "congestion avoidance",
        }
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
