//! What of cross traffic is asked for (`spec/lab-events.md`).

use crate::Error;
use serde::{Deserialize, Serialize};

/// A sender and a receiver thread each: more say nothing that these do not.
pub const FLOWS_MAX: u32 = 64;

/// Bulk transfers of one kind.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct CrossTrafficConfig {
    /// The congestion control of the senders.
    pub congestion_control: KernelController,
    /// How many transfers.
    #[serde(default = "one")]
    pub flows: u32,
    /// Which way their data goes.
    #[serde(default)]
    pub direction: FlowDirection,
}

/// The congestion controllers that the kernel's TCP has.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelController {
    Cubic,
    Bbr,
    Reno,
}

impl KernelController {
    /// As the kernel calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
            Self::Reno => "reno",
        }
    }
}

/// Which way the data of a transfer goes.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FlowDirection {
    /// To the second client, as a page's bytes go to the first.
    #[default]
    Down,
    /// From it.
    Up,
}

/// Checks the numbers of flows.
pub fn validate(kinds: &[CrossTrafficConfig]) -> Result<(), Error> {
    let flows = kinds.iter().map(|kind| u64::from(kind.flows)).sum::<u64>();
    if kinds.iter().any(|kind| kind.flows == 0) || flows > u64::from(FLOWS_MAX) {
        return Err(Error::Config(format!(
            "the configuration: cross_traffic of {flows} flows; use from 1 to {FLOWS_MAX} in all \
             and at least 1 of each kind"
        )));
    }
    Ok(())
}

fn one() -> u32 {
    1
}
