use serde::{Deserialize, Serialize};

use crate::recorded::Recorded;
use crate::{
    AddressDelaySpec, CodelSpec, DualPi2Spec, FatesSpec, FqCodelSpec, GilbertElliottSpec,
    JitterDistribution, JitterSpec, OutageSpec, PieSpec, RecordedLossSpec, ScheduleSpec, SpecError,
    TraceSpec, trace,
};

/// One stage of a direction as configurations write it (`spec/lab-events.md`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case", deny_unknown_fields)]
pub enum StageSpec {
    /// Every packet leaves `delay_ms` after it came.
    Delay {
        /// One-way delay in milliseconds, down to the nanosecond.
        delay_ms: f64,
    },
    /// A fixed delay of its own for each origin address.
    AddressDelay(AddressDelaySpec),
    /// A delay that varies.
    Jitter(JitterSpec),
    /// A link of constant rate with a queue in front of it.
    Rate {
        /// Bits of IP packets a second.
        rate_bit_s: u64,
        /// The queue; unbounded where it is not given.
        #[serde(default)]
        queue: QueueSpec,
    },
    /// A link whose rate changes over time.
    Schedule(ScheduleSpec),
    /// A link that sends at the instants of a packet-delivery trace.
    Trace(TraceSpec),
    /// Each packet is lost independently.
    Loss {
        /// The chance, from 0 to 1.
        probability: f64,
    },
    /// Loss in bursts.
    GilbertElliott(GilbertElliottSpec),
    /// Loss at given positions.
    RecordedLoss(RecordedLossSpec),
    /// The fates of an earlier log's packets.
    Fates(FatesSpec),
    /// Some packets come twice.
    Duplicate {
        /// The chance, from 0 to 1.
        probability: f64,
    },
    /// A bit of some packets is inverted.
    Corrupt {
        /// The chance, from 0 to 1.
        probability: f64,
    },
    /// The link is down at times.
    Outage(OutageSpec),
}

impl StageSpec {
    /// The stage's name in configurations.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Delay { .. } => "delay",
            Self::AddressDelay(_) => "address_delay",
            Self::Jitter(_) => "jitter",
            Self::Rate { .. } => "rate",
            Self::Schedule(_) => "schedule",
            Self::Trace(_) => "trace",
            Self::Loss { .. } => "loss",
            Self::GilbertElliott(_) => "gilbert_elliott",
            Self::RecordedLoss(_) => "recorded_loss",
            Self::Fates(_) => "fates",
            Self::Duplicate { .. } => "duplicate",
            Self::Corrupt { .. } => "corrupt",
            Self::Outage(_) => "outage",
        }
    }

    /// The stage's queue, where it has one.
    pub(crate) const fn queue_mut(&mut self) -> Option<&mut QueueSpec> {
        match self {
            Self::Rate { queue, .. } => Some(queue),
            Self::Schedule(spec) => Some(&mut spec.queue),
            Self::Trace(spec) => Some(&mut spec.queue),
            _ => None,
        }
    }

    /// Reads the files that a stage names, with `read` (name to text), which only a driver can do.
    /// A stage that names none is left as it is.
    ///
    /// # Errors
    /// When a file cannot be read or one of its lines is wrong; the message names file and line.
    pub fn load_files(
        &mut self,
        read: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<(), SpecError> {
        match self {
            Self::Trace(spec) => load_trace(&mut spec.trace, read),
            Self::Jitter(spec) => {
                let others = spec.per_address.values_mut();
                others
                    .chain([&mut spec.distribution])
                    .try_for_each(|distribution| {
                        let JitterDistribution::Recorded { delays_ms, .. } = distribution else {
                            return Ok(());
                        };
                        delays_ms.load(read, parse_ms, "a delay in milliseconds")
                    })
            }
            Self::RecordedLoss(spec) => {
                spec.positions
                    .load(read, trace::parse_line, "a packet's position, from 0")
            }
            Self::Fates(spec) => {
                let parse = |line: &str| match line {
                    "lost" => Some(None),
                    _ => parse_ms(line).map(Some),
                };
                spec.delays_ms
                    .load(read, parse, "a delay in milliseconds or \"lost\"")
            }
            _ => Ok(()),
        }
    }
}

/// A trace's file is checked as a whole, so that a wrong order is found with its line.
fn load_trace(
    recorded: &mut Recorded<u64>,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<(), SpecError> {
    recorded.load(read, trace::parse_line, trace::LINE)?;
    let Some(file) = recorded.file().map(str::to_owned) else {
        return Ok(());
    };
    let values = recorded.values(&file)?.to_vec();
    trace::Trace::new(values)
        .map(drop)
        .map_err(|error| error.with_file(&file))
}

/// A delay in milliseconds, at least 0.
fn parse_ms(line: &str) -> Option<f64> {
    let plain = line
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    line.parse().ok().filter(|_| plain)
}

/// A queue discipline and its limits. A limit counts the packets that wait, without the one in
/// transmission; several limits hold together; an empty queue takes a packet of any size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "discipline", rename_all = "snake_case", deny_unknown_fields)]
pub enum QueueSpec {
    /// Never drops.
    #[default]
    Infinite,
    /// Drops the arriving packet that would exceed a limit. At least one limit must be given.
    Droptail {
        /// The bytes that the rate drains in this time (on a trace: its mean rate).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_ms: Option<f64>,
        /// Bytes of IP packets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_bytes: Option<u64>,
        /// Packets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_packets: Option<u64>,
    },
    /// Drops the packets that have waited longest until the arriving one fits. Limits as of
    /// `droptail`.
    Drophead {
        /// The bytes that the rate drains in this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_ms: Option<f64>,
        /// Bytes of IP packets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_bytes: Option<u64>,
        /// Packets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_packets: Option<u64>,
    },
    /// Controlled delay.
    Codel(CodelSpec),
    /// Fair queueing with controlled delay.
    FqCodel(FqCodelSpec),
    /// Proportional integral controller.
    Pie(PieSpec),
    /// Two coupled queues, for L4S.
    Dualpi2(DualPi2Spec),
}

impl QueueSpec {
    /// A drop-tail queue of `limit_ms` milliseconds.
    pub const fn droptail_ms(limit_ms: f64) -> Self {
        Self::Droptail {
            limit_ms: Some(limit_ms),
            limit_bytes: None,
            limit_packets: None,
        }
    }

    /// A drop-tail queue of `limit_bytes` bytes.
    pub const fn droptail_bytes(limit_bytes: u64) -> Self {
        Self::Droptail {
            limit_ms: None,
            limit_bytes: Some(limit_bytes),
            limit_packets: None,
        }
    }

    /// A drop-tail queue of `limit_packets` packets.
    pub const fn droptail_packets(limit_packets: u64) -> Self {
        Self::Droptail {
            limit_ms: None,
            limit_bytes: None,
            limit_packets: Some(limit_packets),
        }
    }
}
