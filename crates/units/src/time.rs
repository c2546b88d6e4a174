//! The text form of durations, which are `core::time::Duration`.

use crate::UnitError;
use crate::quantity::Kind;
use core::fmt;
use core::time::Duration;

const KIND: Kind = Kind {
    quantity: "a duration",
    example: "24 ms",
    allowed: "at least 0 and below 584 years",
    units: &[
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
    ],
};

/// Parses "24 ms", "40us", "1.5 s" or "100 ns", exact to the nanosecond.
///
/// # Errors
///
/// Fails if the text is not a number with one of these units.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    KIND.parse(text).map(Duration::from_nanos)
}

/// Formats a duration so that [`parse_duration`] reads it back, without loss below 584 years.
pub fn format_duration(duration: Duration) -> String {
    struct Text(u64);
    impl fmt::Display for Text {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            KIND.format(self.0, f)
        }
    }
    Text(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)).to_string()
}

/// Creates a duration from milliseconds, as in configurations, rounded to the nearest nanosecond.
///
/// # Errors
///
/// Fails if `ms` is negative, not finite or above 584 years.
pub fn duration_from_ms(ms: f64) -> Result<Duration, UnitError> {
    let nanos = (ms * 1e6).round();
    if ms.is_finite() && (0.0..1.8e19).contains(&nanos) {
        Ok(Duration::from_nanos(nanos as u64))
    } else {
        Err(KIND.out_of_range(&format!("{ms} ms")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_prints() {
        for (text, nanos, printed) in [
            ("24 ms", 24_000_000, "24 ms"),
            ("40us", 40_000, "40 us"),
            ("40 µs", 40_000, "40 us"),
            ("1.5 s", 1_500_000_000, "1.5 s"),
            ("0 ms", 0, "0 ns"),
            ("12.000001 ms", 12_000_001, "12.000001 ms"),
        ] {
            let duration = parse_duration(text).unwrap();
            assert_eq!(duration, Duration::from_nanos(nanos));
            assert_eq!(format_duration(duration), printed);
        }
        assert!(
            parse_duration("24")
                .unwrap_err()
                .to_string()
                .contains("ns, us")
        );
        assert!(
            parse_duration("-3 ms")
                .unwrap_err()
                .to_string()
                .contains("at least 0")
        );
    }

    #[test]
    fn milliseconds_of_configurations_are_checked() {
        assert_eq!(
            duration_from_ms(0.0401).unwrap(),
            Duration::from_nanos(40_100)
        );
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert!(duration_from_ms(bad).is_err());
        }
    }
}
