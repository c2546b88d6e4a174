//! The devices and settings of a path.

use crate::measured::windows::FirstWindows;
use crate::watch::Watch;
use eyelevel_link::{SpecError, StageSpec};
use eyelevel_netns::{Device, Error};
use std::fs::File;
use std::net::IpAddr;

/// The devices that a path joins.
pub struct Ends {
    /// The client's device.
    pub client: Device,
    /// The server's device.
    pub server: Device,
    /// The devices of a second client and a second server, which share the path.
    pub second: Option<SecondPair>,
}

/// The devices of a second pair of hosts, with the address of each, by which packets are routed to
/// them.
pub struct SecondPair {
    /// The second client's.
    pub client: (Device, IpAddr),
    /// The second server's.
    pub server: (Device, IpAddr),
}

/// The settings of a path.
pub struct PathSettings<'a> {
    /// The stages from the server to the client, in the order in which a packet passes them.
    pub down: &'a [StageSpec],
    /// The stages from the client to the server.
    pub up: &'a [StageSpec],
    /// The seed from which every stage derives its generator.
    pub seed: u64,
    /// The log files of down and up.
    pub logs: Option<(File, File)>,
    /// The capture file of packets at the servers' end, for Wireshark and tcpdump.
    pub capture: Option<File>,
    /// The view that shows the counts while the path runs.
    pub watch: Option<Watch>,
    /// The store for the first windows that clients offer over TCP.
    pub windows: Option<FirstWindows>,
}

/// An error of creating a path.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// Invalid settings.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// An error of the kernel.
    #[error(transparent)]
    System(#[from] Error),
}
