//! A bulk transfer in virtual time: a sender with QUIC's loss detection (RFC 9002) around a `Flow`,
//! a receiver that acknowledges as RFC 9000 recommends, and the emulated path between.

mod receiver;
mod sender;

use crate::Network;
use eyelevel_congestion::{Flow, Settings, by_name};
use eyelevel_link::{DelaySpec, Direction, LossSpec, QueueSpec, RateSpec, StageSpec};
use eyelevel_units::{Duration, Instant, Seed};
pub use receiver::{Busy, Receiver};
pub use sender::Sender;

/// The UDP payload of full packets, and the default overhead of IPv4 and UDP on the wire.
pub const PACKET_BYTES: u64 = 1252;
const HEADER_BYTES: u64 = 28;
/// The interval at which a transfer checks whether it is complete.
const TRANSFER_STEP: Duration = Duration::from_millis(5);

/// The contents of a packet.
#[derive(Clone, Debug)]
pub enum Payload {
    /// One full packet.
    Data {
        /// Number in order of sending.
        number: u64,
        /// The chunk of the transfer in it.
        chunk: u64,
        /// Time of sending.
        sent_at: Instant,
    },
    /// An acknowledgement of the packets so far.
    Ack {
        /// Ranges of numbers received, newest first.
        ranges: Vec<(u64, u64)>,
        /// Arrivals of the packets since the last one, if the receiver reports them.
        arrivals: Vec<(u64, Instant)>,
        /// Total number of packets that arrived marked.
        marked: u64,
    },
}

/// Formats a flow's window, threshold, pacing rate and state, as in `vectors/congestion`.
pub fn format_state(flow: &Flow) -> String {
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

/// Formats packet numbers, as in `vectors/congestion`.
pub fn format_numbers(numbers: &[u64]) -> String {
    numbers
        .iter()
        .map(u64::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

/// A path and the transfer over it.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The sender's controller, by its name in [`eyelevel_congestion::CONTROLLERS`].
    pub controller: &'static str,
    /// The controller's settings.
    pub settings: Settings,
    /// The bytes that headers add to a packet's payload.
    pub header_bytes: u64,
    /// The bottleneck's rate.
    pub rate_bit_s: u64,
    /// The round trip time with an empty queue.
    pub rtt_ms: f64,
    /// The capacity of the drop-tail queue, in time at the rate.
    pub queue_ms: f64,
    /// A queue that replaces the drop-tail queue.
    pub queue: Option<QueueSpec>,
    /// Whether packets are ECT(0), which such a queue may mark.
    pub ecn: bool,
    /// The probability of a packet's loss, in each direction.
    pub loss: f64,
    /// The seed of the path's randomness.
    pub seed: u64,
    /// A trace of delivery opportunities in milliseconds, which replaces rate and queue.
    pub trace: Option<Vec<u64>>,
    /// Chunks to send; `None`: without end.
    pub chunks: Option<u64>,
    /// The most bytes in flight that the receiver allows.
    pub receive_window_bytes: u64,
    /// Whether the receiver reports arrival times.
    pub receive_timestamps: bool,
    /// The number of packets that the receiver acknowledges at a time, after the first hundred.
    pub packets_per_ack: u32,
    /// The receiver's pauses, if it has any.
    pub busy: Option<Busy>,
}

impl Scenario {
    /// Creates an endless transfer with an initial window of 32 packets, with losses in the queue
    /// alone.
    ///
    /// Running it panics if the controller is unknown or the path is invalid.
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

    /// Runs it for the given seconds.
    pub fn run(&self, seconds: f64) -> Outcome {
        let mut network = self.network();
        network.run_until(Instant::ZERO + Duration::from_secs_f64(seconds));
        Outcome::measure(&network, self, seconds)
    }

    /// Runs it until the receiver has the given chunks, or for the given seconds.
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
                return Outcome::measure(&network, &scenario, now_s);
            }
        }
        Outcome::measure(&network, &scenario, seconds_max)
    }

    /// Creates the two ends and the path, not yet run.
    ///
    /// # Panics
    /// If the controller is unknown, or its settings or the path's are out of range.
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

/// The result of a transfer.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Rate of distinct data delivered, headers excluded.
    pub goodput_bit_s: f64,
    /// The goodput as a share of the link's capacity.
    pub utilisation: f64,
    /// Packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Packets that the sender declared lost.
    pub packets_lost: u64,
    /// Packets that the bottleneck's queue dropped.
    pub dropped_by_queue: u64,
    /// Packets that the queue marked instead of dropping.
    pub marked_by_queue: u64,
    /// Median time from entering the bottleneck to leaving it.
    pub queue_delay_ms_p50: f64,
    /// The 95th percentile of that time.
    pub queue_delay_ms_p95: f64,
    /// The window at the end.
    pub window_packets: u64,
}

impl Outcome {
    fn measure(network: &Network<Sender, Receiver, Payload>, run: &Scenario, seconds: f64) -> Self {
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
