//! The rates, delays and queues of stages, by which others size buffers.

use eyelevel_link::{DirectionFacts, FileText, StageSpec};

/// Returns the facts of stages in the text form; `content` is the text of every file.
fn facts_with(text: &str, content: &str) -> DirectionFacts {
    let mut stages = StageSpec::parse_text(text).unwrap();
    for stage in &mut stages {
        let mut read = |name: &str| {
            Ok(FileText {
                name: name.to_owned(),
                text: content.to_owned(),
            })
        };
        stage.load_files(&mut read).unwrap();
    }
    DirectionFacts::new(&stages).unwrap()
}

fn facts(text: &str) -> DirectionFacts {
    facts_with(text, "")
}

#[test]
fn the_slowest_link_counts_with_its_mean() {
    let rate = |text| facts_with(text, "1\n2\n").rate_bit_s;
    assert_eq!(rate("delay 20ms, loss 1%"), 0);
    assert_eq!(rate("rate 14 Mbit/s, trace t"), 12_000_000);
    assert_eq!(rate("schedule 0s=1kbit/s 100ms=4kbit/s"), 4000);
    assert_eq!(rate("schedule 0s=1kbit/s 100ms=4kbit/s repeat 300ms"), 3000);
    // A policer's rate counts, too.
    assert_eq!(
        rate("rate 14 Mbit/s, token_bucket 5 Mbit/s 64 kB"),
        5_000_000
    );
    assert_eq!(rate("token_bucket 5 Mbit/s 64 kB"), 5_000_000);
    // A schedule that ends with nothing has carried something before.
    assert_eq!(rate("schedule 0s=1kbit/s 100ms=0"), 1000);
}

#[test]
fn only_the_delay_of_every_packet_counts() {
    let delay = |text, content| facts_with(text, content).delay_ms_min;
    let list = "7\n3.5\n9\n";
    assert_eq!(delay("delay 20ms, rate 1 Mbit/s, delay 100us", ""), 20.1);
    assert_eq!(delay("address-delay 192.0.2.1=7ms default 3ms", ""), 3.0);
    assert_eq!(delay("address-delay 192.0.2.1=7ms", ""), 0.0);
    assert_eq!(delay("jitter uniform 2ms 9ms", ""), 2.0);
    assert_eq!(
        delay("jitter uniform 2ms 9ms for 192.0.2.1 uniform 1ms 3ms", ""),
        1.0
    );
    assert_eq!(delay("jitter normal 5ms 2ms", ""), 0.0);
    assert_eq!(delay("jitter normal 5ms 0ms", ""), 5.0);
    // Shifted, so that the smallest draw is no delay.
    assert_eq!(delay("jitter pareto 4ms 2.5", ""), 0.0);
    assert_eq!(delay("jitter recorded f", list), 3.5);
    assert_eq!(delay("fates f repeat", "7\nlost\n3.5\n"), 3.5);
    assert_eq!(delay("fates f", list), 0.0);
    assert_eq!(delay("fates f repeat", "lost\n"), 0.0);
}

#[test]
fn the_tightest_limit_is_the_queue_and_the_longest_queue_counts() {
    let queue = |text| facts(text).queue_ms_max;
    assert_eq!(queue("delay 1ms"), 0.0);
    assert_eq!(queue("token_bucket 5 Mbit/s 64 kB"), 0.0);
    assert_eq!(
        queue("rate 10 Mbit/s, queue droptail 200ms 10packets"),
        12.0
    );
    assert_eq!(queue("rate 10 Mbit/s, queue drophead 50ms"), 50.0);
    assert_eq!(queue("rate 1 Mbit/s, queue droptail 1kB"), 8.0);
    assert_eq!(queue("rate 1 Mbit/s, queue codel"), 100.0);
    assert_eq!(queue("rate 1 Mbit/s, queue red max 10"), 240.0);
    assert_eq!(
        queue("rate 1 Mbit/s, queue droptail 1kB, rate 2 Mbit/s"),
        1000.0
    );
}

#[test]
fn a_file_that_was_not_read_is_an_error_and_no_number() {
    for text in ["trace f", "jitter recorded f", "fates f repeat"] {
        let stages = StageSpec::parse_text(text).unwrap();
        let said = DirectionFacts::new(&stages).unwrap_err().to_string();
        assert!(said.contains("was not read"), "{said}");
    }
}

#[test]
fn a_file_has_the_name_that_its_reader_returns() {
    let mut stages = StageSpec::parse_text(
        "trace f, recorded-loss f, fates f, jitter recorded f for 192.0.2.1 recorded f",
    )
    .unwrap();
    for stage in &mut stages {
        let mut read = |_: &str| {
            Ok(FileText {
                name: "what stands for it".into(),
                text: "1\n2\n".into(),
            })
        };
        stage.load_files(&mut read).unwrap();
    }
    let json = serde_json::to_string(&stages).unwrap();
    assert_eq!(json.matches("what stands for it").count(), 5, "{json}");
    assert!(!json.contains("\"f\""), "{json}");
}
