//! The rule of what may be reached, as a table that is looked up by the longest prefix.

use std::net::IpAddr;

use crate::{Prefix, special_ranges};

/// A range of IPv4 addresses and whether it is reached; of two that hold an address the narrower
/// one decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// The range.
    pub range: Prefix,
    /// Whether it is reached.
    pub is_reached: bool,
}

/// What of IPv4 is not reached (no public server is there, or it is one of the machine's `own`
/// addresses), but for what `allowed` holds; everything else is reached.
pub fn verdicts_v4(own: &[IpAddr], allowed: &[Prefix]) -> Vec<Verdict> {
    let refused = special_ranges()
        .map(|special| special.range)
        .chain(own.iter().map(|own| Prefix::from(own.to_canonical())));
    let is_open = |range: &Prefix| allowed.iter().any(|wider| wider.holds(range));
    let mut verdicts: Vec<Verdict> = Vec::new();
    let closed = refused
        .filter(|range| !is_open(range))
        .map(|range| (range, false));
    let opened = allowed.iter().map(|range| (*range, true));
    for (range, is_reached) in closed.chain(opened) {
        let is_known = verdicts.iter().any(|known| known.range == range);
        if range.base().is_ipv4() && !is_known {
            verdicts.push(Verdict { range, is_reached });
        }
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special;

    fn is_reached(verdicts: &[Verdict], address: &str) -> bool {
        let address = address.parse().unwrap();
        let holding = verdicts.iter().filter(|each| each.range.contains(address));
        let narrowest = holding.max_by_key(|each| each.range.bits());
        narrowest.is_none_or(|verdict| verdict.is_reached)
    }

    #[test]
    fn by_the_longest_prefix_it_says_what_the_table_says() {
        let own = ["8.8.4.4".parse().unwrap(), "2606:4700::1".parse().unwrap()];
        let verdicts = verdicts_v4(&own, &[]);
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
    fn what_is_allowed_is_reached_and_nothing_beside_it() {
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
            let verdicts = verdicts_v4(&own, &[allowed.parse().unwrap()]);
            for address in reached {
                assert!(is_reached(&verdicts, address), "{allowed}: {address}");
            }
            for address in refused {
                assert!(!is_reached(&verdicts, address), "{allowed}: {address}");
            }
            let ranges: Vec<_> = verdicts.iter().map(|each| each.range).collect();
            assert!(ranges.iter().all(|range| range.base().is_ipv4()));
            let unique = ranges
                .iter()
                .enumerate()
                .all(|(at, range)| !ranges[..at].contains(range));
            assert!(unique, "{allowed}");
        }
    }
}
