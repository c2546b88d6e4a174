//! Checks that the disciplines of active queue management share.

use crate::SpecError;
use crate::error::At;
use crate::queued_packet::QUEUED_PACKETS_MAX;
use eyelevel_units::{Duration, duration_from_ms};

/// Returns a duration that must be above 0.
pub(crate) fn positive_ms(ms: f64, key: &str, place: &str) -> Result<Duration, SpecError> {
    let duration = duration_from_ms(ms).at(|| format!("{place}: {key}"))?;
    if duration.is_zero() {
        let problem = format!("{key} is 0");
        return Err(SpecError::setting(
            place,
            problem,
            "use a time above 0, or leave it out",
        ));
    }
    Ok(duration)
}

/// Checks a limit: at least one packet and at most what a stage may hold.
pub(crate) fn limit_packets(limit: u64, place: &str) -> Result<u64, SpecError> {
    if (1..=QUEUED_PACKETS_MAX as u64).contains(&limit) {
        return Ok(limit);
    }
    let problem = format!("limit_packets is {limit}");
    Err(SpecError::setting(
        place,
        problem,
        format!("use 1 to {QUEUED_PACKETS_MAX}, or leave it out"),
    ))
}
