use serde::{Deserialize, Serialize};

/// One stage of a direction as configurations write it (`spec/lab-events.md`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case", deny_unknown_fields)]
pub enum StageSpec {
    /// Every packet leaves `delay_ms` after it came.
    Delay {
        /// One-way delay in milliseconds, down to the nanosecond.
        delay_ms: f64,
    },
    /// A link of constant rate with a queue in front of it.
    Rate {
        /// Bits of IP packets a second.
        rate_bit_s: u64,
        /// The queue; unbounded where it is not given.
        #[serde(default)]
        queue: QueueSpec,
    },
    /// Each packet is lost independently.
    Loss {
        /// The chance, from 0 to 1.
        probability: f64,
    },
}

impl StageSpec {
    /// The stage's name in configurations.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Delay { .. } => "delay",
            Self::Rate { .. } => "rate",
            Self::Loss { .. } => "loss",
        }
    }
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
