use super::CLAUSES;
use super::words::{Words, as_ms};
use crate::error::At;
use crate::recorded::Recorded;
use crate::{
    AddressDelaySpec, FatesSpec, GilbertElliottSpec, JitterDistribution, JitterSpec,
    OPPORTUNITY_BYTES, OutageSpec, QueueSpec, RecordedLossSpec, ScheduleSpec, ScheduleStep,
    SpecError, StageSpec, TraceSpec,
};
use eyelevel_units::{BitRate, parse_duration};
use std::collections::BTreeMap;

/// Reads what follows a stage's name.
pub(super) fn parse(name: &str, words: &mut Words<'_>) -> Result<StageSpec, SpecError> {
    Ok(match name {
        "delay" => StageSpec::Delay {
            delay_ms: words.ms()?,
        },
        "address_delay" => StageSpec::AddressDelay(address_delay(words)?),
        "jitter" => StageSpec::Jitter(jitter(words)?),
        "rate" => {
            let rate_bit_s = words.rate()?.bits_per_second();
            StageSpec::Rate {
                rate_bit_s,
                queue: QueueSpec::Infinite,
            }
        }
        "schedule" => StageSpec::Schedule(schedule(words)?),
        "trace" => StageSpec::Trace(TraceSpec {
            trace: Recorded::from_file(words.file()?),
            once: words.take("once"),
            opportunity_bytes: OPPORTUNITY_BYTES,
            packet_overhead_bytes: 0,
            queue: QueueSpec::Infinite,
        }),
        "loss" => StageSpec::Loss {
            probability: words.probability()?,
        },
        "gilbert_elliott" => StageSpec::GilbertElliott(gilbert_elliott(words)?),
        "recorded_loss" => {
            let positions = Recorded::from_file(words.file()?);
            let period = words.take("period");
            let period = period
                .then(|| words.count("write a count of packets"))
                .transpose()?;
            StageSpec::RecordedLoss(RecordedLossSpec {
                positions,
                period_packets: period,
            })
        }
        "fates" => {
            let delays_ms = Recorded::from_file(words.file()?);
            let (repeat, reordering) = (words.take("repeat"), words.take("reordering"));
            StageSpec::Fates(FatesSpec {
                delays_ms,
                repeat,
                reordering,
            })
        }
        "duplicate" => StageSpec::Duplicate {
            probability: words.probability()?,
        },
        "corrupt" => StageSpec::Corrupt {
            probability: words.probability()?,
        },
        "outage" => StageSpec::Outage(outage(words)?),
        other => {
            let known = CLAUSES.map(|(name, _)| name).join(", ");
            return Err(words.error(&format!("unknown stage {other:?}"), &format!("use {known}")));
        }
    })
}

fn address_delay(words: &mut Words<'_>) -> Result<AddressDelaySpec, SpecError> {
    const EXPECTED: &str = "write an address and its delay, such as 192.0.2.1=20ms";
    let (mut delays_ms, mut default_ms) = (BTreeMap::new(), 0.0);
    while !words.is_empty() {
        if words.take("default") {
            default_ms = words.ms()?;
            continue;
        }
        let (address, delay) = words.pair(EXPECTED)?;
        let address = address
            .parse()
            .map_err(|_| words.error(&format!("{address:?} is no IP address"), EXPECTED))?;
        delays_ms.insert(address, as_ms(parse_duration(&delay).at(|| words.place())?));
    }
    if delays_ms.is_empty() {
        return Err(words.error("no address is given", EXPECTED));
    }
    Ok(AddressDelaySpec {
        delays_ms,
        default_ms,
    })
}

