use super::ScheduleSpec;
use crate::SpecError;
use crate::error::At;
use eyelevel_units::{BitRate, Duration, Instant, duration_from_ms};

/// The shortest period; a shorter one would have more changes than packets.
const PERIOD_MIN: Duration = Duration::from_millis(1);

/// The rates of a schedule over time.
#[derive(Debug)]
pub(super) struct Timetable {
    /// The start of each rate within the period; the first at 0.
    steps: Vec<(Duration, Option<BitRate>)>,
    period: Option<Duration>,
    pub origin: Instant,
}

impl Timetable {
    pub fn new(spec: &ScheduleSpec, place: &str) -> Result<Self, SpecError> {
        let mut steps: Vec<(Duration, Option<BitRate>)> = Vec::with_capacity(spec.steps.len());
        for (index, step) in spec.steps.iter().enumerate() {
            let place = format!("{place}: step {}", index + 1);
            let start = duration_from_ms(step.at_ms).at(|| format!("{place}: at_ms"))?;
            let rate = match step.rate_bit_s {
                0 => None,
                bits => Some(BitRate::from_bits_per_second(bits).at(|| place.clone())?),
            };
            if steps
                .last()
                .map_or(!start.is_zero(), |(last, _)| start <= *last)
            {
                let problem = format!("at_ms {} is out of order", step.at_ms);
                let remedy = "begin at 0 and go up from step to step";
                return Err(SpecError::setting(place, problem, remedy));
            }
            steps.push((start, rate));
        }
        if steps.iter().all(|(_, rate)| rate.is_none()) {
            let problem = "no step has a rate above 0";
            return Err(SpecError::setting(place, problem, "give at least one"));
        }
        let period = match spec.period_ms {
            None => None,
            Some(ms) => {
                let period = duration_from_ms(ms).at(|| format!("{place}: period_ms"))?;
                if period < PERIOD_MIN || steps.last().is_some_and(|(last, _)| *last >= period) {
                    let problem = format!("period_ms {ms} is too short");
                    let remedy = "use at least 1, and more than the last step's at_ms";
                    return Err(SpecError::setting(place, problem, remedy));
                }
                Some(period)
            }
        };
        Ok(Self {
            steps,
            period,
            origin: Instant::ZERO,
        })
    }

    /// Returns the rate at `at` and the instant of the next change.
    pub fn at(&self, at: Instant) -> (Option<BitRate>, Instant) {
        let elapsed = at.since(self.origin);
        let nanos = elapsed.as_nanos();
        let within = match self.period {
            Some(period) => nanos % period.as_nanos(),
            None => nanos,
        };
        let after = self
            .steps
            .partition_point(|(start, _)| start.as_nanos() <= within);
        let cycle_start = self.origin + Duration::from_nanos((nanos - within) as u64);
        let next = match (self.steps.get(after), self.period) {
            (Some((start, _)), _) => cycle_start + *start,
            (None, Some(period)) => cycle_start + period,
            (None, None) => Instant::MAX,
        };
        (self.steps[after - 1].1, next)
    }

    pub fn any_rate(&self) -> BitRate {
        self.steps
            .iter()
            .find_map(|(_, rate)| *rate)
            .expect("one step has a rate")
    }

    /// Returns the mean over the period; without one the last rate, which stays, if it is above 0.
    pub fn long_term_rate(&self) -> BitRate {
        match (self.period, self.steps[self.steps.len() - 1].1) {
            (None, Some(last)) => last,
            _ => self.mean_rate(),
        }
    }

    /// Returns the mean over the period or up to the last step; at least 1 bit/s.
    pub fn mean_rate(&self) -> BitRate {
        let end = self.period.unwrap_or(self.steps[self.steps.len() - 1].0);
        if end.is_zero() {
            return self.any_rate();
        }
        let ends = self
            .steps
            .iter()
            .skip(1)
            .map(|(start, _)| *start)
            .chain([end]);
        let work: u128 = self
            .steps
            .iter()
            .zip(ends)
            .map(|((start, rate), end)| {
                let bits = rate.map_or(0, |rate| u128::from(rate.bits_per_second()));
                end.saturating_sub(*start).as_nanos() * bits
            })
            .sum();
        let bits = u64::try_from(work / end.as_nanos())
            .unwrap_or(u64::MAX)
            .max(1);
        BitRate::from_bits_per_second(bits).unwrap_or(BitRate::MAX)
    }
}
