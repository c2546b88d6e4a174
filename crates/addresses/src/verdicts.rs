//! The rule of reachable addresses, as a table for longest-prefix lookup.

use std::net::{IpAddr, Ipv6Addr};

use crate::{Prefix, special_ranges};

/// The prefix of translated IPv4 addresses (RFC 6052, section 2.1), which are checked as IPv4.
const TRANSLATED: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0);
const TRANSLATED_BITS: u8 = 96;

/// A range of addresses and whether it may be reached; of two that contain an address the narrower
/// one decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// The range.
    pub range: Prefix,
    /// Whether it may be reached.
    pub is_reached: bool,
}

/// Returns the table. Ranges without public servers and the machine's `own` addresses are not
/// reached, unless `allowed` contains them; everything else of both families is.
pub fn verdicts(own: &[IpAddr], allowed: &[Prefix]) -> Vec<Verdict> {
    let refused = special_ranges()
        .map(|special| special.range)
        .chain(own.iter().map(|own| Prefix::from(own.to_canonical())));
    let is_open = |range: &Prefix| allowed.iter().any(|wider| wider.contains_prefix(range));
    let mut verdicts: Vec<Verdict> = Vec::new();
    let mut add = |range: Prefix, is_reached| {
        if !verdicts.iter().any(|known| known.range == range) {
            verdicts.push(Verdict { range, is_reached });
        }
    };
    let closed = refused
        .filter(|range| !is_open(range))
        .map(|range| (range, false));
    let opened = allowed.iter().map(|range| (*range, true));
    for (range, is_reached) in closed.chain(opened) {
        add(range, is_reached);
        if let Some(range) = translated(&range) {
            add(range, is_reached);
        }
    }
    add(Prefix::new(TRANSLATED.into(), TRANSLATED_BITS), true);
    verdicts
}

/// Returns the range of translated addresses for a range of IPv4.
fn translated(range: &Prefix) -> Option<Prefix> {
    let IpAddr::V4(first) = range.base() else {
        return None;
    };
    let first = TRANSLATED.to_bits() | u128::from(first.to_bits());
    let bits = TRANSLATED_BITS + range.bits();
    Some(Prefix::new(Ipv6Addr::from_bits(first).into(), bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special;

    fn is_reached(verdicts: &[Verdict], address: &str) -> bool {
        let address: IpAddr = address.parse().unwrap();
        let is_of_family = |each: &&Verdict| each.range.base().is_ipv4() == address.is_ipv4();
        let holding = verdicts
            .iter()
            .filter(is_of_family)
            .filter(|each| each.range.contains(address));
        let narrowest = holding.max_by_key(|each| each.range.bits());
        narrowest.is_none_or(|verdict| verdict.is_reached)
    }

    #[test]
    fn the_longest_prefix_agrees_with_the_table() {
        let own = ["8.8.4.4".parse().unwrap(), "2606:4700::1".parse().unwrap()];
        let verdicts = super::verdicts(&own, &[]);
        for first in 0..=255u8 {
            for second in [0, 16, 31, 63, 64, 88, 100, 127, 128, 168, 254] {
                for last in [0, 1, 16, 170, 255] {
                    let address = std::net::Ipv4Addr::new(first, second, 99, last);
                    let expected = special(address.into()).is_none();
                    assert_eq!(
                        is_reached(&verdicts, &address.to_string()),
                        expected,
                        "{address}"
                    );
                }
            }
        }
        assert!(!is_reached(&verdicts, "8.8.4.4") && is_reached(&verdicts, "8.8.4.5"));
        assert!(!is_reached(&verdicts, "168.63.129.16"));
    }

    #[test]
    fn ipv6_agrees_with_the_table() {
        let own = ["8.8.4.4".parse().unwrap(), "2606:4700::1".parse().unwrap()];
        let verdicts = super::verdicts(&own, &[]);
        for first in 0..=255u16 {
            for second in [0, 1, 2, 16, 0xdb8, 0xff9b] {
                for high in [first, first << 8, first << 8 | 1, 0x64] {
                    let address = Ipv6Addr::new(high, second, 0, 0, 0, 0, 0x7f00, first);
                    let mapped = address.to_ipv4_mapped().is_some();
                    let expected = special(address.into()).is_none() && !mapped;
                    let text = address.to_string();
                    assert_eq!(is_reached(&verdicts, &text), expected, "{text}");
                }
            }
        }
        assert!(!is_reached(&verdicts, "2606:4700::1") && is_reached(&verdicts, "2606:4700::2"));
        // As IPv4, where a network translates them.
        assert!(is_reached(&verdicts, "64:ff9b::9.9.9.9"));
        for refused in [
            "64:ff9b::10.0.0.1",
            "64:ff9b::169.254.169.254",
            "64:ff9b::8.8.4.4",
        ] {
            assert!(!is_reached(&verdicts, refused), "{refused}");
        }
        let allowed = super::verdicts(&own, &["fd00:1::/64".parse().unwrap()]);
        assert!(is_reached(&allowed, "fd00:1::5") && !is_reached(&allowed, "fd00:2::5"));
    }

    #[test]
    fn only_allowed_addresses_are_reached_in_addition() {
        let own = ["10.1.2.9".parse().unwrap(), "8.8.4.4".parse().unwrap()];
        for (allowed, reached, refused) in [
            (
                "10.1.2.3",
                &["10.1.2.3"][..],
                &["10.1.2.2", "10.1.2.4", "10.1.2.9"][..],
            ),
            (
                "10.1.2.0/24",
                &["10.1.2.3", "10.1.2.9"],
                &["10.1.3.1", "8.8.4.4"],
            ),
            (
                "10.0.0.0/8",
                &["10.200.0.1"],
                &["127.0.0.1", "11.0.0.1"][..1],
            ),
            ("168.63.0.0/16", &["168.63.129.16"], &["169.254.169.254"]),
            ("8.8.4.4", &["8.8.4.4", "8.8.4.5"], &["10.1.2.9"]),
            ("::ffff:10.1.2.3", &["10.1.2.3"], &["10.1.2.2"]),
            ("fd00::/8", &["9.9.9.9"], &["10.1.2.3"]),
        ] {
            let verdicts = super::verdicts(&own, &[allowed.parse().unwrap()]);
            for address in reached {
                assert!(is_reached(&verdicts, address), "{allowed}: {address}");
            }
            for address in refused {
                assert!(!is_reached(&verdicts, address), "{allowed}: {address}");
            }
            let ranges: Vec<_> = verdicts.iter().map(|each| each.range).collect();
            let unique = ranges
                .iter()
                .enumerate()
                .all(|(at, range)| !ranges[..at].contains(range));
            assert!(unique, "{allowed}");
        }
    }
}
