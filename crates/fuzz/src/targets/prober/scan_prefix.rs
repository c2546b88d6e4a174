use crate::targets::check_message;
use eyelevel_addresses::{Prefix, special};
use std::net::IpAddr;

/// Parses a range that is never scanned and, after a line end, addresses, one per line. Their bits
/// decide whether each is in the range; an address that is not public is not public as an
/// IPv4-mapped IPv6 address, either.
pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let mut lines = text.lines();
    let range = lines.next().unwrap_or_default();
    let prefix: Prefix = match range.parse() {
        Ok(prefix) => prefix,
        Err(error) => return check_message(&error),
    };
    let (base, bits) = range.split_once('/').unwrap_or((range, "128"));
    let base: IpAddr = base.parse().expect("it was read");
    let bits: usize = bits.parse().expect("it was read");
    assert!(prefix.contains(base));
    for address in lines.filter_map(|line| line.parse::<IpAddr>().ok()) {
        let is_mapped = address != address.to_canonical();
        assert!(
            !is_mapped || special(address).is_some() || special(address.to_canonical()).is_none()
        );
        let (one, other) = (digits(base), digits(address));
        // A range of mapped addresses has more than those of one family, which is not modelled.
        let is_plain = base == base.to_canonical();
        let alike =
            one.len() == other.len() && one.iter().zip(&other).take(bits).all(|(a, b)| a == b);
        assert!(
            !is_plain || prefix.contains(address) == alike,
            "{range} {address}"
        );
    }
}

/// Returns an address's bits, those of IPv4 for an IPv4-mapped address.
fn digits(address: IpAddr) -> Vec<bool> {
    let of = |bytes: &[u8]| {
        let bits = bytes
            .iter()
            .flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1 == 1));
        bits.collect()
    };
    match address.to_canonical() {
        IpAddr::V4(v4) => of(&v4.octets()),
        IpAddr::V6(v6) => of(&v6.octets()),
    }
}
