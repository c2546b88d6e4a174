use eyelevel_units::Duration;

/// The kernel's floor under the variance term of its timeout (`tcp_rto_min`).
const TIMEOUT_VARIANCE_MIN: Duration = Duration::from_millis(200);
/// The timeout before the first sample (RFC 6298 section 2.1).
const TIMEOUT_INITIAL: Duration = Duration::from_secs(1);

/// Round trip times, as known after an acknowledgement; `None` before the first sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rtt {
    /// The last sample; `None` if the acknowledgement gave none.
    pub latest: Option<Duration>,
    /// The smoothed round trip time.
    pub smoothed: Option<Duration>,
    /// The smallest sample.
    pub min: Option<Duration>,
    /// The retransmission timeout that TCP would have (RFC 6298), with the kernel's 200 ms floor.
    pub timeout: Duration,
}

/// The estimator of RFC 6298 section 2, fed with the round trip of the newest packet of every
/// acknowledgement. The receiver's delay is included, since TCP cannot exclude it either.
#[derive(Clone, Debug, Default)]
pub struct RttEstimator {
    smoothed: Option<Duration>,
    variance: Duration,
    min: Option<Duration>,
    latest: Option<Duration>,
}

impl RttEstimator {
    /// Adds one sample.
    pub fn on_sample(&mut self, sample: Duration) {
        // A zero round trip would make rates infinite.
        let sample = sample.max(Duration::from_nanos(1));
        self.latest = Some(sample);
        self.min = Some(self.min.map_or(sample, |min| min.min(sample)));
        match self.smoothed {
            None => {
                self.smoothed = Some(sample);
                self.variance = sample / 2;
            }
            Some(smoothed) => {
                self.variance = (3 * self.variance + smoothed.abs_diff(sample)) / 4;
                self.smoothed = Some((7 * smoothed + sample) / 8);
            }
        }
    }

    /// Returns the current values; `latest` is the last sample added.
    pub fn rtt(&self) -> Rtt {
        Rtt {
            latest: self.latest,
            smoothed: self.smoothed,
            min: self.min,
            timeout: self.smoothed.map_or(TIMEOUT_INITIAL, |smoothed| {
                smoothed + (4 * self.variance).max(TIMEOUT_VARIANCE_MIN)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smooths_as_rfc_6298() {
        let mut estimator = RttEstimator::default();
        assert_eq!(estimator.rtt().timeout, Duration::from_secs(1));
        estimator.on_sample(Duration::from_millis(80));
        assert_eq!(estimator.rtt().smoothed, Some(Duration::from_millis(80)));
        // Four times half of 80 ms is below the floor.
        assert_eq!(estimator.rtt().timeout, Duration::from_millis(280));
        estimator.on_sample(Duration::from_millis(160));
        let rtt = estimator.rtt();
        assert_eq!(rtt.smoothed, Some(Duration::from_millis(90)));
        assert_eq!(rtt.min, Some(Duration::from_millis(80)));
        assert_eq!(rtt.latest, Some(Duration::from_millis(160)));
    }
}
