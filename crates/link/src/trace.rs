use crate::SpecError;
use crate::recorded::parse_lines;
use eyelevel_units::{BitRate, Duration};

/// IP bytes that one opportunity carries.
pub const OPPORTUNITY_BYTES: u32 = 1500;

/// The latest opportunity; one after more than 30 days is a mistake of units.
pub const OPPORTUNITY_MS_MAX: u64 = 30 * 24 * 3_600_000;

/// The contents of a trace's line, for messages.
pub(crate) const LINE: &str = "a whole number of milliseconds";

/// A packet-delivery trace in Mahimahi's format: each line is an opportunity to send, in whole
/// milliseconds, in order. The last one's millisecond is also the trace's length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    opportunities_ms: Vec<u64>,
}

impl Trace {
    /// Parses the text of a trace; `name` begins every error.
    ///
    /// # Errors
    /// When a line is not a number, is less than the line before, or the trace has no duration.
    pub fn parse(text: &str, name: &str) -> Result<Self, SpecError> {
        Self::new(parse_lines(text, name, parse_line, LINE)?).map_err(|error| error.with_file(name))
    }

    /// Creates a trace from its opportunities.
    pub(crate) fn new(opportunities_ms: Vec<u64>) -> Result<Self, TraceError> {
        let Some(last) = opportunities_ms.last() else {
            return Err(TraceError::NoDuration);
        };
        if let Some(index) = opportunities_ms
            .windows(2)
            .position(|pair| pair[1] < pair[0])
        {
            let (before, value) = (opportunities_ms[index], opportunities_ms[index + 1]);
            return Err(TraceError::Order {
                line: index + 2,
                value,
                before,
            });
        }
        if *last == 0 {
            return Err(TraceError::NoDuration);
        }
        if *last > OPPORTUNITY_MS_MAX {
            return Err(TraceError::TooLong {
                line: opportunities_ms.len(),
                value: *last,
            });
        }
        Ok(Self { opportunities_ms })
    }

    /// Returns the opportunities in milliseconds since the trace's start.
    pub fn opportunities_ms(&self) -> &[u64] {
        &self.opportunities_ms
    }

    /// Returns the time after which the trace repeats.
    pub fn duration(&self) -> Duration {
        Duration::from_millis(self.opportunities_ms[self.opportunities_ms.len() - 1])
    }

    /// Returns the mean rate with opportunities of `opportunity_bytes`.
    pub fn mean_rate(&self, opportunity_bytes: u32) -> BitRate {
        let bits = self.opportunities_ms.len() as u128 * u128::from(opportunity_bytes) * 8;
        let per_second = bits * 1_000 / self.duration().as_millis();
        let per_second = u64::try_from(per_second).unwrap_or(u64::MAX).max(1);
        BitRate::from_bits_per_second(per_second).unwrap_or(BitRate::MAX)
    }

    pub(crate) fn len(&self) -> usize {
        self.opportunities_ms.len()
    }

    /// Returns the time of an opportunity in the `cycle`-th repetition (from 0), since the path's
    /// start.
    pub(crate) fn offset(&self, cycle: u64, index: usize) -> Duration {
        let length = self.opportunities_ms[self.opportunities_ms.len() - 1];
        let ms = cycle
            .saturating_mul(length)
            .saturating_add(self.opportunities_ms[index]);
        Duration::from_millis(ms)
    }

    /// Returns the first opportunity later than `elapsed` since the path's start: repetition and
    /// position.
    pub(crate) fn first_after(&self, elapsed: Duration) -> (u64, usize) {
        let length = self.duration().as_nanos();
        let cycle = elapsed.as_nanos() / length;
        let within_ms = (elapsed.as_nanos() % length / 1_000_000) as u64;
        let index = self.opportunities_ms.partition_point(|ms| *ms <= within_ms);
        // `within_ms` is below the last opportunity, so there is a later one in this repetition.
        (cycle as u64, index)
    }
}

/// Parses one line of a trace: digits only, as Mahimahi reads it.
pub(crate) fn parse_line(line: &str) -> Option<u64> {
    let digits = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| line.parse().ok()).flatten()
}

/// An error in the numbers of a trace.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TraceError {
    Order {
        line: usize,
        value: u64,
        before: u64,
    },
    NoDuration,
    TooLong {
        line: usize,
        value: u64,
    },
}

impl TraceError {
    /// Returns the error of a trace read from a file.
    pub(crate) fn with_file(self, name: &str) -> SpecError {
        match self {
            Self::Order { line, .. } | Self::TooLong { line, .. } => {
                self.at(format!("{name}:{line}"))
            }
            Self::NoDuration => self.at(name.to_owned()),
        }
    }

    /// Returns the error of a trace given inline.
    pub(crate) fn with_place(self, place: &str) -> SpecError {
        match self {
            Self::Order { line, .. } | Self::TooLong { line, .. } => {
                self.at(format!("{place}: trace: opportunity {line}"))
            }
            Self::NoDuration => self.at(format!("{place}: trace")),
        }
    }

    fn at(&self, place: String) -> SpecError {
        match self {
            Self::Order { value, before, .. } => SpecError::setting(
                place,
                format!("{value} ms comes after {before} ms"),
                "sort the opportunities by time",
            ),
            Self::NoDuration => SpecError::setting(
                place,
                "the trace has no opportunity after 0 ms",
                "give at least one later line: its time is the trace's length",
            ),
            Self::TooLong { value, .. } => SpecError::setting(
                place,
                format!("{value} ms is more than 30 days"),
                "write milliseconds, not microseconds or nanoseconds",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_file_line_and_remedy() {
        let message = |text: &str| Trace::parse(text, "a.trace").unwrap_err().to_string();
        assert_eq!(
            message("1\n2\nx3\n"),
            "a.trace:3: \"x3\" is not a whole number of milliseconds; \
             write a whole number of milliseconds on each line"
        );
        assert!(message("1\n\n2\n").starts_with("a.trace:2: the line is empty"));
        assert!(message("5\n7\n6\n").starts_with("a.trace:3: 6 ms comes after 7 ms; sort"));
        assert!(message("0\n0\n").contains("no opportunity after 0 ms"));
        assert!(message("").contains("empty"));
        assert!(message("1\n99999999999999\n").starts_with("a.trace:2: "));
        assert!(message("99999999999999999999999\n").starts_with("a.trace:1: "));
        assert!(message("-1\n").starts_with("a.trace:1: "));
    }

    #[test]
    fn opportunities_repeat_from_the_last_one_on() {
        let trace = Trace::parse("0\n2\n2\n5\n", "t").unwrap();
        assert_eq!(trace.offset(2, 1), Duration::from_millis(12));
        assert_eq!(trace.first_after(Duration::ZERO), (0, 1));
        assert_eq!(trace.first_after(Duration::from_millis(2)), (0, 3));
        assert_eq!(trace.first_after(Duration::from_millis(5)), (1, 1));
        assert_eq!(trace.first_after(Duration::from_micros(11_999)), (2, 1));
        assert_eq!(trace.mean_rate(1500).bits_per_second(), 9_600_000);
    }
}
