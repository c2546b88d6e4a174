//! What this machine offers a lab, asked of the kernel itself.

use crate::sandbox::{Forked, spawn, wait_for};
use crate::{Device, RealtimePriority, request_realtime};
use std::fs;

/// Exit statuses of a child that made a device.
const IS_TUN: i32 = 0;
const IS_NEITHER: i32 = 1;
const IS_VETH: i32 = 2;

/// The kind of device that a lab's path has here, as `Device::kind` names it, tried in a throw-away
/// child. Returns the reason where its namespaces or device cannot be made.
pub fn path_device() -> Result<&'static str, String> {
    let status = within_a_lab(|| match Device::create("probe0") {
        Ok(device) if device.kind() == "tun" => IS_TUN,
        Ok(_) => IS_VETH,
        Err(_) => IS_NEITHER,
    })?;
    match status {
        IS_TUN => Ok("tun"),
        IS_VETH => Ok("veth"),
        _ => Err("neither a TUN device nor a virtual Ethernet pair can be made".to_owned()),
    }
}

/// The exit status that `asked` answers in a lab's namespaces, in a throw-away child.
fn within_a_lab(asked: impl FnOnce() -> i32) -> Result<i32, String> {
    match spawn().map_err(|error| error.of_doctor())? {
        Forked::Supervisor(pid) => wait_for(pid).map_err(|error| error.of_doctor()),
        // Ends without running the parent's destructors.
        Forked::Init(_) => std::process::exit(asked()),
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
    within_a_lab(|| i32::from(!request_realtime(RealtimePriority::Path))) == Ok(0)
}
