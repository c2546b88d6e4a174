//! `eyelevel-lab simulate`: bulk transfers in virtual time, a minute of path in milliseconds.

use crate::Error;
use crate::emit::emit;
use eyelevel_congestion::CONTROLLERS;
use eyelevel_simnet::bulk::Scenario;
use eyelevel_units::refusal;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, stdin};

/// The largest body, bytes, the longest time and the highest rate, so that the command ends.
const BODY_BYTES_MAX: u64 = 1_000_000_000;
const DURATION_MS_MAX: f64 = 3_600_000.0;
const RATE_BIT_S_MAX: u64 = 1_000_000_000;

/// A transfer over a path that is symmetric in delay and loss.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Transfer {
    congestion_control: String,
    rate_bit_s: u64,
    rtt_ms_min: f64,
    queue_ms: f64,
    /// The probability that a packet is lost, in each direction.
    loss: f64,
    seed: u64,
    body_bytes: u64,
    duration_ms: f64,
    /// The packets that the receiver acknowledges at a time, after the first hundred.
    packets_per_ack: u32,
    probe_gain: Option<f64>,
    /// Whether Sprout-EWMA uses the receiver's timestamps of packets instead of the times of
    /// acknowledgements.
    #[serde(default)]
    receive_timestamps: bool,
}

#[derive(Serialize)]
struct TransferResult {
    goodput_bit_s: f64,
    /// The goodput relative to the link's rate without headers.
    utilisation: f64,
    sent_packets: u64,
    retransmitted_packets: u64,
    queue_delay_ms_p50: f64,
    queue_delay_ms_p95: f64,
}

/// Reads one JSON list of transfers per line from standard input and prints a line with their
/// results.
pub fn run() -> Result<i32, Error> {
    for line in stdin().lock().lines() {
        let line =
            line.map_err(|error| Error::Config(format!("the transfers: {}", refusal(&error))))?;
        let wanted: Vec<Transfer> = serde_json::from_str(&line).map_err(|error| {
            Error::Config(format!(
                "the transfers: {error}; write a list of them on a line"
            ))
        })?;
        let moved: Vec<TransferResult> = wanted.iter().map(simulate).collect::<Result<_, _>>()?;
        emit(&moved);
    }
    Ok(0)
}

fn simulate(wanted: &Transfer) -> Result<TransferResult, Error> {
    let wrong = |what: &str| Error::Config(format!("a transfer in virtual time: {what}"));
    let found = CONTROLLERS
        .iter()
        .find(|(name, _)| *name == wanted.congestion_control);
    let Some((controller, _)) = found else {
        let known: Vec<_> = CONTROLLERS.iter().map(|(name, _)| *name).collect();
        let (unknown, known) = (&wanted.congestion_control, known.join(", "));
        return Err(wrong(&format!(
            "no congestion control `{unknown}`; known: {known}"
        )));
    };
    let in_range = (1..=RATE_BIT_S_MAX).contains(&wanted.rate_bit_s)
        && (1..=BODY_BYTES_MAX).contains(&wanted.body_bytes)
        && (1.0..=DURATION_MS_MAX).contains(&wanted.duration_ms)
        && (0.0..=10_000.0).contains(&wanted.rtt_ms_min)
        && (0.0..=60_000.0).contains(&wanted.queue_ms)
        && (0.0..=1.0).contains(&wanted.loss)
        && (1..=1000).contains(&wanted.packets_per_ack);
    if !in_range {
        return Err(wrong(
            "a number is out of its range; see crates/lab/src/commands/simulate.rs",
        ));
    }
    let mut scenario = Scenario::new(
        controller,
        wanted.rate_bit_s,
        wanted.rtt_ms_min,
        wanted.queue_ms,
    );
    scenario.loss = wanted.loss;
    scenario.seed = wanted.seed;
    scenario.receive_timestamps = wanted.receive_timestamps;
    scenario.packets_per_ack = wanted.packets_per_ack;
    if let Some(gain) = wanted.probe_gain {
        scenario.settings.sprout_probe_gain = gain;
    }
    let check = scenario.settings.check();
    check.map_err(|error| wrong(&error.to_string()))?;
    let chunks = wanted.body_bytes.div_ceil(scenario.settings.packet_bytes);
    let outcome = scenario.transfer(chunks, wanted.duration_ms / 1e3);
    Ok(TransferResult {
        goodput_bit_s: outcome.goodput_bit_s,
        utilisation: outcome.utilisation,
        sent_packets: outcome.packets_sent,
        retransmitted_packets: outcome.packets_lost,
        queue_delay_ms_p50: outcome.queue_delay_ms_p50,
        queue_delay_ms_p95: outcome.queue_delay_ms_p95,
    })
}
