//! The golden vectors in `vectors/link`: stages, seed and arrivals give these releases and drops,
//! to the nanosecond, on every machine. `examples/make_vectors.rs` writes them.

use eyelevel_link::{Direction, Ecn, Event, EventKind, Observer, Packet, StageSpec};
use eyelevel_units::{Instant, Seed};
use serde_json::{Value, json};
use std::path::Path;

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

#[test]
fn every_vector_holds_to_the_nanosecond() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/link");
    let mut count = 0;
    for entry in folder
        .read_dir()
        .expect("vectors/link is part of the repository")
    {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let vector: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        check(&name, &vector);
        count += 1;
    }
    assert!(count >= 27, "{count} vectors");
}

/// Drives each path punctually, where the vectors were written by a late driver.
fn check(name: &str, vector: &Value) {
    let stages: Vec<StageSpec> = serde_json::from_value(vector["stages"].clone()).unwrap();
    let seed = Seed::new(vector["seed"].as_u64().unwrap());
    let mut direction = Direction::with_observer(&stages, seed, Drops::default()).unwrap();
    let mut releases = Vec::new();
    let mut take = |direction: &mut Direction<(), Drops>, until: Instant| {
        while let Some(wake) = direction.poll_timeout().filter(|wake| *wake <= until) {
            while let Some(r) = direction.poll_transmit(wake) {
                assert_eq!(
                    r.at, wake,
                    "{name}: released at another instant than announced"
                );
                let (ecn, bit) = (r.packet.ecn as u8, r.packet.corrupt_bit);
                releases.push(json!([r.number, r.at.as_nanos(), ecn, bit]));
            }
        }
    };
    for arrival in vector["arrivals"].as_array().unwrap() {
        let field = |index: usize| arrival[index].as_u64().unwrap();
        let now = Instant::from_nanos(field(0));
        take(&mut direction, now);
        let mut packet = Packet::new(field(1) as u32, ());
        (packet.flow, packet.ecn) = (field(2) as u32, Ecn::from_bits(field(3) as u8));
        direction.handle_packet(now, packet);
    }
    take(&mut direction, Instant::from_nanos(u64::MAX - 1));
    assert_eq!(
        Value::from(releases),
        vector["releases"],
        "{name}: releases"
    );
    assert_eq!(
        Value::from(direction.observer().0.clone()),
        vector["drops"],
        "{name}: drops"
    );
}
