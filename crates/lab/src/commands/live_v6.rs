//! Whether a live network has IPv6: where this machine has it, and passes its packets on.

use std::fs;
use std::net::IpAddr;

/// A public address of IPv6 begins so (RFC 4291, section 2.4).
const GLOBAL_UNICAST: u8 = 0x20;
const GLOBAL_UNICAST_MASK: u8 = 0xe0;
const ROUTES: &str = "/proc/net/ipv6_route";
const FORWARDING: &str = "/proc/sys/net/ipv6/conf/all/forwarding";

/// Of the machine.
#[derive(Debug, PartialEq, Eq)]
pub enum MachineV6 {
    /// It has a public address and a way out, and forwards.
    Passed,
    /// It has, but forwards no packets.
    NotForwarded,
    /// It has none: people at this machine load over IPv4.
    Absent,
}

impl MachineV6 {
    /// Of the calling thread's network namespace, whose addresses are `own`.
    pub fn look(own: &[IpAddr]) -> Self {
        let read = |file| fs::read_to_string(file).unwrap_or_default();
        Self::of(own, &read(ROUTES), &read(FORWARDING))
    }

    fn of(own: &[IpAddr], routes: &str, forwarding: &str) -> Self {
        if !own.iter().any(is_public) || !routes.lines().any(is_way_out) {
            Self::Absent
        } else if forwarding.trim() == "1" {
            Self::Passed
        } else {
            Self::NotForwarded
        }
    }
}

fn is_public(address: &IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.octets()[0] & GLOBAL_UNICAST_MASK == GLOBAL_UNICAST)
}

/// A default route, but for the one that refuses, which stands on the loopback.
fn is_way_out(route: &str) -> bool {
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
    fn it_takes_a_public_address_a_way_out_and_forwarding() {
        let of = |own: &str, device: &str, forwarding: &str| {
            let own = [own.parse().unwrap(), "::1".parse().unwrap()];
            let route = format!("{ZEROS} 00 {ZEROS} 00 {ZEROS} 00000400 1 0 00000003 {device}\n");
            MachineV6::of(&own, &route, forwarding)
        };
        assert_eq!(of("2606:4700::1", "eth0", "1\n"), MachineV6::Passed);
        assert_eq!(of("2606:4700::1", "eth0", "0\n"), MachineV6::NotForwarded);
        assert_eq!(of("2606:4700::1", "lo", "1\n"), MachineV6::Absent);
        for local in ["fd00::2", "fe80::1", "::1", "192.168.0.1"] {
            assert_eq!(of(local, "eth0", "1\n"), MachineV6::Absent, "{local}");
        }
    }
}
