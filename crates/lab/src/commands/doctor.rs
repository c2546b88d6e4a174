//! `eyelevel-lab doctor`: what this machine supports.

use crate::reserved_core::core_to_reserve;
use eyelevel_netns::probe;
use serde::Serialize;

/// The kernel's capabilities, printed as one line of JSON.
#[derive(Serialize)]
pub struct Findings {
    /// Why a lab's namespaces and TUN device cannot be created; null if they can.
    pub lab_failure: Option<String>,
    /// The kind of device of a path: `tun` or `veth`. Null without a lab.
    pub path_device: Option<&'static str>,
    /// The congestion controls of the kernel's TCP.
    pub tcp_congestion_controls: Vec<String>,
    /// Whether the path may use real-time priority.
    pub realtime_allowed: bool,
    /// Whether a lab reserves a core for its own threads.
    pub reserves_core: bool,
}

/// Examines the kernel. Must run before the process has a second thread.
pub fn examine() -> Findings {
    let realtime_allowed = probe::is_realtime_allowed();
    let path_device = probe::path_device();
    Findings {
        path_device: path_device.as_ref().ok().copied(),
        lab_failure: path_device.err(),
        tcp_congestion_controls: probe::tcp_congestion_controls(),
        realtime_allowed,
        reserves_core: core_to_reserve(realtime_allowed).is_some(),
    }
}
