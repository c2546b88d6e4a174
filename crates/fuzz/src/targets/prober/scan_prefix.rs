use crate::targets::check_message;
use eyelevel_addresses::{Prefix, special};
use std::net::IpAddr;

/// A range that is never scanned, and behind a line end addresses, a line each: by the bits, each lies
/// in it or not; what is not public is not public in IPv6's clothes, either.
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
        // A range of mapped addresses holds more than those of one family; that is not modelled.
        let is_plain = base == base.to_canonical();
        let alike =
            one.len() == other.len() && one.iter().zip(&other).take(bits).all(|(a, b)| a == b);
        assert!(
            !is_plain || prefix.contains(address) == alike,
            "{range} {address}"
        );
    }
}

/// An address as its bits, one of IPv4 in IPv6's clothes as IPv4.
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
