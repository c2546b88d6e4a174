use super::Observation;
use eyelevel_units::{Duration, Instant};

/// The smallest window at which slow start may end.
const WINDOW_PACKETS_MIN: u64 = 16;
/// The largest gap of acknowledgements in a train, per packet that they cover; but at most a
/// quarter of the smallest round trip, within which QUIC's peers answer.
const TRAIN_GAP_MAX: Duration = Duration::from_millis(2);
const TRAIN_GAP_RTT_DIVISOR: u32 = 4;
/// The samples of a round after which its smallest round trip is trusted, and the most per
/// acknowledgement: one that covers ten packets has a single round trip.
const SAMPLES_MIN: u64 = 8;
const SAMPLES_PER_ACK_MAX: u64 = 2;
/// The bounds of the delay increase that ends slow start, an eighth of the smallest round trip.
const DELAY_INCREASE_MIN: Duration = Duration::from_millis(4);
const DELAY_INCREASE_MAX: Duration = Duration::from_millis(16);
/// The allowance for the sender's own bursts: the time of four full offload buffers, at most this.
const BURST_ALLOWANCE_MAX: Duration = Duration::from_millis(1);
const BURST_BYTES: u64 = 4 * 65_536;

/// HyStart (Ha and Rhee, "Taming the elephants", 2011) as in Linux 6.14 and later: slow start ends
/// when the closely spaced acknowledgements of a round last longer than the smallest round trip
/// (half of it for an unpaced sender), or when the smallest round trip of a round exceeds the
/// smallest of all by an eighth.
///
/// Linux counts acknowledgements, and its own receiver sends one for every packet during slow
/// start. A QUIC peer sends one for two, later for ten: counting packets makes the rules
/// equivalent. TCP's receiver is the kernel, which never waits for a processor. A browser does, and
/// then acknowledges at once all that arrived meanwhile: round trips that are late for one common
/// reason, of which the last may be prompt. So acknowledgements that arrive faster than their
/// packets take at the pacing rate count as one sample. A queue does not cause that: it grows
/// behind a link that is slower than the pacing rate, which spaces its packets further apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct HyStart {
    round: Option<Round>,
    found: bool,
}

#[derive(Clone, Copy, Debug)]
struct Round {
    /// The round ends when this packet, the next to be sent at its start, is acknowledged.
    number_end: u64,
    started_at: Instant,
    train_at: Instant,
    rtt_min: Duration,
    samples: u64,
    sampled_at: Option<Instant>,
}

impl HyStart {
    pub(crate) fn on_ack(&mut self, observation: &Observation) -> bool {
        if self.found {
            return false;
        }
        let round = match &mut self.round {
            Some(round) if observation.number_newest < round.number_end => round,
            // The round's bounds are updated below the smallest window too (Linux 6.14's
            // correction).
            ended => ended.insert(Round {
                number_end: observation.number_next,
                started_at: observation.now,
                train_at: observation.now,
                rtt_min: Duration::MAX,
                samples: 0,
                sampled_at: None,
            }),
        };
        if observation.window_packets < WINDOW_PACKETS_MIN {
            return false;
        }
        let train = round.is_train_long(observation);
        self.found = round.is_delayed(observation) || train;
        self.found
    }
}

impl Round {
    fn is_train_long(&mut self, observation: &Observation) -> bool {
        let packets = u32::try_from(observation.packets_acked).unwrap_or(u32::MAX);
        let gap = TRAIN_GAP_MAX.saturating_mul(packets);
        let gap = gap
            .min(observation.rtt_min / TRAIN_GAP_RTT_DIVISOR)
            .max(TRAIN_GAP_MAX);
        if observation.now.since(self.train_at) > gap {
            return false;
        }
        self.train_at = observation.now;
        let burst =
            BURST_BYTES.saturating_mul(1_000_000_000) / observation.pacing_rate_bytes_s.max(1);
        let allowance = Duration::from_nanos(burst).min(BURST_ALLOWANCE_MAX);
        let length = observation.rtt_min + allowance;
        let length = if observation.paced {
            length
        } else {
            length / 2
        };
        observation.now.since(self.started_at) > length
    }

