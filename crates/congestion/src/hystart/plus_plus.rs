use super::Observation;
use eyelevel_units::Duration;

// RFC 9406 section 4.3.
const RTT_INCREASE_MIN: Duration = Duration::from_millis(4);
const RTT_INCREASE_MAX: Duration = Duration::from_millis(16);
const RTT_DIVISOR: u32 = 8;
const SAMPLES_MIN: u32 = 8;
const CONSERVATIVE_GROWTH_DIVISOR: u64 = 4;
const CONSERVATIVE_ROUNDS: u32 = 5;
/// The most packets by which an unpaced sender grows per acknowledgement.
const GROWTH_PACKETS_MAX: u64 = 8;

/// HyStart++ (RFC 9406): a delay increase leads to five rounds of slow growth, which is reverted
/// when the delay turns out to have been jitter.
#[derive(Clone, Debug, Default)]
pub(crate) struct HyStartPlusPlus {
    number_end: Option<u64>,
    rtt_min_last: Option<Duration>,
    rtt_min: Option<Duration>,
    samples: u32,
    conservative: Option<Conservative>,
    stopped: bool,
}

#[derive(Clone, Copy, Debug)]
struct Conservative {
    rtt_min_baseline: Duration,
    rounds: u32,
}

impl HyStartPlusPlus {
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
        self.conservative = None;
    }

    pub(crate) fn on_ack(&mut self, observation: &Observation) -> bool {
        if self.stopped {
            return false;
        }
        if self
            .number_end
            .is_none_or(|end| observation.number_newest >= end)
            && self.end_round(observation)
        {
            self.stop();
            return true;
        }
        self.rtt_min = Some(self.rtt_min.map_or(observation.rtt_latest, |min| {
            min.min(observation.rtt_latest)
        }));
        self.samples += 1;
        if self.samples < SAMPLES_MIN {
            return false;
        }
        let Some(current) = self.rtt_min else {
            return false;
        };
        match self.conservative {
            Some(state) if current < state.rtt_min_baseline => self.conservative = None,
            Some(_) => {}
            None => {
                if let Some(last) = self.rtt_min_last {
                    let increase = (last / RTT_DIVISOR).clamp(RTT_INCREASE_MIN, RTT_INCREASE_MAX);
                    if current >= last + increase {
                        self.conservative = Some(Conservative {
                            rtt_min_baseline: current,
                            rounds: 0,
                        });
                    }
                }
            }
        }
        false
    }

    /// Begins a new round; returns whether the conservative rounds are over.
    fn end_round(&mut self, observation: &Observation) -> bool {
        let first = self.number_end.is_none();
        self.number_end = Some(observation.number_next);
        self.rtt_min_last = self.rtt_min.take();
        self.samples = 0;
        match &mut self.conservative {
            Some(state) if !first => {
                state.rounds += 1;
                state.rounds >= CONSERVATIVE_ROUNDS
            }
            _ => false,
        }
    }

    pub(crate) fn growth_bytes(&self, bytes_acked: u64, packet_bytes: u64, paced: bool) -> u64 {
        let limit = if paced {
            u64::MAX
        } else {
            GROWTH_PACKETS_MAX * packet_bytes
        };
        let bytes = bytes_acked.min(limit);
        match self.conservative {
            Some(_) => bytes / CONSERVATIVE_GROWTH_DIVISOR,
            None => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eyelevel_units::Instant;

    fn observation(number: u64, number_next: u64, rtt_ms: u64) -> Observation {
        Observation {
            now: Instant::from_nanos(number * 1_000_000),
            number_newest: number,
            number_next,
            window_packets: 32,
            packets_acked: 1,
            rtt_latest: Duration::from_millis(rtt_ms),
            rtt_min: Duration::from_millis(40),
            paced: true,
            pacing_rate_bytes_s: 1_000_000,
            spacing: Duration::ZERO,
        }
    }

    /// Feeds ten acknowledgements of a round, all with the same round trip.
    fn round(state: &mut HyStartPlusPlus, index: u64, rtt_ms: u64) -> bool {
        let first = 10 * index;
        (first..first + 10).any(|number| state.on_ack(&observation(number, first + 10, rtt_ms)))
    }

    #[test]
    fn five_conservative_rounds_after_a_delay_increase() {
        let mut state = HyStartPlusPlus::default();
        assert!(!round(&mut state, 0, 40));
        assert!(!round(&mut state, 1, 46));
        assert_eq!(state.growth_bytes(4000, 1000, true), 1000);
        assert!((2..6).all(|index| !round(&mut state, index, 46)));
        assert!(round(&mut state, 6, 46));
    }

    #[test]
    fn jitter_resumes_slow_start() {
        let mut state = HyStartPlusPlus::default();
        round(&mut state, 0, 40);
        round(&mut state, 1, 46);
        round(&mut state, 2, 41);
        assert_eq!(state.growth_bytes(4000, 1000, true), 4000);
        assert_eq!(state.growth_bytes(40_000, 1000, false), 8000);
    }
}
