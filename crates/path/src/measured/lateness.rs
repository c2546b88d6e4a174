use serde::Serialize;
use std::time::Duration;

/// The number of linear steps within each power of two: quantiles are exact to 1/64, below the
/// clock's own noise.
const STEPS: u64 = 64;
/// The number of powers of two covered, in nanoseconds: up to about 137 s, longer than any lab is
/// late.
const POWERS: u64 = 32;

/// The lateness of packets: reads against arrivals, or releases against the link's own release
/// times. A histogram of bounded size, since a trial may release millions of packets.
#[derive(Clone)]
pub struct Lateness {
    counts: Box<[u64]>,
    total: u64,
    max: Duration,
}

/// Quantiles of [`Lateness`] in microseconds; null if there was no packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LatenessSummary {
    /// Median.
    pub lateness_us_p50: Option<f64>,
    /// 99th percentile.
    pub lateness_us_p99: Option<f64>,
    /// Largest value, exact.
    pub lateness_us_max: Option<f64>,
}

impl Default for Lateness {
    fn default() -> Self {
        let counts = vec![0; (STEPS * (POWERS + 1)) as usize].into_boxed_slice();
        Self {
            counts,
            total: 0,
            max: Duration::ZERO,
        }
    }
}

impl Lateness {
    /// Counts one packet.
    #[inline]
    pub fn record(&mut self, late: Duration) {
        self.record_many(late, 1);
    }

    /// Counts packets that were equally late.
    #[inline]
    pub fn record_many(&mut self, late: Duration, packets: u64) {
        let nanos = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
        let last = self.counts.len() - 1;
        self.counts[bucket(nanos).min(last)] += packets;
        self.total += packets;
        self.max = self.max.max(late);
    }

    /// Returns the quantiles for a record.
    pub fn summary(&self) -> LatenessSummary {
        if self.total == 0 {
            return LatenessSummary::default();
        }
        LatenessSummary {
            lateness_us_p50: Some(self.quantile_us(0.50)),
            lateness_us_p99: Some(self.quantile_us(0.99)),
            lateness_us_max: Some(self.max.as_nanos() as f64 / 1e3),
        }
    }

    fn quantile_us(&self, share: f64) -> f64 {
        let rank = (share * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                // The bucket's upper edge: never better than the actual value, and never above the
                // maximum.
                let edge = upper_edge(index) as f64 / 1e3;
                return edge.min(self.max.as_nanos() as f64 / 1e3);
            }
        }
        self.max.as_nanos() as f64 / 1e3
    }
}

fn bucket(nanos: u64) -> usize {
    if nanos < STEPS {
        return nanos as usize;
    }
    let power = u64::from(nanos.ilog2() - STEPS.ilog2());
    (power * STEPS + (nanos >> power)) as usize
}

fn upper_edge(index: usize) -> u64 {
    let index = index as u64;
    if index < STEPS {
        return index;
    }
    let power = index / STEPS - 1;
    ((index - power * STEPS + 1) << power) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_one_step_and_the_maximum_exact() {
        let mut lateness = Lateness::default();
        for micros in 1..=1000u64 {
            lateness.record(Duration::from_micros(micros));
        }
        let summary = lateness.summary();
        let close = |value: Option<f64>, expected: f64| {
            let value = value.unwrap();
            assert!(
                (value - expected).abs() <= expected / 32.0,
                "{value} against {expected}"
            );
        };
        close(summary.lateness_us_p50, 500.0);
        close(summary.lateness_us_p99, 990.0);
        assert_eq!(summary.lateness_us_max, Some(1000.0));
    }

    #[test]
    fn every_duration_has_a_bucket_that_contains_it() {
        for shift in 0..63 {
            for offset in [0u64, 1, 3] {
                let nanos = (1u64 << shift) + offset;
                let index = bucket(nanos);
                assert!(upper_edge(index) >= nanos);
                assert!(index == 0 || upper_edge(index - 1) < nanos);
            }
        }
        let mut lateness = Lateness::default();
        lateness.record(Duration::from_secs(100_000));
        assert_eq!(lateness.summary().lateness_us_max, Some(1e11));
    }

    #[test]
    fn nothing_released_is_not_zero_lateness() {
        assert_eq!(Lateness::default().summary(), LatenessSummary::default());
    }
}
