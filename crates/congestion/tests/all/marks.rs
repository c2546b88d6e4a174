//! ECN marks: an AQM's queue over an emulated path in virtual time, and single flows.

use eyelevel_congestion::{Flow, Settings, by_name};
use eyelevel_link::{CodelSpec, QueueSpec};
use eyelevel_simnet::bulk::{PACKET_BYTES, Scenario, format_state};
use eyelevel_units::{Duration, Instant};

/// Returns 3 Mbit/s and 40 ms with CoDel, which marks capable packets where it would drop others.
fn scenario(controller: &'static str, ecn: bool) -> Scenario {
    let codel = CodelSpec {
        ecn: true,
        ..CodelSpec::default()
    };
    Scenario {
        queue: Some(QueueSpec::Codel(codel)),
        ecn,
        ..Scenario::new(controller, 3_000_000, 40.0, 0.0)
    }
}

/// One line of a sender's log.
#[derive(Clone, Debug)]
struct Line {
    at: Instant,
    event: String,
    numbers: Vec<u64>,
    answer: String,
}

impl Line {
    fn field(&self, index: usize) -> &str {
        self.answer.split('\t').nth(index).unwrap()
    }

    fn packets(&self, index: usize) -> u64 {
        self.field(index).parse::<u64>().unwrap() / PACKET_BYTES
    }
}

fn log(scenario: &Scenario, seconds: u64) -> Vec<Line> {
    let mut network = scenario.network();
    network.run_until(Instant::from_nanos(seconds * 1_000_000_000));
    let line = |line: &str| {
        let fields: Vec<&str> = line.splitn(4, '\t').collect();
        Line {
            at: Instant::from_nanos(fields[0].parse().unwrap()),
            event: fields[1].to_owned(),
            numbers: fields[2].split(',').map(|n| n.parse().unwrap()).collect(),
            answer: fields[3].to_owned(),
        }
    };
    network.client.log().lines().map(line).collect()
}

/// Returns the window before each reduction and the threshold after it, in packets.
fn reductions(log: &[Line], by: &str) -> Vec<(u64, u64)> {
    let begins = |pair: &&[Line]| {
        pair[1].event == by && pair[0].field(3) != "recovery" && pair[1].field(3) == "recovery"
    };
    let windows_of = |pair: &[Line]| (pair[0].packets(0), pair[1].packets(1));
    log.windows(2).filter(begins).map(windows_of).collect()
}

/// Returns whether a controller answers everything else as it did without the marks.
fn is_unmoved_by_marks(scenario: &Scenario, log: &[Line]) -> bool {
    let controller = by_name(scenario.controller, &scenario.settings).unwrap();
    let mut flow = Flow::new(controller, PACKET_BYTES);
    let mut sent_at = Vec::new();
    log.iter().filter(|line| line.event != "mark").all(|line| {
        match line.event.as_str() {
            "sent" => {
                flow.on_packet_sent(line.at, line.numbers[0], PACKET_BYTES);
                sent_at.push(line.at);
            }
            "ack" => {
                for number in &line.numbers {
                    flow.on_packet_acked(line.at, *number, sent_at[*number as usize], None);
                }
                flow.on_acks_end(line.at, None, false);
            }
            event => {
                for number in &line.numbers {
                    flow.on_packet_lost(*number, PACKET_BYTES);
                }
                let bytes = line.numbers.len() as u64 * PACKET_BYTES;
                flow.on_congestion(line.at, bytes, event == "timeout");
            }
        }
        format_state(&flow) == line.answer
    })
}

#[test]
fn a_mark_takes_as_much_as_a_loss() {
    // CUBIC's beta is 717/1024 in the kernel, Reno's a half.
    for (controller, share) in [("cubic", 717), ("reno", 512), ("cubic-hystart++", 717)] {
        for (ecn, event) in [(true, "mark"), (false, "loss")] {
            let log = log(&scenario(controller, ecn), 20);
            let found = reductions(&log, event);
            println!("{controller}, {event}: {found:?}");
            assert!(found.len() >= 5, "{found:?}");
            for (before, after) in found {
                assert_eq!(
                    after,
                    (before * share / 1024).max(2),
                    "{controller}, {event}"
                );
            }
        }
    }
}

