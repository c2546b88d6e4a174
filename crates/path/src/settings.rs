//! What a path joins and what it does.

use crate::measured::windows::FirstWindows;
use crate::watch::Watch;
use eyelevel_link::{SpecError, StageSpec};
use eyelevel_netns::{Device, Error};
use std::fs::File;
use std::net::IpAddr;

/// The devices that a path joins.
pub struct Ends {
    /// The client's.
    pub client: Device,
    /// The server's.
    pub server: Device,
    /// A second client's and a second server's, which share the path.
    pub second: Option<SecondPair>,
}

/// The devices of hosts beside the first two, with the address of each, by which packets find them.
pub struct SecondPair {
    /// The second client's.
    pub client: (Device, IpAddr),
    /// The second server's.
    pub server: (Device, IpAddr),
}

/// What a path does.
pub struct PathSettings<'a> {
    /// The stages from the server to the client, in the order in which a packet meets them.
    pub down: &'a [StageSpec],
    /// The stages from the client to the server.
    pub up: &'a [StageSpec],
    /// From which every stage derives its generator.
    pub seed: u64,
    /// Where to write the logs of down and up.
    pub logs: Option<(File, File)>,
    /// Where to write the packets as the servers' end has them, for Wireshark and tcpdump.
    pub capture: Option<File>,
    /// Where the counts are shown while the path runs.
    pub watch: Option<Watch>,
    /// Where the windows are told that clients offer over TCP at first.
    pub windows: Option<FirstWindows>,
}

/// Why a path could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// Its settings make no sense.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The kernel refused something.
    #[error(transparent)]
    System(#[from] Error),
}
