//! The golden files of `vectors/congestion`: the events that a transport passed to each controller,
//! and its answers. `EYELEVEL_BLESS=1 cargo test -p eyelevel-congestion --test vectors` rewrites
//! them.

use eyelevel_congestion::{CONTROLLERS, Flow, by_name};
use eyelevel_simnet::bulk::{PACKET_BYTES, Scenario, format_state};
use eyelevel_units::Instant;
use std::path::PathBuf;

const COLUMNS: &str =
    "at_ns\tevent\tnumbers\twindow_bytes\tthreshold_bytes\tpacing_rate_bytes_s\tstate";

fn path(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/congestion");
    root.join(format!("{name}.tsv"))
}

/// Returns one megabit per second, 80 ms, a queue of 250 ms: slow start, its end, losses, recovery.
fn scenario(name: &'static str) -> Scenario {
    let mut scenario = Scenario::new(name, 1_000_000, 80.0, 250.0);
    scenario.settings.initial_window_packets = 10;
    scenario
}

fn bless(name: &'static str) {
    let mut network = scenario(name).network();
    network.run_until(Instant::from_nanos(9_000_000_000));
    let text = format!("{COLUMNS}\n{}", network.client.log());
    std::fs::create_dir_all(path(name).parent().unwrap()).unwrap();
    std::fs::write(path(name), text).unwrap();
}

fn replay(name: &'static str) {
    let text = std::fs::read_to_string(path(name)).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(COLUMNS));
    let settings = scenario(name).settings;
    let mut flow = Flow::new(by_name(name, &settings).unwrap(), PACKET_BYTES);
    let mut sent_at = Vec::new();
    for (index, line) in lines.enumerate() {
        let fields: Vec<&str> = line.splitn(4, '\t').collect();
        let now = Instant::from_nanos(fields[0].parse().unwrap());
        let numbers: Vec<usize> = fields[2].split(',').map(|n| n.parse().unwrap()).collect();
        match fields[1] {
            "sent" => {
                flow.on_packet_sent(now, sent_at.len() as u64, PACKET_BYTES);
                sent_at.push(now);
            }
            "ack" => {
                for number in numbers {
                    flow.on_packet_acked(now, number as u64, sent_at[number], None);
                }
                flow.on_acks_end(now, None, false);
            }
            event => {
                let bytes = numbers.len() as u64 * PACKET_BYTES;
                for number in numbers {
                    flow.on_packet_lost(number as u64, PACKET_BYTES);
                }
                flow.on_congestion(now, bytes, event == "timeout");
            }
        }
        let place = format!("{}, line {}", path(name).display(), index + 2);
        assert_eq!(format_state(&flow), fields[3], "{place}");
    }
    assert!(sent_at.len() > 100);
}

#[test]
fn every_controller_answers_as_recorded() {
    for (name, _) in CONTROLLERS {
        if std::env::var_os("EYELEVEL_BLESS").is_some() {
            bless(name);
        }
        replay(name);
    }
}
