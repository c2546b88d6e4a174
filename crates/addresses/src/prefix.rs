use serde::Deserialize;
use std::net::IpAddr;
use std::str::FromStr;

/// A range of addresses, as `192.0.2.0/24`; a single address is a range of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Prefix {
    base: IpAddr,
    bits: u8,
}

impl Prefix {
    /// Returns the range of addresses that share their first `bits` with `base`.
    pub(crate) fn new(base: IpAddr, bits: u8) -> Self {
        Self { base, bits }
    }

    /// Returns its first address.
    pub fn base(&self) -> IpAddr {
        let free = |width: u8| u32::from(width - self.bits.min(width));
        match self.base {
            IpAddr::V4(v4) => {
                let kept = u32::MAX.checked_shl(free(32)).unwrap_or(0);
                IpAddr::V4((v4.to_bits() & kept).into())
            }
            IpAddr::V6(v6) => {
                let kept = u128::MAX.checked_shl(free(128)).unwrap_or(0);
                IpAddr::V6((v6.to_bits() & kept).into())
            }
        }
    }

    /// Returns how many bits its addresses share.
    pub fn bits(&self) -> u8 {
        self.bits
    }

    /// Returns whether it contains all of `other`.
    pub fn contains_prefix(&self, other: &Self) -> bool {
        self.bits <= other.bits && self.contains(other.base) && self.is_of_family(other)
    }

    fn is_of_family(&self, other: &Self) -> bool {
        self.base.is_ipv4() == other.base.is_ipv4()
    }

    /// Returns whether it contains an address; an IPv4-mapped one counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        let (base, address) = (self.base.to_canonical(), address.to_canonical());
        let (base, address, width) = match (base, address) {
            (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(a.to_bits()), b.to_bits().into(), 32),
            (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits(), b.to_bits(), 128),
            _ => return false,
        };
        let free = width - u32::from(self.bits).min(width);
        free == 128 || base >> free == address >> free
    }
}

/// The length of the prefix of IPv4-mapped addresses (RFC 4291, section 2.5.5.2).
const MAPPED_BITS: u8 = 96;

impl FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no range of addresses such as 192.0.2.0/24");
        let (address, bits) = text.split_once('/').unwrap_or((text, ""));
        let base: IpAddr = address.parse().map_err(|_| wrong())?;
        let width = if base.is_ipv4() { 32 } else { 128 };
        let bits = if text.contains('/') {
            bits.parse().ok().filter(|bits| *bits <= width)
        } else {
            Some(width)
        };
        let bits: u8 = bits.ok_or_else(wrong)?;
        // `contains` treats IPv4-mapped addresses as IPv4, so a range of them is one of IPv4.
        Ok(match bits.checked_sub(MAPPED_BITS) {
            Some(bits) if base.is_ipv6() && base.to_canonical().is_ipv4() => Self {
                base: base.to_canonical(),
                bits,
            },
            _ => Self { base, bits },
        })
    }
}

impl From<IpAddr> for Prefix {
    fn from(address: IpAddr) -> Self {
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let base = address;
        Self { base, bits }
    }
}

impl TryFrom<String> for Prefix {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_contain_their_addresses() {
        for (range, inside, outside) in [
            ("192.0.2.0/24", "192.0.2.255", "192.0.3.0"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.8"),
            ("0.0.0.0/0", "255.1.2.3", "::1"),
            ("2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::"),
            ("::/0", "2001:db8::1", "192.0.2.1"),
            ("10.0.0.0/8", "::ffff:10.1.2.3", "::10.1.2.3"),
            ("::ffff:10.0.0.0/104", "10.1.2.3", "11.1.2.3"),
            ("::ffff:0:0/96", "::ffff:10.1.2.3", "::10.1.2.3"),
        ] {
            let range: Prefix = range.parse().unwrap();
            assert!(range.contains(inside.parse().unwrap()), "{range:?}");
            assert!(!range.contains(outside.parse().unwrap()), "{range:?}");
        }
        for (wider, narrower, expected) in [
            ("10.0.0.0/8", "10.1.0.0/16", true),
            ("10.0.0.0/8", "10.0.0.0/8", true),
            ("10.0.0.0/16", "10.0.0.0/8", false),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("::/0", "10.0.0.1", false),
        ] {
            let (wider, narrower): (Prefix, Prefix) =
                (wider.parse().unwrap(), narrower.parse().unwrap());
            assert_eq!(
                wider.contains_prefix(&narrower),
                expected,
                "{wider:?} {narrower:?}"
            );
        }
        for (range, first) in [
            ("10.1.2.3/8", "10.0.0.0"),
            ("10.1.2.3", "10.1.2.3"),
            ("1.2.3.4/0", "0.0.0.0"),
            ("2001:db8::1/32", "2001:db8::"),
            ("::1/0", "::"),
        ] {
            let range: Prefix = range.parse().unwrap();
            assert_eq!(range.base().to_string(), first);
        }
        for wrong in ["", "a", "192.0.2.0/33", "192.0.2.0/", "::/129"] {
            assert!(wrong.parse::<Prefix>().is_err(), "{wrong}");
        }
    }
}
