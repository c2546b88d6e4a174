//! Addresses without public servers, after IANA's special-purpose address registries (RFC 6890, RFC
//! 8190), its IPv6 address space (RFC 4291) and multicast.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use crate::Prefix;

/// A range without public servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Special {
    /// The range.
    pub range: Prefix,
    /// Its purpose, in a word or two.
    pub purpose: &'static str,
    /// The document that defines it.
    pub source: &'static str,
}

impl fmt::Display for Special {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.purpose, self.source)
    }
}

/// The rows of the table, narrower ranges before wider ones: the first that contains an address
/// names it.
///
/// Ranges that IANA calls globally reachable are excluded, except for those inside of 192.0.0.0/24
/// and 2001::/23: these have no servers of pages, and some end in the nearest network (RFC 8155).
const ROWS: [(&str, &str, &str); 45] = [
    ("0.0.0.0/32", "this host", "RFC 1122"),
    ("0.0.0.0/8", "this network", "RFC 791"),
    ("10.0.0.0/8", "private", "RFC 1918"),
    (
        "100.64.0.0/10",
        "shared by a provider's customers",
        "RFC 6598",
    ),
    ("127.0.0.0/8", "loopback", "RFC 1122"),
    (
        "168.63.129.16/32",
        "a cloud's platform",
        "Azure's documentation",
    ),
    ("169.254.0.0/16", "link-local", "RFC 3927"),
    ("172.16.0.0/12", "private", "RFC 1918"),
    ("192.0.0.0/24", "of the IETF's protocols", "RFC 6890"),
    ("192.0.2.0/24", "documentation", "RFC 5737"),
    ("192.88.99.0/24", "relay of 6to4, deprecated", "RFC 7526"),
    ("192.168.0.0/16", "private", "RFC 1918"),
    ("198.18.0.0/15", "benchmarks", "RFC 2544"),
    ("198.51.100.0/24", "documentation", "RFC 5737"),
    ("203.0.113.0/24", "documentation", "RFC 5737"),
    ("224.0.0.0/4", "multicast", "RFC 5771"),
    ("255.255.255.255/32", "broadcast", "RFC 919"),
    ("240.0.0.0/4", "reserved", "RFC 1112"),
    ("::1/128", "loopback", "RFC 4291"),
    ("::/128", "unspecified", "RFC 4291"),
    ("64:ff9b:1::/48", "local translation of IPv4", "RFC 8215"),
    ("::/8", "reserved", "RFC 4291"),
    ("100::/64", "discarded", "RFC 6666"),
    ("100:0:0:1::/64", "dummy", "RFC 9780"),
    ("100::/8", "reserved", "RFC 4291"),
    ("200::/7", "reserved", "RFC 4048"),
    ("400::/6", "reserved", "RFC 4291"),
    ("800::/5", "reserved", "RFC 4291"),
    ("1000::/4", "reserved", "RFC 4291"),
    ("2001::/32", "Teredo", "RFC 4380"),
    ("2001:2::/48", "benchmarks", "RFC 5180"),
    ("2001:10::/28", "ORCHID, deprecated", "RFC 4843"),
    ("2001::/23", "of the IETF's protocols", "RFC 2928"),
    ("2001:db8::/32", "documentation", "RFC 3849"),
    ("2002::/16", "6to4, deprecated", "RFC 7526"),
    ("3fff::/20", "documentation", "RFC 9637"),
    ("5f00::/16", "segments of routes", "RFC 9602"),
    ("4000::/2", "reserved", "RFC 4291"),
    ("8000::/2", "reserved", "RFC 4291"),
    ("fc00::/7", "unique local", "RFC 4193"),
    ("fe80::/10", "link-local", "RFC 4291"),
    ("fec0::/10", "site-local, deprecated", "RFC 3879"),
    ("ff00::/8", "multicast", "RFC 4291"),
    // The rest of the upper quarter.
    ("c000::/3", "reserved", "RFC 4291"),
    ("e000::/3", "reserved", "RFC 4291"),
];

static TABLE: LazyLock<Vec<Special>> = LazyLock::new(|| {
    let row = |(range, purpose, source): (&str, _, _)| Special {
        range: range.parse().expect("a range of the table"),
        purpose,
        source,
    };
    ROWS.into_iter().map(row).collect()
});

/// Prefixes of 96 bits that carry an IPv4 address in the last 32, which is the one to check: mapped
/// (RFC 4291, section 2.5.5.2) and translated (RFC 6052, section 2.1).
const CARRIERS: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0),
    Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0),
];

/// Returns the special range of an address; `None` if a public server may be there. An IPv4 address
/// in an IPv6 address is checked instead of it.
pub fn special(address: IpAddr) -> Option<&'static Special> {
    let judged = match address {
        IpAddr::V6(v6) => embedded_ipv4(v6).map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    };
    TABLE.iter().find(|row| row.range.contains(judged))
}

/// Returns all ranges without public servers.
pub fn special_ranges() -> impl Iterator<Item = &'static Special> {
    TABLE.iter()
}

fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let bits = address.to_bits();
    let is_carrier = |prefix: &Ipv6Addr| prefix.to_bits() >> 32 == bits >> 32;
    let is_carried = CARRIERS.iter().any(is_carrier);
    is_carried.then_some(Ipv4Addr::from_bits(bits as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row of both registries, with an address at each end of it, and whether IANA calls it
    /// globally reachable; then rows of other registries.
    const REGISTRIES: [(&str, &str, bool); 60] = [
        ("0.0.0.0", "0.255.255.255", false),
        ("10.0.0.0", "10.255.255.255", false),
        ("100.64.0.0", "100.127.255.255", false),
        ("127.0.0.0", "127.255.255.255", false),
        ("169.254.0.0", "169.254.255.255", false),
        ("172.16.0.0", "172.31.255.255", false),
        ("192.0.0.0", "192.0.0.255", false),
        ("192.0.0.0", "192.0.0.7", false),
        ("192.0.0.8", "192.0.0.8", false),
        ("192.0.0.9", "192.0.0.10", false), // reachable to IANA, inside of 192.0.0.0/24
        ("192.0.0.170", "192.0.0.171", false),
        ("192.0.2.0", "192.0.2.255", false),
        ("192.31.196.0", "192.31.196.255", true),
        ("192.52.193.0", "192.52.193.255", true),
        ("192.88.99.0", "192.88.99.255", false),
        ("192.168.0.0", "192.168.255.255", false),
        ("192.175.48.0", "192.175.48.255", true),
        ("198.18.0.0", "198.19.255.255", false),
        ("198.51.100.0", "198.51.100.255", false),
        ("203.0.113.0", "203.0.113.255", false),
        ("224.0.0.0", "239.255.255.255", false),
        ("240.0.0.0", "255.255.255.255", false),
        ("168.63.129.16", "168.63.129.16", false),
        ("::1", "::1", false),
        ("::", "::", false),
        ("::ffff:0:0", "::ffff:0.255.255.255", false),
        ("64:ff9b::7f00:0", "64:ff9b::7fff:ffff", false),
        ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", false),
        ("100::", "100::ffff:ffff:ffff:ffff", false),
        ("100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff", false),
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", false),
        ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", false),
        ("2001:1::1", "2001:1::3", false), // as 192.0.0.9
        ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", false),
        ("2001:3::", "2001:3:ffff:ffff:ffff:ffff:ffff:ffff", false),
        ("2001:4:112::", "2001:4:112:ffff:ffff:ffff:ffff:ffff", false),
        ("2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", false),
        ("2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", false),
        ("2001:30::", "2001:3f:ffff:ffff:ffff:ffff:ffff:ffff", false),
        (
            "2001:db8::",
            "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            false,
        ),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false),
        (
            "2620:4f:8000::",
            "2620:4f:8000:ffff:ffff:ffff:ffff:ffff",
            true,
        ),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", false),
        ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false),
        // Forms of loopback and of a cloud's metadata.
        ("::ffff:127.0.0.1", "::ffff:169.254.169.254", false),
        ("::127.0.0.1", "::169.254.169.254", false),
        ("::ffff:0:127.0.0.1", "::ffff:0:169.254.169.254", false),
        ("64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", false),
        ("fd00:ec2::254", "100.100.100.200", false),
        // Public addresses next to and inside of those.
        ("1.0.0.0", "9.255.255.255", true),
        ("100.63.255.255", "100.128.0.0", true),
        ("126.255.255.255", "128.0.0.0", true),
        ("172.15.255.255", "172.32.0.0", true),
        ("2000::", "2001:200::", true),
        ("2003::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true),
        ("::ffff:8.8.8.8", "64:ff9b::8.8.8.8", true),
    ];

    #[test]
    fn every_row_of_the_registries_is_judged_at_both_ends() {
        for (first, last, is_public) in REGISTRIES {
            for text in [first, last] {
                let address: IpAddr = text.parse().unwrap();
                assert_eq!(special(address).is_none(), is_public, "{text}");
            }
        }
    }

    #[test]
    fn nothing_but_one_eighth_of_ipv6_is_public() {
        for first in 0..=0xffffu16 {
            let address = Ipv6Addr::new(first, 0x4321, 0, 0, 0, 0, 0, 1);
            // 6to4; documentation's 3fff::/20 is beyond this resolution.
            let is_public = first >> 13 == 1 && first != 0x2002;
            assert_eq!(special(address.into()).is_none(), is_public, "{address}");
        }
    }

    #[test]
    fn an_address_is_named_by_the_narrowest_range() {
        for (text, name) in [
            ("127.8.9.1", "loopback (RFC 1122)"),
            ("::ffff:169.254.169.254", "link-local (RFC 3927)"),
            ("255.255.255.255", "broadcast (RFC 919)"),
            ("2001::1", "Teredo (RFC 4380)"),
            ("::1", "loopback (RFC 4291)"),
        ] {
            let found = special(text.parse().unwrap()).unwrap();
            assert_eq!(found.to_string(), name, "{text}");
        }
        // No row follows one that contains all of it.
        let bits = |range: &str| range.rsplit_once('/').unwrap().1.parse::<u8>().unwrap();
        for (at, (range, ..)) in ROWS.into_iter().enumerate() {
            let base = range.split('/').next().unwrap().parse().unwrap();
            for (wider, row) in ROWS.iter().zip(TABLE.iter()).take(at) {
                let contains_prefix = row.range.contains(base) && bits(wider.0) <= bits(range);
                assert!(!contains_prefix, "{range} is hidden by {row}");
            }
        }
    }
}
