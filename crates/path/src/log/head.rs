use crate::log::record::RECORD_BYTES;
use eyelevel_link::{DropReason, StageSpec};
use eyelevel_units::Instant;
use serde::{Deserialize, Serialize};

/// The program that writes logs.
pub(crate) const PROGRAM: &str = concat!("eyelevel-lab ", env!("CARGO_PKG_VERSION"));
/// The format's name and version.
pub(crate) const FORMAT: &str = "eyelevel-path-log";
pub(crate) const VERSION: u32 = 1;

/// The first line of a path log (`spec/path-log.md`).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LogHead {
    /// Always `eyelevel-path-log`.
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// `down` or `up`.
    pub direction: String,
    /// The stages in the order in which a packet passes them.
    pub stages: Vec<StageSpec>,
    /// The lab's seed.
    pub seed: u64,
    /// Start of the path, in nanoseconds.
    pub start_ns: u64,
    /// Bytes of each record.
    pub record_bytes: usize,
    /// Names of the drop reasons, by number.
    pub drop_reasons: Vec<String>,
    /// The kind of both devices.
    pub device: String,
    /// Whether the path's thread had real-time priority.
    pub realtime_priority: bool,
    /// The program that wrote it.
    pub program: String,
}

impl LogHead {
    pub(crate) fn new(direction: &str, stages: &[StageSpec], seed: u64, device: &str) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            direction: direction.to_owned(),
            stages: stages.to_vec(),
            seed,
            start_ns: 0,
            record_bytes: RECORD_BYTES,
            drop_reasons: DropReason::ALL.map(|r| r.name().to_owned()).to_vec(),
            device: device.to_owned(),
            realtime_priority: false,
            program: PROGRAM.to_owned(),
        }
    }

    /// Returns the line for a path that begins at `start`.
    pub(crate) fn line(mut self, start: Instant, realtime_priority: bool) -> String {
        self.start_ns = start.as_nanos();
        self.realtime_priority = realtime_priority;
        serde_json::to_string(&self).expect("texts, numbers and stages are JSON")
    }
}
