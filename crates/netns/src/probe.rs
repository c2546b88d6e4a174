//! What this machine offers a lab, asked of the kernel itself.

use crate::sandbox::{Forked, spawn, wait_for};
use crate::{Device, RealtimePriority, request_realtime};
use std::fs;

/// Whether a lab's namespaces and device can be made, tried in a throw-away child. Returns the reason
/// where they cannot.
pub fn lab_can_be_built() -> Result<(), String> {
    match within_a_lab(|| Device::create("probe0").is_ok())? {
        true => Ok(()),
        false => Err("neither a TUN device nor a virtual Ethernet pair can be made".to_owned()),
    }
}

/// What `asked` answers in a lab's namespaces, in a throw-away child.
fn within_a_lab(asked: impl FnOnce() -> bool) -> Result<bool, String> {
    match spawn().map_err(|error| error.of_doctor())? {
        Forked::Supervisor(pid) => wait_for(pid)
            .map(|status| status == 0)
            .map_err(|error| error.of_doctor()),
        // Ends without running the parent's destructors.
        Forked::Init(_) => std::process::exit(i32::from(!asked())),
    }
}

/// Congestion controls that every namespace may use.
pub fn tcp_congestion_controls() -> Vec<String> {
    fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .unwrap_or_default()
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

/// Whether a lab's path may take real-time priority. Asked in a lab's namespaces: in a user namespace
/// only the caller's limit (`RLIMIT_RTPRIO`) allows it, `CAP_SYS_NICE` no more. False where no lab
/// can be built.
pub fn realtime_allowed() -> bool {
    within_a_lab(|| request_realtime(RealtimePriority::Path)).unwrap_or(false)
}
