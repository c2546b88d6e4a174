//! What this machine offers a lab.

use crate::reserved_core::core_to_reserve;
use eyelevel_netns::probe;
use serde::Serialize;

/// One line of JSON: what was asked of the kernel, and its answers.
#[derive(Serialize)]
pub struct Findings {
    /// Null where a lab's namespaces and TUN device can be made; else why not.
    pub lab_failure: Option<String>,
    /// The kind of device that a path has: `tun` or `veth`. Null without a lab.
    pub path_device: Option<&'static str>,
    /// Congestion controls of the kernel's TCP.
    pub tcp_congestion_controls: Vec<String>,
    /// Whether the path may take real-time priority.
    pub realtime_allowed: bool,
    /// Whether a lab keeps a core for its own threads.
    pub reserves_core: bool,
}

/// Asks the kernel. Must run before the process has a second thread.
pub fn examine() -> Findings {
    let realtime_allowed = probe::realtime_allowed();
    let path_device = probe::path_device();
    Findings {
        path_device: path_device.as_ref().ok().copied(),
        lab_failure: path_device.err(),
        tcp_congestion_controls: probe::tcp_congestion_controls(),
        realtime_allowed,
        reserves_core: core_to_reserve(realtime_allowed).is_some(),
    }
}
