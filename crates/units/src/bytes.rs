use crate::UnitError;
use crate::quantity::Kind;
use core::fmt;
use core::str::FromStr;

const KIND: Kind = Kind {
    quantity: "a size",
    example: "200 kB",
    allowed: "at least 0 and below 2^64 bytes",
    units: &[
        ("B", 1),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
    ],
};

/// A count of bytes. Prefixes are decimal: 1 kB is 1000 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// Creates a count of bytes.
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// Returns the count.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        KIND.parse(text).map(Self)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        KIND.format(self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_prints() {
        assert_eq!("200 kB".parse::<Bytes>().unwrap().get(), 200_000);
        assert_eq!("1.5kB".parse::<Bytes>().unwrap().to_string(), "1.5 kB");
        assert_eq!("0 B".parse::<Bytes>().unwrap().to_string(), "0 B");
        assert!(
            "200"
                .parse::<Bytes>()
                .unwrap_err()
                .to_string()
                .contains("B, kB, MB, GB")
        );
    }
}
