use crate::SpecError;
use crate::error::At;
use crate::recorded::{ReadFile, Recorded, parse_ms};
use crate::words::Words;
use eyelevel_units::{Duration, Generator, Instant, Seed, duration_from_ms};
use serde::{Deserialize, Serialize};

/// The distribution of a delay. A negative draw counts as no delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum JitterDistribution {
    /// A normal distribution.
    Normal {
        /// Mean in milliseconds.
        mean_ms: f64,
        /// Standard deviation in milliseconds.
        standard_deviation_ms: f64,
    },
    /// A uniform distribution.
    Uniform {
        /// Smallest delay in milliseconds.
        min_ms: f64,
        /// Greatest delay in milliseconds.
        max_ms: f64,
    },
    /// A Pareto distribution, shifted so that the smallest delay is 0: scale * (u^(-1/shape) - 1).
    Pareto {
        /// Scale in milliseconds.
        scale_ms: f64,
        /// Shape, above 0; the mean is finite above 1.
        shape: f64,
    },
    /// A recorded series, repeated.
    Recorded {
        /// Delays in milliseconds; in a file one per line.
        delays_ms: Recorded<f64>,
        /// Time for which each value applies, in milliseconds; without it each packet takes the
        /// next value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interval_ms: Option<f64>,
    },
}

impl JitterDistribution {
    /// Parses a distribution's kind and its parameters.
    pub(super) fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        const KINDS: &str = "use normal, uniform, pareto or recorded";
        Ok(
            match words.word("a distribution, such as \"normal 5ms 2ms\"")? {
                "normal" => Self::Normal {
                    mean_ms: words.ms()?,
                    standard_deviation_ms: words.ms()?,
                },
                "uniform" => Self::Uniform {
                    min_ms: words.ms()?,
                    max_ms: words.ms()?,
                },
                "pareto" => Self::Pareto {
                    scale_ms: words.ms()?,
                    shape: words.number("a shape, such as 2.5")?,
                },
                "recorded" => {
                    let delays_ms = Recorded::from_file(words.file()?);
                    let others = ["for", "reordering"].iter().any(|word| words.is_next(word));
                    let interval = !others && !words.is_empty();
                    Self::Recorded {
                        delays_ms,
                        interval_ms: interval.then(|| words.ms()).transpose()?,
                    }
                }
                other => return Err(words.error(&format!("unknown distribution {other:?}"), KINDS)),
            },
        )
    }

    /// Returns the smallest delay that can be drawn.
    pub(super) fn delay_min(&self) -> Result<Duration, SpecError> {
        let least_ms = match self {
            Self::Normal {
                mean_ms,
                standard_deviation_ms,
            } if *standard_deviation_ms == 0.0 => *mean_ms,
            Self::Normal { .. } | Self::Pareto { .. } => 0.0,
            Self::Uniform { min_ms, .. } => *min_ms,
            Self::Recorded { delays_ms, .. } => {
                let values = delays_ms.values("delays_ms")?.iter();
                values.copied().fold(f64::INFINITY, f64::min)
            }
        };
        duration_from_ms(least_ms).at(|| "distribution".into())
    }

    pub(super) fn load_files(&mut self, read: &mut ReadFile<'_>) -> Result<(), SpecError> {
        let Self::Recorded { delays_ms, .. } = self else {
            return Ok(());
        };
        delays_ms.load(read, parse_ms, "a delay in milliseconds")
    }
}

/// The longest delay; longer draws are cut to it, as a heavy tail must not hold a packet for ever.
const DELAY_MAX: Duration = Duration::from_secs(60);

/// One distribution with its generator.
#[derive(Debug)]
pub(super) struct Source {
    draw: Draw,
    generator: Generator,
    pub last_due: Instant,
}

#[derive(Debug)]
enum Draw {
    Normal {
        mean_ms: f64,
        standard_deviation_ms: f64,
    },
    Uniform {
        min_ms: f64,
        max_ms: f64,
    },
    Pareto {
        scale_ms: f64,
        shape: f64,
    },
    EachPacket {
        delays: Vec<Duration>,
        next: usize,
    },
    EachInterval {
        delays: Vec<Duration>,
        interval: Duration,
    },
}

