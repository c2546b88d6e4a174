//! What this machine offers a lab, asked of the kernel itself.

use crate::Device;
use std::fs;

/// Whether a lab's namespaces and device can be made, tried in a throw-away child. Returns the reason
/// where they cannot.
pub fn lab_can_be_built() -> Result<(), String> {
    use crate::sandbox::{Forked, spawn, wait_for};
    match spawn().map_err(|e| e.to_string())? {
        Forked::Supervisor(pid) => match wait_for(pid).map_err(|e| e.to_string())? {
            0 => Ok(()),
            _ => Err("neither a TUN device nor a virtual Ethernet pair can be made".to_owned()),
        },
        // Ends without running the parent's destructors.
        Forked::Init(_) => {
            let made = Device::create("probe0").is_ok();
            std::process::exit(if made { 0 } else { 1 });
        }
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

/// Whether a thread of this user may take real-time priority.
pub fn realtime_allowed() -> bool {
    std::thread::spawn(|| crate::request_realtime(crate::RealtimePriority::Path))
        .join()
        .unwrap_or(false)
}
