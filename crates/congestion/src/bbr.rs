//! BBR, version 1: Cardwell et al., "BBR: congestion-based congestion control", ACM Queue 14(5),
//! 2016, and draft-cardwell-iccrg-bbr-congestion-control-00, with the constants and the later
//! amendments (1 % pacing margin, compensation of aggregated acknowledgements) of Linux.
//!
//! Left out: the long-term bandwidth of policed paths, which Linux uses above 20 % loss.

mod aggregation;
mod cycle;
mod model;
mod probe_rtt;
mod recovery;
mod window_max;

use crate::pacing::quantum_bytes;
use crate::{Ack, Controller, Loss, PacketSent, Settings};
use cycle::CYCLE;
use eyelevel_units::{Generator, Instant, Seed};
use model::Model;
use probe_rtt::{ProbeRtt, WINDOW_PACKETS_MIN};

/// The unit of gains, which are in 1/256, as in Linux.
const UNIT: u64 = 256;
/// 2/ln 2: the smallest gain that doubles the rate every round.
const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
const WINDOW_GAIN: u64 = 2 * UNIT;
/// The share of the estimated bandwidth that is paced, in percent: a standing queue drains.
const PACING_PERCENT: u64 = 99;
/// The rate below which a burst is one packet: 1.2 Mbit/s.
const ONE_PACKET_BURST_BYTES_S: u64 = 150_000;
/// The number of delivered packets until which the window grows whatever the model is.
const PACKETS_DELIVERED_START: u64 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

/// BBR's state, in bytes where the kernel counts packets, except for the target windows, which are
/// whole packets as in the kernel.
#[derive(Clone, Debug)]
pub struct Bbr {
    packet_bytes: u64,
    initial_window_packets: u64,
    mode: Mode,
    model: Model,
    probe_rtt: ProbeRtt,
    cycle_index: usize,
    cycle_at: Instant,
    generator: Generator,
    window_bytes: u64,
    /// The window to return to after recovery or a probe of the round trip time.
    window_bytes_prior: u64,
    pacing_rate_bytes_s: Option<u64>,
    /// While `Some`, losses up to and acknowledgements up to this packet belong to one recovery.
    recovery: Option<u64>,
    number_reduced: Option<u64>,
    /// Whether new data were lost during recovery.
    recover_again: bool,
    packet_conservation: bool,
    lost_since_ack: bool,
    last_ack: Option<(Instant, u64)>,
    number_next: u64,
    idle_restart: bool,
}

impl Bbr {
    /// Creates the state of a new connection; the settings must be validated.
    pub fn new(settings: &Settings) -> Self {
        Self {
            packet_bytes: settings.packet_bytes,
            initial_window_packets: settings.initial_window_packets,
            mode: Mode::Startup,
            model: Model::default(),
            probe_rtt: ProbeRtt::default(),
            cycle_index: 0,
            cycle_at: Instant::ZERO,
            generator: Seed::new(settings.seed).child("bbr").generator(),
            window_bytes: settings.initial_window_packets * settings.packet_bytes,
            window_bytes_prior: 0,
            pacing_rate_bytes_s: None,
            recovery: None,
            number_reduced: None,
            recover_again: false,
            packet_conservation: false,
            lost_since_ack: false,
            last_ack: None,
            number_next: 0,
            idle_restart: false,
        }
    }

