//! Writes the golden vectors: `cargo run --release -p eyelevel-link --example make_vectors -- vectors/link`.
//!
//! They pin the behaviour of a path, to the nanosecond and the packet. Run it only if the model is
//! meant to change, review the differences, and mention them in the changelog.

use eyelevel_link::{Direction, Ecn, Event, EventKind, Observer, Packet, StageSpec};
use eyelevel_units::{Generator, Instant, Seed};
use serde_json::{Value, json};
use std::path::Path;

const SEED: u64 = 20_261_121;
const PACKETS: u64 = 160;

/// File names with their stages, in the text form or as JSON.
const CASES: &[(&str, &str)] = &[
    ("none", "none"),
    ("delay", "delay 12.345678ms"),
    ("rate", "rate 7 Mbit/s"),
    ("droptail-time", "rate 7 Mbit/s, queue droptail 12ms"),
    ("droptail-bytes", "rate 7 Mbit/s, queue droptail 9 kB"),
    (
        "droptail-packets",
        "rate 7 Mbit/s, queue droptail 5 packets",
    ),
    ("drophead", "rate 7 Mbit/s, queue drophead 9 kB"),
    ("codel", "rate 3 Mbit/s, queue codel interval 20ms ecn"),
    (
        "fq-codel",
        "rate 3 Mbit/s, queue fq_codel interval 20ms flows 8 limit 40",
    ),
    ("pie", "rate 3 Mbit/s, queue pie burst 0ms ecn"),
    ("red", "rate 3 Mbit/s, queue red min 2 max 6 weight 0.1 ecn"),
    ("dualpi2", "rate 3 Mbit/s, queue dualpi2"),
    (
        "schedule",
        "schedule 0ms=9Mbit/s 20ms=0 25ms=2 Mbit/s repeat 60ms, queue droptail 9 packets",
    ),
    ("token-bucket", "token_bucket 3 Mbit/s 9 kB"),
    ("loss", "loss 10%"),
    ("gilbert-elliott", "gilbert-elliott 5% 30% 1% 80%"),
    ("jitter-normal", "jitter normal 5ms 3ms"),
    (
        "jitter-uniform-reordering",
        "jitter uniform 0ms 9ms reordering",
    ),
    ("jitter-pareto", "jitter pareto 1ms 2.5"),
    ("duplicate", "duplicate 10%"),
    ("corrupt", "corrupt 10%"),
    ("outage-exponential", "outage exponential 30ms 10ms"),
    ("outage-periodic", "outage periodic 30ms 10ms"),
    (
        "trace",
        r#"[{"stage":"trace","trace":[0,1,1,1,4,9,9,15,16],
            "queue":{"discipline":"droptail","limit_packets":12}}]"#,
    ),
    (
        "cell",
        r#"[{"stage":"cell","idle_ms":3,"heavy":[0,1,1,2,4,9,9,15,16],"light":[
            {"at_ms":0,"delay_ms":7,"opportunities_ms":[0,2,3]},
            {"at_ms":100,"delay_ms":12,"opportunities_ms":[0,4]},
            {"at_ms":250,"delay_ms":9.5,"opportunities_ms":[0]}]}]"#,
    ),
    (
        "recorded",
        r#"[{"stage":"recorded_loss","positions":[0,3,4],"period_packets":11},
            {"stage":"fates","delays_ms":[3,null,2.5,0],"repeat":true},
            {"stage":"jitter","distribution":{"kind":"recorded","delays_ms":[1,4],"interval_ms":7}}]"#,
    ),
    (
        "whole-path",
        "delay 37ms, jitter normal 1ms 0.5ms, rate 10.5 Mbit/s, queue droptail 20ms, loss 1.5%",
    ),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args()
        .nth(1)
        .ok_or("give the folder: vectors/link")?;
    for (name, text) in CASES {
        let path = Path::new(&folder).join(format!("{name}.json"));
        let vector = vector(name, text).map_err(|error| format!("{name}: {error}"))?;
        std::fs::write(&path, lines(&vector))?;
    }
    println!("{} vectors in {folder}", CASES.len());
    Ok(())
}

/// Runs one case.
fn vector(name: &str, text: &str) -> Result<Value, Box<dyn std::error::Error>> {
    let stages: Vec<StageSpec> = match text.starts_with('[') {
        true => serde_json::from_str(text)?,
        false => StageSpec::parse_text(text)?,
    };
    let arrivals = arrivals(name);
    let mut direction = Direction::with_observer(&stages, Seed::new(SEED), Drops::default())?;
    for &(at, bytes, flow, ecn) in &arrivals {
        let ecn = Ecn::from_bits(ecn);
        let packet = Packet {
            flow,
            ecn,
            ..Packet::new(bytes, ())
        };
        direction.handle_packet(Instant::from_nanos(at), packet);
    }
    let end = Instant::from_nanos(u64::MAX - 1);
    let releases: Vec<Value> = std::iter::from_fn(|| direction.poll_transmit(end))
        .map(|r| {
            json!([
                r.number,
                r.at.as_nanos(),
                r.packet.ecn as u8,
                r.packet.corrupt_bit
            ])
        })
        .collect();
    Ok(json!({
        "seed": SEED,
        "stages": stages,
        "arrivals": arrivals,
        "releases": releases,
        "drops": direction.observer().0,
    }))
}

/// Returns bursts and pauses at about 5 Mbit/s: instant, bytes, flow, ECN bits.
fn arrivals(name: &str) -> Vec<(u64, u32, u32, u8)> {
    let mut generator: Generator = Seed::new(SEED).child(name).generator();
    let mut at = 0;
    let mut arrival = |_| {
        at += match generator.below(8) {
            0..4 => 0,
            4..7 => generator.below(4_000_000),
            _ => generator.below(20_000_000),
        };
        let bytes = [1500, 1500, 1500, 1200, 40][generator.below(5) as usize];
        (
            at,
            bytes,
            generator.below(3) as u32,
            generator.below(3) as u8,
        )
    };
    (0..PACKETS).map(&mut arrival).collect()
}

/// Formats each list with one entry per line, so that a diff shows where it changed.
fn lines(vector: &Value) -> String {
    let mut text = String::from("{\n");
    let object = vector.as_object().expect("a vector is an object");
    for (index, (key, value)) in object.iter().enumerate() {
        let comma = if index + 1 < object.len() { "," } else { "" };
        match value.as_array().filter(|list| !list.is_empty()) {
            Some(list) => {
                let entries: Vec<String> = list.iter().map(|entry| format!("  {entry}")).collect();
                text += &format!("\"{key}\": [\n{}\n]{comma}\n", entries.join(",\n"));
            }
            None => text += &format!("\"{key}\": {value}{comma}\n"),
        }
    }
    text + "}\n"
}

/// Drops as packet, instant, stage and reason.
#[derive(Default)]
struct Drops(Vec<Value>);

impl<P> Observer<P> for Drops {
    fn event(&mut self, event: &Event) {
        if let EventKind::Dropped { reason, .. } = event.kind {
            self.0.push(json!([
                event.packet,
                event.at.as_nanos(),
                event.stage,
                reason.name()
            ]));
        }
    }
}
