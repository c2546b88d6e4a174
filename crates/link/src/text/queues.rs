use super::words::{Limit, Words};
use crate::{CodelSpec, DualPi2Spec, FqCodelSpec, PieSpec, QueueSpec, SpecError};

/// Reads what follows `queue`.
pub(super) fn parse(words: &mut Words<'_>) -> Result<QueueSpec, SpecError> {
    const NAMES: &str = "use infinite, droptail, drophead, codel, fq_codel, pie or dualpi2";
    let name = words
        .word("a queue discipline, such as \"droptail 200ms\"")?
        .replace('-', "_");
    match name.as_str() {
        "infinite" => Ok(QueueSpec::Infinite),
        "droptail" => {
            let (limit_ms, limit_bytes, limit_packets) = limits(words)?;
            Ok(QueueSpec::Droptail {
                limit_ms,
                limit_bytes,
                limit_packets,
            })
        }
        "drophead" => {
            let (limit_ms, limit_bytes, limit_packets) = limits(words)?;
            Ok(QueueSpec::Drophead {
                limit_ms,
                limit_bytes,
                limit_packets,
            })
        }
        "codel" => codel(words).map(QueueSpec::Codel),
        "fq_codel" => fq_codel(words).map(QueueSpec::FqCodel),
        "pie" => pie(words).map(QueueSpec::Pie),
        "dualpi2" => dualpi2(words).map(QueueSpec::Dualpi2),
        other => Err(words.error(&format!("unknown queue discipline {other:?}"), NAMES)),
    }
}

type Limits = (Option<f64>, Option<u64>, Option<u64>);

/// One or more limits, at most one of each kind.
fn limits(words: &mut Words<'_>) -> Result<Limits, SpecError> {
    let (mut ms, mut bytes, mut packets) = (None, None, None);
    loop {
        let twice = match words.limit()? {
            Limit::Ms(limit) => ms.replace(limit).is_some(),
            Limit::Bytes(limit) => bytes.replace(limit).is_some(),
            Limit::Packets(limit) => packets.replace(limit).is_some(),
        };
        if twice {
            return Err(words.error("a limit is given twice", "keep the smaller one"));
        }
        if words.is_empty() {
            return Ok((ms, bytes, packets));
        }
    }
}

fn codel(words: &mut Words<'_>) -> Result<CodelSpec, SpecError> {
    let mut spec = CodelSpec::default();
    while !words.is_empty() {
        match words.word("a setting")? {
            "target" => spec.target_ms = words.ms()?,
            "interval" => spec.interval_ms = words.ms()?,
            "limit" => spec.limit_packets = packets(words)?,
            "ecn" => spec.ecn = true,
            "no-ecn" => spec.ecn = false,
            other => {
                return Err(unknown(
                    words,
                    other,
                    "target, interval, limit, ecn, no-ecn",
                ));
            }
        }
    }
    Ok(spec)
}

fn fq_codel(words: &mut Words<'_>) -> Result<FqCodelSpec, SpecError> {
    let mut spec = FqCodelSpec::default();
    while !words.is_empty() {
        match words.word("a setting")? {
            "target" => spec.target_ms = words.ms()?,
            "interval" => spec.interval_ms = words.ms()?,
            "limit" => spec.limit_packets = packets(words)?,
            "flows" => spec.flows = words.count("write a count, such as 1024")?,
            "ecn" => spec.ecn = true,
            "no-ecn" => spec.ecn = false,
            other => {
                return Err(unknown(
                    words,
                    other,
                    "target, interval, limit, flows, ecn, no-ecn",
                ));
            }
        }
    }
    Ok(spec)
}

fn pie(words: &mut Words<'_>) -> Result<PieSpec, SpecError> {
    let mut spec = PieSpec::default();
    while !words.is_empty() {
        match words.word("a setting")? {
            "target" => spec.target_ms = words.ms()?,
            "update" => spec.update_ms = words.ms()?,
            "burst" => spec.burst_ms = words.ms()?,
            "limit" => spec.limit_packets = packets(words)?,
            "ecn" => spec.ecn = true,
            "no-ecn" => spec.ecn = false,
            other => {
                return Err(unknown(
                    words,
                    other,
                    "target, update, burst, limit, ecn, no-ecn",
                ));
            }
        }
    }
    Ok(spec)
}

fn dualpi2(words: &mut Words<'_>) -> Result<DualPi2Spec, SpecError> {
    let mut spec = DualPi2Spec::default();
    while !words.is_empty() {
        match words.word("a setting")? {
            "target" => spec.target_ms = words.ms()?,
            "limit" => spec.limit_packets = packets(words)?,
            other => return Err(unknown(words, other, "target, limit")),
        }
    }
    Ok(spec)
}

/// A count, with or without the word "packets".
fn packets(words: &mut Words<'_>) -> Result<u64, SpecError> {
    let count = words.count("write a count of packets, such as 1000")?;
    let _ = words.take("packets");
    Ok(count)
}

fn unknown(words: &Words<'_>, setting: &str, known: &str) -> SpecError {
    words.error(
        &format!("unknown setting {setting:?}"),
        &format!("use {known}"),
    )
}