    fn pacing_gain(&self) -> u64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => DRAIN_GAIN,
            Mode::ProbeBandwidth => CYCLE[self.cycle_index],
            Mode::ProbeRtt => UNIT,
        }
    }

    fn window_gain(&self) -> u64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBandwidth => WINDOW_GAIN,
            Mode::ProbeRtt => UNIT,
        }
    }

    fn quantum_bytes(&self) -> u64 {
        match self.pacing_rate_bytes_s {
            Some(rate) if rate < ONE_PACKET_BURST_BYTES_S => self.packet_bytes,
            Some(rate) => quantum_bytes(rate, self.packet_bytes),
            None => 2 * self.packet_bytes,
        }
    }

    /// Returns bandwidth times round trip time times gain, and `extra_bytes`, in whole packets with
    /// room for the bursts of both ends.
    fn inflight_bytes(&self, gain: u64, extra_bytes: u64) -> u64 {
        let packets = match self.model.bdp_bytes(gain) {
            Some(bdp) => (bdp + extra_bytes).div_ceil(self.packet_bytes),
            None => self.initial_window_packets,
        };
        let mut packets = packets + 3 * (self.quantum_bytes() / self.packet_bytes).max(1);
        packets = packets.next_multiple_of(2);
        if self.mode == Mode::ProbeBandwidth && self.cycle_index == 0 {
            packets += 2;
        }
        packets * self.packet_bytes
    }

    fn check_drain(&mut self, ack: &Ack) {
        if self.mode == Mode::Startup && self.model.full_bandwidth_reached {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && ack.bytes_in_flight <= self.inflight_bytes(UNIT, 0) {
            self.enter_probe_bandwidth(ack.now);
        }
    }

    fn set_pacing_rate(&mut self, ack: &Ack) {
        if self.pacing_rate_bytes_s.is_none()
            && let Some(smoothed) = ack.rtt.smoothed
        {
            let bandwidth = u128::from(self.window_bytes) * 1_000_000_000 / smoothed.as_nanos();
            self.pacing_rate_bytes_s = Some(paced_share(bandwidth as u64, HIGH_GAIN));
        }
        let rate = paced_share(self.model.bandwidth_bytes_s(), self.pacing_gain());
        if rate > 0 && (self.model.full_bandwidth_reached || Some(rate) > self.pacing_rate_bytes_s)
        {
            self.pacing_rate_bytes_s = Some(rate);
        }
    }

    fn set_window(&mut self, ack: &Ack) {
        self.end_recovery(ack);
        if self.packet_conservation {
            let conserved = ack.bytes_in_flight + ack.bytes_acked;
            self.window_bytes = self.window_bytes.max(conserved);
        } else {
            let extra = self.model.aggregation_bytes();
            let target = self.inflight_bytes(self.window_gain(), extra);
            let grown = self.window_bytes + ack.bytes_acked;
            if self.model.full_bandwidth_reached {
                self.window_bytes = grown.min(target);
            } else if self.window_bytes < target
                || ack.bytes_delivered < PACKETS_DELIVERED_START * self.packet_bytes
            {
                self.window_bytes = grown;
            }
            let floor = WINDOW_PACKETS_MIN * self.packet_bytes;
            self.window_bytes = self.window_bytes.max(floor);
        }
    }
}

fn paced_share(bandwidth_bytes_s: u64, gain: u64) -> u64 {
    let rate = u128::from(bandwidth_bytes_s) * u128::from(gain * PACING_PERCENT);
    u64::try_from(rate / u128::from(UNIT * 100)).unwrap_or(u64::MAX)
}

impl Controller for Bbr {
    fn name(&self) -> &'static str {
        "bbr"
    }

    fn on_packet_sent(&mut self, packet: &PacketSent) {
        self.number_next = packet.number + 1;
        self.model.on_packet_sent(packet.now);
        let from_idle = packet.bytes_in_flight == packet.bytes;
        if !from_idle || !packet.app_limited {
            return;
        }
        self.idle_restart = true;
        self.model.restart_aggregation(packet.now);
        match self.mode {
            Mode::ProbeBandwidth => {
                let rate = paced_share(self.model.bandwidth_bytes_s(), UNIT);
                self.pacing_rate_bytes_s = Some(rate.max(1));
            }
            Mode::ProbeRtt => self.check_probe_rtt_done(packet.now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.last_ack = Some((ack.now, ack.bytes_acked));
        self.model.update_bandwidth(ack);
        if self.model.round_start {
            self.packet_conservation = false;
        }
        self.model.update_aggregation(ack, self.window_bytes);
        self.update_cycle(ack);
        self.model.check_full_bandwidth(ack);
        self.check_drain(ack);
        self.update_rtt_min(ack);
        self.set_pacing_rate(ack);
        self.set_window(ack);
        self.lost_since_ack = false;
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.react(loss);
    }

    fn on_spurious_loss(&mut self, _now: Instant) {
        self.undo_recovery();
    }

    fn on_packet_bytes(&mut self, packet_bytes: u64) {
        self.packet_bytes = packet_bytes.max(1);
        if self.last_ack.is_none() {
            self.window_bytes = self.initial_window_bytes();
        }
    }

    fn window_bytes(&self) -> u64 {
        match self.mode {
            Mode::ProbeRtt => {
                let floor = WINDOW_PACKETS_MIN * self.packet_bytes;
                self.window_bytes.min(floor)
            }
            _ => self.window_bytes,
        }
    }

    fn initial_window_bytes(&self) -> u64 {
        self.initial_window_packets * self.packet_bytes
    }

    fn pacing_rate_bytes_s(&self) -> Option<u64> {
        self.pacing_rate_bytes_s
    }

    fn send_quantum_bytes(&self) -> Option<u64> {
        Some(self.quantum_bytes())
    }

    fn bandwidth_bytes_s(&self) -> Option<u64> {
        Some(self.model.bandwidth_bytes_s()).filter(|rate| *rate > 0)
    }

    fn holds_back(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }

    fn state(&self) -> &'static str {
        match self.mode {
            Mode::Startup => "startup",
            Mode::Drain => "drain",
            Mode::ProbeBandwidth => "probe bandwidth",
            Mode::ProbeRtt => "probe rtt",
        }
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