#[test]
fn capable_packets_are_marked_and_not_dropped() {
    for controller in ["cubic", "reno", "bbr"] {
        let [off, on] = [false, true].map(|ecn| scenario(controller, ecn).run(20.0));
        println!("{controller}: off {off:?}\non {on:?}");
        assert!(
            off.marked_by_queue == 0 && off.dropped_by_queue >= 5,
            "{off:?}"
        );
        assert!(
            on.marked_by_queue >= 5 && on.dropped_by_queue == 0,
            "{on:?}"
        );
        assert!(on.utilisation > 0.85, "{on:?}");
    }
}

#[test]
fn marks_of_one_window_count_once() {
    for controller in ["cubic", "reno"] {
        let log = log(&scenario(controller, true), 20);
        let marks = log.iter().filter(|line| line.event == "mark").count();
        let begun = reductions(&log, "mark").len();
        println!("{controller}: {marks} reports of marks, {begun} reductions");
        // Slow start's overshoot has many marks per round trip.
        assert!(marks > begun, "{marks} {begun}");
        let within = log
            .windows(2)
            .filter(|pair| pair[1].event == "mark" && pair[0].field(3) == "recovery");
        for pair in within {
            assert_eq!(pair[0].answer, pair[1].answer);
        }
    }
}

#[test]
fn bbr_and_sprout_ignore_marks() {
    for (controller, unmoved) in [("bbr", true), ("sprout_ewma", true), ("cubic", false)] {
        let scenario = scenario(controller, true);
        let log = log(&scenario, 20);
        let marks = log.iter().filter(|line| line.event == "mark").count();
        println!("{controller}: {marks} reports of marks");
        assert!(marks > 0, "{controller}: {marks}");
        assert_eq!(
            is_unmoved_by_marks(&scenario, &log),
            unmoved,
            "{controller}"
        );
    }
}

const SENT: Instant = Instant::from_nanos(1_000_000);

/// Returns a flow with that many packets in flight since [`SENT`].
fn flow(packets: u64) -> Flow {
    let settings = Settings {
        packet_bytes: 1000,
        initial_window_packets: packets,
        ..Settings::default()
    };
    let mut flow = Flow::new(by_name("cubic", &settings).unwrap(), 1000);
    for number in 0..packets {
        flow.on_packet_sent(SENT, number, 1000);
    }
    flow
}

fn ack(flow: &mut Flow, now: Instant, number: u64, sent: Instant) {
    flow.on_packet_acked(now, number, sent, None);
    flow.on_acks_end(now, None, false);
}

#[test]
fn a_mark_on_a_packet_sent_after_a_reduction_begins_the_next() {
    let mut flow = flow(20);
    let at = |ms| SENT + Duration::from_millis(ms);
    let threshold = |flow: &Flow| flow.controller().slow_start_threshold_bytes().unwrap() / 1000;
    ack(&mut flow, at(40), 0, SENT);
    flow.on_mark(at(40));
    let first = threshold(&flow);
    flow.on_packet_sent(at(41), 20, 1000);
    for number in 1..20 {
        ack(&mut flow, at(42), number, SENT);
        flow.on_mark(at(42));
        assert_eq!(
            threshold(&flow),
            first,
            "packet {number} was sent before the reduction"
        );
    }
    assert_eq!(flow.controller().state(), "recovery");
    ack(&mut flow, at(81), 20, at(41));
    assert_ne!(
        flow.controller().state(),
        "recovery",
        "over: all sent before it is delivered"
    );
    flow.on_mark(at(81));
    assert_eq!(threshold(&flow), first * 717 / 1024);
}

#[test]
fn a_reduction_by_a_mark_is_never_undone() {
    let at = SENT + Duration::from_millis(40);
    let window = |marked: bool| {
        let mut flow = flow(20);
        ack(&mut flow, at, 5, SENT);
        flow.on_packet_lost(0, 1000);
        flow.on_congestion(at, 1000, false);
        if marked {
            flow.on_mark(at);
        }
        let reduced = flow.controller().slow_start_threshold_bytes();
        flow.on_spurious_loss(at);
        (reduced, flow.controller().slow_start_threshold_bytes())
    };
    assert_eq!(window(false).1, None);
    assert_eq!(window(true).0, window(true).1);
}
