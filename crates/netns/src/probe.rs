//! Probes what this machine's kernel supports for a lab.

use crate::sandbox::{Forked, spawn, wait_for};
use crate::{Device, RealtimePriority, request_realtime};
use std::fs;

/// The exit statuses of a child that created a device.
const IS_TUN: i32 = 0;
const IS_NEITHER: i32 = 1;
const IS_VETH: i32 = 2;

/// Returns the kind of device of a lab's path, as in `Device::kind`, tried in a temporary child;
/// the error states why its namespaces or device cannot be created.
pub fn path_device() -> Result<&'static str, String> {
    let status = run_in_lab(|| match Device::create("probe0") {
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

/// Returns the exit status of `asked` in a lab's namespaces, in a temporary child.
fn run_in_lab(work: impl FnOnce() -> i32) -> Result<i32, String> {
    match spawn().map_err(|error| error.to_doctor_message())? {
        Forked::Supervisor(pid) => wait_for(pid).map_err(|error| error.to_doctor_message()),
        // Ends without running the parent's destructors.
        Forked::Init(_) => std::process::exit(work()),
    }
}

/// Returns the congestion controls that every namespace may use.
pub fn tcp_congestion_controls() -> Vec<String> {
    fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .unwrap_or_default()
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

/// Whether a lab's path may have real-time priority. Tested in a lab's namespaces: in a user
/// namespace only the caller's limit (`RLIMIT_RTPRIO`) allows it, not `CAP_SYS_NICE`. False if no
/// lab can be created.
pub fn is_realtime_allowed() -> bool {
    run_in_lab(|| i32::from(!request_realtime(RealtimePriority::Path))) == Ok(0)
}