fn jitter(words: &mut Words<'_>) -> Result<JitterSpec, SpecError> {
    // Alone, `for` leaves the other addresses as they are.
    let mut distribution = JitterDistribution::Uniform {
        min_ms: 0.0,
        max_ms: 0.0,
    };
    if !words.next_is("for") {
        distribution = jitter_distribution(words)?;
    }
    let mut per_address = BTreeMap::new();
    while words.take("for") {
        const EXPECTED: &str = "an address, such as \"for 192.0.2.1 normal 5ms 2ms\"";
        let address = words.word(EXPECTED)?;
        let address = address
            .parse()
            .map_err(|_| words.error(&format!("{address:?} is no IP address"), EXPECTED))?;
        per_address.insert(address, jitter_distribution(words)?);
    }
    let reordering = words.take("reordering");
    Ok(JitterSpec {
        distribution,
        reordering,
        per_address,
    })
}

fn jitter_distribution(words: &mut Words<'_>) -> Result<JitterDistribution, SpecError> {
    const KINDS: &str = "use normal, uniform, pareto or recorded";
    Ok(
        match words.word("a distribution, such as \"normal 5ms 2ms\"")? {
            "normal" => JitterDistribution::Normal {
                mean_ms: words.ms()?,
                standard_deviation_ms: words.ms()?,
            },
            "uniform" => JitterDistribution::Uniform {
                min_ms: words.ms()?,
                max_ms: words.ms()?,
            },
            "pareto" => JitterDistribution::Pareto {
                scale_ms: words.ms()?,
                shape: words.count("write the shape, such as 2.5")?,
            },
            "recorded" => {
                let delays_ms = Recorded::from_file(words.file()?);
                let others = ["for", "reordering"].iter().any(|word| words.next_is(word));
                let interval = !others && !words.is_empty();
                JitterDistribution::Recorded {
                    delays_ms,
                    interval_ms: interval.then(|| words.ms()).transpose()?,
                }
            }
            other => return Err(words.error(&format!("unknown distribution {other:?}"), KINDS)),
        },
    )
}

fn schedule(words: &mut Words<'_>) -> Result<ScheduleSpec, SpecError> {
    const EXPECTED: &str = "write a time and its rate, such as 0s=10Mbit/s (or 5s=0 for none)";
    let (mut steps, mut period_ms) = (Vec::new(), None);
    while !words.is_empty() {
        if words.take("repeat") {
            period_ms = Some(words.ms()?);
            continue;
        }
        let (at, rate) = words.pair(EXPECTED)?;
        let at_ms = as_ms(parse_duration(at).at(|| words.place())?);
        let rate_bit_s = if is_zero_rate(&rate) {
            0
        } else {
            let rate = rate.parse::<BitRate>().at(|| words.place())?;
            rate.bits_per_second()
        };
        steps.push(ScheduleStep { at_ms, rate_bit_s });
    }
    if steps.is_empty() {
        return Err(words.error("no step is given", EXPECTED));
    }
    Ok(ScheduleSpec {
        steps,
        period_ms,
        queue: QueueSpec::Infinite,
    })
}

/// Nothing is sent: `0`, or with a unit, as the other steps have one.
fn is_zero_rate(text: &str) -> bool {
    let unit = text.trim_start_matches(['0', '.']);
    let zero = text.starts_with('0');
    zero && (unit.is_empty() || format!("1{unit}").parse::<BitRate>().is_ok())
}

fn gilbert_elliott(words: &mut Words<'_>) -> Result<GilbertElliottSpec, SpecError> {
    let (good_to_bad, bad_to_good) = (words.probability()?, words.probability()?);
    let (loss_good, loss_bad) = if words.is_empty() {
        (0.0, 1.0)
    } else {
        (words.probability()?, words.probability()?)
    };
    Ok(GilbertElliottSpec {
        good_to_bad,
        bad_to_good,
        loss_good,
        loss_bad,
    })
}

fn outage(words: &mut Words<'_>) -> Result<OutageSpec, SpecError> {
    match words.word("exponential or periodic")? {
        "exponential" => Ok(OutageSpec::Exponential {
            on_mean_ms: words.ms()?,
            off_mean_ms: words.ms()?,
        }),
        "periodic" => Ok(OutageSpec::Periodic {
            on_ms: words.ms()?,
            off_ms: words.ms()?,
        }),
        other => Err(words.error(
            &format!("unknown kind of outage {other:?}"),
            "use exponential or periodic",
        )),
    }
}