    fn is_delayed(&mut self, observation: &Observation) -> bool {
        self.rtt_min = self.rtt_min.min(observation.rtt_latest);
        let held_up = |at| observation.now.since(at) < observation.spacing;
        if self.sampled_at.is_some_and(held_up) {
            return false;
        }
        self.sampled_at = Some(observation.now);
        if self.samples < SAMPLES_MIN {
            self.samples += observation.packets_acked.min(SAMPLES_PER_ACK_MAX);
            return false;
        }
        let increase = (observation.rtt_min / 8).clamp(DELAY_INCREASE_MIN, DELAY_INCREASE_MAX);
        self.rtt_min > observation.rtt_min + increase
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observation(now_ms: u64, number: u64, rtt_ms: u64) -> Observation {
        Observation {
            now: Instant::from_nanos(now_ms * 1_000_000),
            number_newest: number,
            number_next: 100,
            window_packets: 32,
            packets_acked: 1,
            rtt_latest: Duration::from_millis(rtt_ms),
            rtt_min: Duration::from_millis(40),
            paced: true,
            pacing_rate_bytes_s: 1_000_000,
            spacing: Duration::from_millis(1),
        }
    }

    #[test]
    fn a_train_longer_than_the_round_trip_ends_it() {
        let mut hystart = HyStart::default();
        let found = (0..60).find(|ms| hystart.on_ack(&observation(*ms, *ms, 40)));
        assert_eq!(found, Some(42));
        // Once found, never again.
        assert!(!hystart.on_ack(&observation(61, 61, 40)));
    }

    #[test]
    fn an_unpaced_train_need_only_be_half_as_long() {
        let mut hystart = HyStart::default();
        let unpaced = |ms| Observation {
            paced: false,
            ..observation(ms, ms, 40)
        };
        assert_eq!((0..60).find(|ms| hystart.on_ack(&unpaced(*ms))), Some(21));
    }

    #[test]
    fn gaps_break_the_train() {
        let mut hystart = HyStart::default();
        assert!((0..30).all(|n| !hystart.on_ack(&observation(3 * n, n, 40))));
    }

    #[test]
    fn rarer_acknowledgements_may_be_as_much_further_apart() {
        let sparse = |n: u64, packets_acked| Observation {
            packets_acked,
            ..observation(8 * n, n, 40)
        };
        let mut hystart = HyStart::default();
        assert_eq!((0..10).find(|n| hystart.on_ack(&sparse(*n, 4))), Some(6));
        let mut hystart = HyStart::default();
        assert!((0..10).all(|n| !hystart.on_ack(&sparse(n, 3))));
        // A quarter of the round trip is the limit.
        let mut hystart = HyStart::default();
        let sparser = |n: u64| Observation {
            packets_acked: 20,
            ..observation(11 * n, n, 40)
        };
        assert!((0..10).all(|n| !hystart.on_ack(&sparser(n))));
    }

    #[test]
    fn a_round_of_delayed_samples_ends_it() {
        let mut hystart = HyStart::default();
        // An eighth of 40 ms is 5 ms: 45 is not above, 46 is, at the ninth sample.
        assert!((0..12).all(|n| !hystart.on_ack(&observation(3 * n, n, 45))));
        let mut hystart = HyStart::default();
        assert_eq!(
            (0..12).find(|n| hystart.on_ack(&observation(3 * n, *n, 46))),
            Some(8)
        );
        // One prompt sample in the round clears the path.
        let mut hystart = HyStart::default();
        assert!((0..12).all(|n| !hystart.on_ack(&observation(
            3 * n,
            n,
            if n == 4 { 41 } else { 60 }
        ))));
    }

    #[test]
    fn acknowledgements_that_were_held_up_together_are_one_sample() {
        let mut hystart = HyStart::default();
        // Ten at each of eight moments, the round trips of each decreasing, but not to a prompt
        // one.
        let late = |n: u64| observation(5 * (n / 10), n, 90 - n % 10);
        assert!((0..80).all(|n| !hystart.on_ack(&late(n))));
        // The ninth moment is the ninth sample.
        assert!(hystart.on_ack(&late(80)));
    }

    #[test]
    fn an_acknowledgement_of_many_packets_is_not_many_samples() {
        let mut hystart = HyStart::default();
        let many = |n: u64| Observation {
            packets_acked: 10,
            ..observation(20 * n, n, 90)
        };
        assert_eq!((0..12).find(|n| hystart.on_ack(&many(*n))), Some(4));
    }

    #[test]
    fn small_windows_decide_nothing() {
        let mut hystart = HyStart::default();
        let small = |n| Observation {
            window_packets: 15,
            ..observation(3 * n, n, 90)
        };
        assert!((0..20).all(|n| !hystart.on_ack(&small(n))));
    }
}
