use crate::quantity::Kind;
use crate::{Bytes, UnitError};
use core::fmt;
use core::num::NonZero;
use core::str::FromStr;
use core::time::Duration;

/// The work of sending one bit, in units of what a rate of 1 bit/s does in 1 ns.
const WORK_PER_BIT: u64 = 1_000_000_000;

const KIND: Kind = Kind {
    quantity: "a rate",
    example: "25 Mbit/s",
    allowed: "above 0 and at most 1000 Gbit/s",
    units: &[
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
    ],
};

/// A rate in whole bits per second, never zero, at most [`BitRate::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(NonZero<u64>);

impl BitRate {
    /// The largest rate: 1000 Gbit/s, far above what a software link carries, small enough that
    /// every product below fits its integer type.
    pub const MAX: Self = Self(NonZero::new(1_000_000_000_000).unwrap());

    /// Creates a rate of `bits` per second.
    ///
    /// # Errors
    ///
    /// Fails if it is zero or above [`BitRate::MAX`].
    pub fn from_bits_per_second(bits: u64) -> Result<Self, UnitError> {
        NonZero::new(bits)
            .map(Self)
            .filter(|rate| *rate <= Self::MAX)
            .ok_or_else(|| KIND.out_of_range(&format!("{bits} bit/s")))
    }

    /// Returns the bits per second.
    pub const fn bits_per_second(self) -> u64 {
        self.0.get()
    }

    /// Returns how many whole bytes are sent in `duration`.
    pub fn bytes_in(self, duration: Duration) -> Bytes {
        let work = duration
            .as_nanos()
            .saturating_mul(u128::from(self.bits_per_second()));
        let bytes = work / (8 * u128::from(WORK_PER_BIT));
        Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl FromStr for BitRate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let bits = KIND.parse(text)?;
        Self::from_bits_per_second(bits).map_err(|_| KIND.out_of_range(text))
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        KIND.format(self.bits_per_second(), f)
    }
}

/// The transmission times of back-to-back packets: each is a whole number of nanoseconds, and the
/// fractions are carried, so that any number of packets takes the exact time within 1 ns.
#[derive(Clone, Debug)]
pub struct Transmitter {
    rate: BitRate,
    /// The work left over by the last packet, always below the rate (less than 1 ns).
    carried: u64,
}

impl Transmitter {
    /// Creates a transmitter of constant rate with nothing carried.
    pub const fn new(rate: BitRate) -> Self {
        Self { rate, carried: 0 }
    }

    /// Returns the rate in force.
    pub const fn rate(&self) -> BitRate {
        self.rate
    }

    /// Drops the carried fraction: the link was idle and starts at a whole nanosecond.
    pub const fn restart(&mut self) {
        self.carried = 0;
    }

    /// Returns the time from the end of the last packet to the end of one of `bytes`.
    #[inline]
    pub fn transmit(&mut self, bytes: u32) -> Duration {
        // 2^32 bytes are 3.4e10 bits, 3.4e19 units of work: one bit more than 64 bits hold.
        let rate = self.rate.bits_per_second();
        let nanos = if bytes < 1 << 30 {
            let work = u64::from(bytes) * 8 * WORK_PER_BIT + self.carried;
            self.carried = work % rate;
            work / rate
        } else {
            let work = u128::from(bytes) * u128::from(8 * WORK_PER_BIT) + u128::from(self.carried);
            self.carried = (work % u128::from(rate)) as u64;
            (work / u128::from(rate)) as u64
        };
        Duration::from_nanos(nanos)
    }

    /// Changes the rate while a packet still needs `remaining` at the old rate (whole nanoseconds,
    /// to which the carried fraction belongs). Returns what it needs at the new one.
    pub fn change_rate(&mut self, rate: BitRate, remaining: Duration) -> Duration {
        let work = remaining.as_nanos() * u128::from(self.rate.bits_per_second())
            + u128::from(self.carried);
        let new = u128::from(rate.bits_per_second());
        self.rate = rate;
        self.carried = (work % new) as u64;
        Duration::from_nanos(u64::try_from(work / new).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_exactly_and_prints_what_it_parsed() {
        for (text, bits) in [
            ("25 Mbit/s", 25_000_000),
            ("0.468Mbit/s", 468_000),
            ("1 bit/s", 1),
        ] {
            let rate: BitRate = text.parse().unwrap();
            assert_eq!(rate.bits_per_second(), bits);
            assert_eq!(rate.to_string().parse::<BitRate>().unwrap(), rate);
        }
        assert_eq!(
            BitRate::from_bits_per_second(10_500_000)
                .unwrap()
                .to_string(),
            "10.5 Mbit/s"
        );
    }

    #[test]
    fn refuses_with_the_way_out() {
        let message = |text: &str| text.parse::<BitRate>().unwrap_err().to_string();
        assert_eq!(
            message("25 MB"),
            "\"25 MB\" is not a rate: unknown unit \"MB\", use one of bit/s, kbit/s, Mbit/s, Gbit/s"
        );
        assert!(message("0 Mbit/s").contains("above 0"));
        assert!(message("-1 Mbit/s").contains("above 0"));
        assert!(message("fast").contains("decimal number"));
        assert!(message("1.2.3 Mbit/s").contains("decimal number"));
        assert!(message("99999999999999999999 Gbit/s").contains("at most"));
    }

    #[test]
    fn fractions_are_carried_so_that_the_rate_holds_exactly() {
        // 1500 bytes at 7 Mbit/s take 1714285.714... ns.
        let mut transmitter = Transmitter::new("7 Mbit/s".parse().unwrap());
        let total: Duration = (0..7).map(|_| transmitter.transmit(1500)).sum();
        assert_eq!(total, Duration::from_millis(12));
        // 2^32 - 1 bytes at 10^12 bit/s take 34359738.36 ns.
        let huge = Transmitter::new(BitRate::MAX).transmit(u32::MAX);
        assert_eq!(huge, Duration::from_nanos(34_359_738));
    }

    #[test]
    fn a_change_of_rate_keeps_the_work_that_is_left() {
        let mut transmitter = Transmitter::new("8 Mbit/s".parse().unwrap());
        assert_eq!(transmitter.transmit(1000), Duration::from_millis(1));
        let left = transmitter.change_rate("2 Mbit/s".parse().unwrap(), Duration::from_micros(500));
        assert_eq!(left, Duration::from_millis(2));
    }
}
