//! A bulk transfer in virtual time: a sender with QUIC's loss detection (RFC 9002) around a
//! `Flow`, a receiver that acknowledges as RFC 9000 recommends, and the emulated path between.

mod receiver;
mod sender;

use crate::Network;
use eyelevel_congestion::{Flow, Settings, by_name};
use eyelevel_link::{DelaySpec, Direction, LossSpec, QueueSpec, RateSpec, StageSpec};
use eyelevel_units::{Duration, Instant, Seed};
pub use receiver::{Busy, Receiver};
pub use sender::Sender;

/// UDP payload of full packets, and what IPv4 and UDP add on the wire, unless a scenario says else.
pub const PACKET_BYTES: u64 = 1252;
const HEADER_BYTES: u64 = 28;
/// How often a transfer looks whether it is complete.
const TRANSFER_STEP: Duration = Duration::from_millis(5);

/// What a packet carries.
#[derive(Clone, Debug)]
pub enum Payload {
    /// One full packet.
    Data {
        /// In order of sending.
        number: u64,
        /// The chunk of the transfer in it.
        chunk: u64,
        /// When it left.
        sent_at: Instant,
    },
    /// What came until now.
    Ack {
        /// Ranges of numbers received, newest first.
        ranges: Vec<(u64, u64)>,
        /// When the packets since the last one arrived, where the receiver says.
        arrivals: Vec<(u64, Instant)>,
        /// Packets that came marked, in all.
        marked: u64,
    },
}

/// A flow's window, threshold, pacing rate and state, as `vectors/congestion` writes them.
pub fn answer(flow: &Flow) -> String {
    let controller = flow.controller();
    let or_dash = |value: Option<u64>| value.map_or("-".to_owned(), |value| value.to_string());
    format!(
        "{}\t{}\t{}\t{}",
        controller.window_bytes(),
        or_dash(controller.slow_start_threshold_bytes()),
        or_dash(controller.pacing_rate_bytes_s()),
        controller.state()
    )
}

