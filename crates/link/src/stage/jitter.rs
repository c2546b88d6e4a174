use crate::error::At;
use crate::observer::{Observer, Reports};
use crate::queued_packet::{QUEUED_PACKETS_MAX, QueuedPacket};
use crate::recorded::Recorded;
use crate::timeline::Timeline;
use crate::{DropReason, SpecError};
use core::net::IpAddr;
use eyelevel_units::{Duration, Generator, Instant, Seed, duration_from_ms};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A delay that varies from packet to packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JitterSpec {
    /// How the delay varies.
    pub distribution: JitterDistribution,
    /// Whether a packet may overtake another one; if not, it waits for those before it (of its own
    /// address, where that has a distribution of its own).
    #[serde(default)]
    pub reordering: bool,
    /// Other distributions for packets with these addresses.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub per_address: BTreeMap<IpAddr, JitterDistribution>,
}

/// What a delay is drawn from. A negative draw counts as no delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum JitterDistribution {
    /// Normal.
    Normal {
        /// Mean in milliseconds.
        mean_ms: f64,
        /// Standard deviation in milliseconds.
        standard_deviation_ms: f64,
    },
    /// Uniform.
    Uniform {
        /// Least delay in milliseconds.
        min_ms: f64,
        /// Greatest delay in milliseconds.
        max_ms: f64,
    },
    /// Pareto, shifted so that the least delay is 0: scale * (u^(-1/shape) - 1).
    Pareto {
        /// Scale in milliseconds.
        scale_ms: f64,
        /// Shape, above 0; the mean is finite above 1.
        shape: f64,
    },
    /// A recorded series, repeated.
    Recorded {
        /// Delays in milliseconds; in a file one a line.
        delays_ms: Recorded<f64>,
        /// How long each value holds; without it each packet takes the next value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interval_ms: Option<f64>,
    },
}

/// Longer delays than this are cut to it: a heavy tail must not park a packet for ever.
const DELAY_MAX: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Jitter<P> {
    default: Source,
    per_address: BTreeMap<IpAddr, Source>,
    reordering: bool,
    origin: Instant,
    travelling: Timeline<P>,
}

impl<P> Jitter<P> {
    pub(crate) fn new(spec: &JitterSpec, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let own = |(address, distribution): (&IpAddr, &JitterDistribution)| {
            let place = format!("{place}: per_address {address}");
            // By address, so that one origin's luck does not hang on another's packets.
            let seed = seed.child(&address.to_string());
            Ok((*address, Source::new(distribution, seed, &place)?))
        };
        Ok(Self {
            default: Source::new(&spec.distribution, seed, &format!("{place}: distribution"))?,
            per_address: spec
                .per_address
                .iter()
                .map(own)
                .collect::<Result<_, SpecError>>()?,
            reordering: spec.reordering,
            origin: Instant::ZERO,
            travelling: Timeline::default(),
        })
    }

    pub(crate) fn start(&mut self, origin: Instant) {
        self.origin = origin;
    }

    pub(crate) fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        if self.travelling.len() >= QUEUED_PACKETS_MAX {
            reports.dropped(at, queued_packet, DropReason::Bound);
            return None;
        }
        let own = queued_packet
            .packet
            .address
            .and_then(|address| self.per_address.get_mut(&address));
        let source = own.unwrap_or(&mut self.default);
        let mut due = at + source.delay(at.since(self.origin));
        if !self.reordering {
            due = due.max(source.last_due);
            source.last_due = due;
        }
        self.travelling.push(due, queued_packet);
        None
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.travelling.deadline()
    }

    pub(crate) fn handle_timeout(&mut self) -> Option<QueuedPacket<P>> {
        self.travelling.pop()
    }
}

/// One distribution with its generator.
#[derive(Debug)]
struct Source {
    draw: Draw,
    generator: Generator,
    last_due: Instant,
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
    fn new(spec: &JitterDistribution, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let (generator, last_due) = (seed.generator(), Instant::ZERO);
        Ok(Self {
            draw: Draw::new(spec, place)?,
            generator,
            last_due,
        })
    }

    /// The delay of a packet that comes `since` after the path's start.
    fn delay(&mut self, since: Duration) -> Duration {
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
