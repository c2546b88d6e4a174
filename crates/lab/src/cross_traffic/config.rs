//! The configuration of cross traffic (`spec/lab-events.md`).

use crate::Error;
use serde::{Deserialize, Serialize};

/// The most flows, with a sender and a receiver thread each; more would add no information.
pub const FLOWS_MAX: u32 = 64;

/// Bulk transfers of one kind.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct CrossTrafficConfig {
    /// The congestion control of the senders.
    pub congestion_control: KernelController,
    /// The number of transfers.
    #[serde(default = "default_flows")]
    pub flows: u32,
    /// The direction of their data.
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
    /// Returns the kernel's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
            Self::Reno => "reno",
        }
    }
}

/// The direction of a transfer's data.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FlowDirection {
    /// To the second client, as a page's bytes go to the first.
    #[default]
    Down,
    /// From the second client.
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

fn default_flows() -> u32 {
    1
}