/// Packet numbers, as `vectors/congestion` writes them.
pub fn list(numbers: &[u64]) -> String {
    numbers
        .iter()
        .map(u64::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

/// A path and what to send over it.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The sender's, by its name in [`eyelevel_congestion::CONTROLLERS`].
    pub controller: &'static str,
    /// The controller's.
    pub settings: Settings,
    /// What the wire adds to a packet's payload.
    pub header_bytes: u64,
    /// Of the bottleneck.
    pub rate_bit_s: u64,
    /// With an empty queue.
    pub rtt_ms: f64,
    /// What the drop-tail queue holds, in time at the rate.
    pub queue_ms: f64,
    /// In the place of the drop-tail queue.
    pub queue: Option<QueueSpec>,
    /// Whether packets are ECT(0), which such a queue may mark.
    pub ecn: bool,
    /// One packet's chance to be lost, in each direction.
    pub loss: f64,
    /// Of the path's luck.
    pub seed: u64,
    /// Replaces rate and queue by a trace of delivery opportunities in milliseconds.
    pub trace: Option<Vec<u64>>,
    /// Chunks to send; None: without end.
    pub chunks: Option<u64>,
    /// The most that the receiver lets be in flight.
    pub receive_window_bytes: u64,
    /// Whether the receiver reports arrival times.
    pub receive_timestamps: bool,
    /// How many packets the receiver acknowledges at a time, after the first hundred.
    pub packets_per_ack: u32,
    /// Whether the receiver has waits.
    pub busy: Option<Busy>,
}

impl Scenario {
    /// Sends without end with an initial window of 32 packets; nothing is lost but by the queue.
    ///
    /// Running it panics where the controller is unknown or the path is none.
    pub fn new(controller: &'static str, rate_bit_s: u64, rtt_ms: f64, queue_ms: f64) -> Self {
        Self {
            controller,
            settings: Settings {
                packet_bytes: PACKET_BYTES,
                initial_window_packets: 32,
                ..Settings::default()
            },
            header_bytes: HEADER_BYTES,
            rate_bit_s,
            rtt_ms,
            queue_ms,
            queue: None,
            ecn: false,
            loss: 0.0,
            seed: 1,
            trace: None,
            chunks: None,
            receive_window_bytes: u64::MAX,
            receive_timestamps: false,
            packets_per_ack: 2,
            busy: None,
        }
    }

    /// Runs it for so many seconds.
    pub fn run(&self, seconds: f64) -> Outcome {
        let mut network = self.network();
        network.run_until(Instant::ZERO + Duration::from_secs_f64(seconds));
        Outcome::of(&network, self, seconds)
    }

    /// Runs it until the receiver has so many chunks, or for so many seconds.
    pub fn transfer(&self, chunks: u64, seconds_max: f64) -> Outcome {
        let scenario = Self {
            chunks: Some(chunks),
            ..self.clone()
        };
        let mut network = scenario.network();
        let steps = (seconds_max / TRANSFER_STEP.as_secs_f64()).ceil() as u32;
        for step in 1..=steps {
            network.run_until(Instant::ZERO + TRANSFER_STEP * step);
            if network.server.chunks() >= chunks {
                let now_s = network.now().since(Instant::ZERO).as_secs_f64();
                return Outcome::of(&network, &scenario, now_s);
            }
        }
        Outcome::of(&network, &scenario, seconds_max)
    }

    /// The two ends and the path, not yet run.
    ///
    /// # Panics
    /// Where the controller is unknown, its settings or the path's are out of range.
    pub fn network(&self) -> Network<Sender, Receiver, Payload> {
        let delay = StageSpec::Delay(DelaySpec {
            delay_ms: self.rtt_ms / 2.0,
        });
        let loss = StageSpec::Loss(LossSpec {
            probability: self.loss,
        });
        let mut down = vec![delay.clone()];
        if self.trace.is_none() {
            down.push(StageSpec::Rate(RateSpec {
                rate_bit_s: self.rate_bit_s,
                queue: self
                    .queue
                    .clone()
                    .unwrap_or(QueueSpec::droptail_ms(self.queue_ms)),
            }));
        }
        down.push(loss.clone());
        let seed = Seed::new(self.seed);
        let controller = by_name(self.controller, &self.settings).unwrap();
        let flow = Flow::new(controller, self.settings.packet_bytes);
        // "Up" leads away from the sender: the network's client is our server.
        Network::new(
            Sender::new(flow, self),
            Receiver::new(
                self.trace.clone(),
                self.receive_timestamps,
                self.packets_per_ack,
                self.busy,
            ),
            Direction::new(&down, seed.child("down")).unwrap(),
            Direction::new(&[delay, loss], seed.child("up")).unwrap(),
        )
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Distinct data delivered, headers excluded.
    pub goodput_bit_s: f64,
    /// The same in units of what the link could carry.
    pub utilisation: f64,
    /// Repetitions included.
    pub packets_sent: u64,
    /// Declared lost by the sender.
    pub packets_lost: u64,
    /// By the bottleneck's queue.
    pub dropped_by_queue: u64,
    /// By it, instead of being dropped.
    pub marked_by_queue: u64,
    /// From entering the bottleneck to leaving it, half of the packets.
    pub queue_delay_ms_p50: f64,
    /// The same of the slowest 5 %.
    pub queue_delay_ms_p95: f64,
    /// At the end.
    pub window_packets: u64,
}

impl Outcome {
    fn of(network: &Network<Sender, Receiver, Payload>, run: &Scenario, seconds: f64) -> Self {
        let sender = &network.client;
        let packet_bytes = run.settings.packet_bytes;
        let goodput_bit_s = (network.server.chunks() * packet_bytes * 8) as f64 / seconds;
        let share = packet_bytes as f64 / (packet_bytes + run.header_bytes) as f64;
        let mut delays = network.server.delays_ms(run.rtt_ms / 2.0);
        delays.sort_by(f64::total_cmp);
        let percentile = |p: f64| match delays.len() {
            0 => 0.0,
            count => delays[((count - 1) as f64 * p) as usize],
        };
        Self {
            goodput_bit_s,
            utilisation: goodput_bit_s / (run.rate_bit_s as f64 * share),
            packets_sent: sender.packets_sent(),
            packets_lost: sender.packets_lost(),
            dropped_by_queue: network
                .up
                .counters()
                .get(1)
                .map_or(0, |rate| rate.dropped_total()),
            marked_by_queue: network.up.counters().get(1).map_or(0, |rate| rate.marked),
            queue_delay_ms_p50: percentile(0.5),
            queue_delay_ms_p95: percentile(0.95),
            window_packets: sender.flow().controller().window_bytes() / packet_bytes,
        }
    }
}
