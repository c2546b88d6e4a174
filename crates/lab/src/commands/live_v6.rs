//! Whether a live network has IPv6, which requires that this machine has and forwards it.

use std::fs;
use std::net::IpAddr;

/// The prefix of public IPv6 addresses (RFC 4291, section 2.4).
const GLOBAL_UNICAST: u8 = 0x20;
const GLOBAL_UNICAST_MASK: u8 = 0xe0;
const ROUTES: &str = "/proc/net/ipv6_route";
const FORWARDING: &str = "/proc/sys/net/ipv6/conf/all/forwarding";

/// The IPv6 support of this machine.
#[derive(Debug, PartialEq, Eq)]
pub enum MachineV6 {
    /// The machine has a public address and a default route, and forwards.
    Forwarded,
    /// The machine has both but does not forward packets.
    NotForwarded,
    /// The machine has no IPv6: its users load over IPv4.
    Absent,
}

impl MachineV6 {
    /// Examines the calling thread's network namespace, whose addresses are `own`.
    pub fn detect(own: &[IpAddr]) -> Self {
        let read = |file| fs::read_to_string(file).unwrap_or_default();
        Self::from_files(own, &read(ROUTES), &read(FORWARDING))
    }

    fn from_files(own: &[IpAddr], routes: &str, forwarding: &str) -> Self {
        if !own.iter().any(is_public) || !routes.lines().any(is_default_route) {
            Self::Absent
        } else if forwarding.trim() == "1" {
            Self::Forwarded
        } else {
            Self::NotForwarded
        }
    }
}

fn is_public(address: &IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.octets()[0] & GLOBAL_UNICAST_MASK == GLOBAL_UNICAST)
}

/// Whether a route is a default route, except for the one that rejects, which is on the loopback.
fn is_default_route(route: &str) -> bool {
    let words: Vec<&str> = route.split_whitespace().collect();
    let is_default = words
        .first()
        .is_some_and(|first| first.bytes().all(|byte| byte == b'0'));
    is_default && words.get(1) == Some(&"00") && words.last().is_some_and(|last| *last != "lo")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZEROS: &str = "00000000000000000000000000000000";

    #[test]
    fn ipv6_needs_a_public_address_a_default_route_and_forwarding() {
        let detect = |own: &str, device: &str, forwarding: &str| {
            let own = [own.parse().unwrap(), "::1".parse().unwrap()];
            let route = format!("{ZEROS} 00 {ZEROS} 00 {ZEROS} 00000400 1 0 00000003 {device}\n");
            MachineV6::from_files(&own, &route, forwarding)
        };
        assert_eq!(detect("2606:4700::1", "eth0", "1\n"), MachineV6::Forwarded);
        assert_eq!(
            detect("2606:4700::1", "eth0", "0\n"),
            MachineV6::NotForwarded
        );
        assert_eq!(detect("2606:4700::1", "lo", "1\n"), MachineV6::Absent);
        for local in ["fd00::2", "fe80::1", "::1", "192.168.0.1"] {
            assert_eq!(detect(local, "eth0", "1\n"), MachineV6::Absent, "{local}");
        }
    }
}