impl Source {
    pub fn new(spec: &JitterDistribution, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let (generator, last_due) = (seed.generator(), Instant::ZERO);
        Ok(Self {
            draw: Draw::new(spec, place)?,
            generator,
            last_due,
        })
    }

    /// Returns the delay of a packet that arrives `since` after the path's start.
    pub fn delay(&mut self, since: Duration) -> Duration {
        let ms = match &mut self.draw {
            Draw::Normal {
                mean_ms,
                standard_deviation_ms,
            } => *mean_ms + *standard_deviation_ms * self.generator.normal(),
            Draw::Uniform { min_ms, max_ms } => {
                *min_ms + (*max_ms - *min_ms) * self.generator.uniform()
            }
            Draw::Pareto { scale_ms, shape } => *scale_ms * (self.generator.pareto(*shape) - 1.0),
            Draw::EachPacket { delays, next } => {
                let delay = delays[*next];
                *next = (*next + 1) % delays.len();
                return delay;
            }
            Draw::EachInterval { delays, interval } => {
                let index = since.as_nanos() / interval.as_nanos() % delays.len() as u128;
                return delays[index as usize];
            }
        };
        duration_from_ms(ms.max(0.0))
            .unwrap_or(DELAY_MAX)
            .min(DELAY_MAX)
    }
}

impl Draw {
    fn new(spec: &JitterDistribution, place: &str) -> Result<Self, SpecError> {
        let checked = |key: &str, ms: f64| {
            duration_from_ms(ms)
                .map(|_| ms)
                .at(|| format!("{place}: {key}"))
        };
        Ok(match spec {
            JitterDistribution::Normal {
                mean_ms,
                standard_deviation_ms,
            } => Self::Normal {
                mean_ms: checked("mean_ms", *mean_ms)?,
                standard_deviation_ms: checked("standard_deviation_ms", *standard_deviation_ms)?,
            },
            JitterDistribution::Uniform { min_ms, max_ms } => {
                let (min, max) = (checked("min_ms", *min_ms)?, checked("max_ms", *max_ms)?);
                if max < min {
                    let problem = format!("max_ms {max} is below min_ms {min}");
                    return Err(SpecError::setting(place, problem, "exchange them"));
                }
                Self::Uniform {
                    min_ms: min,
                    max_ms: max,
                }
            }
            JitterDistribution::Pareto { scale_ms, shape } => {
                if !(shape.is_finite() && *shape > 0.0) {
                    let problem = format!("shape {shape} is not above 0");
                    return Err(SpecError::setting(place, problem, "use for example 2.5"));
                }
                Self::Pareto {
                    scale_ms: checked("scale_ms", *scale_ms)?,
                    shape: *shape,
                }
            }
            JitterDistribution::Recorded {
                delays_ms,
                interval_ms,
            } => Self::recorded(delays_ms, *interval_ms, place)?,
        })
    }

    fn recorded(
        delays_ms: &Recorded<f64>,
        interval_ms: Option<f64>,
        place: &str,
    ) -> Result<Self, SpecError> {
        let place = format!("{place}: delays_ms");
        let delay = |ms: &f64| Ok(duration_from_ms(*ms).at(|| place.clone())?.min(DELAY_MAX));
        let values = delays_ms.values(&place)?;
        let delays = values
            .iter()
            .map(delay)
            .collect::<Result<Vec<_>, SpecError>>()?;
        let Some(ms) = interval_ms else {
            return Ok(Self::EachPacket { delays, next: 0 });
        };
        let interval = duration_from_ms(ms).at(|| place.replace("delays_ms", "interval_ms"))?;
        if interval.is_zero() {
            return Err(SpecError::setting(
                place,
                "interval_ms is 0",
                "leave it out or raise it",
            ));
        }
        Ok(Self::EachInterval { delays, interval })
    }
}
