//! The text form of stages, and the errors of invalid text.

use eyelevel_link::{
    CodelSpec, DelaySpec, Direction, FileText, FqCodelSpec, JitterDistribution, OutageSpec,
    QUEUE_FOLLOWS, QueueSpec, RateSpec, StageSpec, TokenBucketSpec,
};
use eyelevel_units::Seed;
use std::fs::read_to_string;
use std::path::Path;

fn parsed(text: &str) -> Vec<StageSpec> {
    StageSpec::parse_text(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> String {
    let message = StageSpec::parse_text(text).unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

fn rate(rate_bit_s: u64, queue: QueueSpec) -> StageSpec {
    StageSpec::Rate(RateSpec { rate_bit_s, queue })
}

#[test]
fn a_queue_belongs_to_the_link_before_it_or_else_after_it() {
    let after = parsed("rate 1 Mbit/s, queue droptail 100 packets, delay 3ms");
    let before = parsed("queue droptail 100packets, rate 1Mbit/s, delay 3 ms");
    assert_eq!(after, before);
    assert_eq!(after[0], rate(1_000_000, QueueSpec::droptail_packets(100)));
    let two = parsed("rate 1 Mbit/s, queue droptail 9 kB, rate 2 Mbit/s, queue codel target 10ms");
    let codel = QueueSpec::Codel(CodelSpec {
        target_ms: 10.0,
        ..CodelSpec::default()
    });
    assert_eq!(
        two,
        [
            rate(1_000_000, QueueSpec::droptail_bytes(9_000)),
            rate(2_000_000, codel)
        ]
    );
    let stray = "write it right after (or right before) its own rate, schedule or trace";
    for text in [
        "queue infinite",
        "queue infinite, delay 1ms",
        "rate 1 Mbit/s, delay 1ms, queue infinite",
        "rate 1 Mbit/s, queue infinite, queue infinite",
        "queue infinite, queue infinite, rate 1 Mbit/s",
    ] {
        assert!(refused(text).ends_with(stray), "{text}");
    }
}

#[test]
fn jitter_may_be_of_single_addresses() {
    let text = "jitter normal 5ms 1ms for 192.0.2.1 recorded d.txt 10ms for 2001:db8::1 uniform \
                1ms 2ms reordering";
    let [StageSpec::Jitter(jitter)] = &parsed(text)[..] else {
        panic!("one stage")
    };
    assert!(jitter.reordering);
    assert!(matches!(
        jitter.distribution,
        JitterDistribution::Normal { .. }
    ));
    let kinds: Vec<_> = jitter.per_address.values().collect();
    assert!(matches!(
        kinds[..],
        [
            JitterDistribution::Recorded {
                interval_ms: Some(10.0),
                ..
            },
            JitterDistribution::Uniform { min_ms: 1.0, .. }
        ]
    ));
    // Alone, it leaves the others unchanged.
    let alone = "jitter for 192.0.2.1 uniform 1ms 2ms";
    let [StageSpec::Jitter(jitter)] = &parsed(alone)[..] else {
        panic!("one stage")
    };
    let none = JitterDistribution::Uniform {
        min_ms: 0.0,
        max_ms: 0.0,
    };
    assert_eq!(jitter.distribution, none);
    assert!(refused("jitter for x uniform 1ms 2ms").contains("\"x\" is no IP address"));
    assert!(refused("jitter for 192.0.2.1").contains("something is missing at the end"));
}

#[test]
fn a_step_of_a_schedule_may_send_nothing_in_any_unit() {
    let steps = |text| match &parsed(text)[..] {
        [StageSpec::Schedule(schedule)] => schedule.steps.clone(),
        other => panic!("{other:?}"),
    };
    let zero = steps("schedule 0s=1Mbit/s 5s=0");
    assert_eq!(steps("schedule 0s=1Mbit/s 5s=0Mbit/s"), zero);
    assert_eq!(steps("schedule 0s=1Mbit/s 5s=0.0 kbit/s"), zero);
    assert!(refused("schedule 0s=1Mbit/s 5s=0x").contains("0x"));
    assert!(refused("schedule 0s=-1Mbit/s").contains("-1Mbit/s"));
}

#[test]
fn every_stage_has_a_text_form() {
    let stages = parsed(
        "delay 40us, address-delay 192.0.2.1=20ms 2001:db8::1=30 ms default 1ms, \
         jitter normal 5ms 2ms, jitter uniform 0ms 3ms reordering, jitter pareto 1ms 2.5, \
         jitter recorded delays.txt 10ms, schedule 0s=10Mbit/s 5s=0 6s=2 Mbit/s repeat 10s, \
         trace lte.trace once, queue fq_codel limit 500 packets flows 16 no-ecn, loss 1%, \
         gilbert-elliott 1% 30%, recorded_loss losses.txt period 1000, fates log.txt repeat, \
         duplicate 0.1%, corrupt 0.0001, outage periodic 10s 500ms, \
         token-bucket 5 Mbit/s 64 kB",
    );
    assert_eq!(stages.len(), 16);
    assert_eq!(stages[0], StageSpec::Delay(DelaySpec { delay_ms: 0.04 }));
    let StageSpec::Jitter(jitter) = &stages[3] else {
        panic!("{:?}", stages[3])
    };
    assert!(jitter.reordering);
    assert_eq!(
        jitter.distribution,
        JitterDistribution::Uniform {
            min_ms: 0.0,
            max_ms: 3.0
        }
    );
    let StageSpec::Schedule(schedule) = &stages[6] else {
        panic!("{:?}", stages[6])
    };
    let steps: Vec<_> = schedule
        .steps
        .iter()
        .map(|step| (step.at_ms, step.rate_bit_s))
        .collect();
    assert_eq!(
        steps,
        [(0.0, 10_000_000), (5_000.0, 0), (6_000.0, 2_000_000)]
    );
    assert_eq!(schedule.period_ms, Some(10_000.0));
    let StageSpec::Trace(trace) = &stages[7] else {
        panic!("{:?}", stages[7])
    };
    assert!(trace.once && trace.trace.file() == Some("lte.trace"));
    let fq = FqCodelSpec {
        limit_packets: 500,
        flows: 16,
        ecn: false,
        ..FqCodelSpec::default()
    };
    assert_eq!(trace.queue, QueueSpec::FqCodel(fq));
    assert_eq!(
        stages[14],
        StageSpec::Outage(OutageSpec::Periodic {
            on_ms: 1e4,
            off_ms: 500.0
        })
    );
    assert_eq!(
        stages[15],
        StageSpec::TokenBucket(TokenBucketSpec {
            rate_bit_s: 5_000_000,
            burst_bytes: 64_000,
        })
    );
    assert_eq!(parsed("none"), []);
}

#[test]
fn the_json_form_of_every_stage_reads_back() {
    for stage in parsed(
        "delay 40us, address-delay 192.0.2.1=20ms, jitter pareto 1ms 2.5, \
         jitter recorded delays.txt 10ms, rate 1 Mbit/s, queue pie ecn, \
         schedule 0s=10Mbit/s, queue dualpi2 target 20ms, trace a.trace, \
         queue drophead 10ms 3packets, loss 1%, gilbert-elliott 1% 30%, recorded_loss l.txt, \
         fates log.txt, duplicate 1%, corrupt 1%, outage exponential 10s 1s, cell l.txt h.txt idle 5ms, \
         rate 1 Mbit/s, queue red min 3 max 9 probability 2% weight 0.01 no-gentle ecn, \
         token_bucket 5 Mbit/s 64 kB",
    ) {
        let json = serde_json::to_string(&stage).unwrap();
        assert!(
            json.contains(&format!("\"stage\":\"{}\"", stage.name())),
            "{json}"
        );
        let read: StageSpec = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{json}: {e}"));
        assert_eq!(read, stage, "{json}");
        let unknown = json.replacen('{', "{\"unknown\":1,", 1);
        assert!(
            serde_json::from_str::<StageSpec>(&unknown).is_err(),
            "{unknown}"
        );
    }
}

#[test]
fn a_wrong_clause_is_quoted_with_the_way_out() {
    assert_eq!(
        refused("delay 20ms, rate 10.5 Mbit"),
        "clause 2 (\"rate 10.5 Mbit\"): \"10.5Mbit\" is not a rate: unknown unit \"Mbit\", \
         use one of bit/s, kbit/s, Mbit/s, Gbit/s"
    );
    assert_eq!(
        refused("rate 1 MB/s, queue droptail 10 packets"),
        "clause 1 (\"rate 1 MB/s\"): \"1MB/s\" is not a rate: unknown unit \"MB/s\", \
         use one of bit/s, kbit/s, Mbit/s, Gbit/s"
    );
    assert!(refused("delay 10 sec").contains("unknown unit \"sec\", use one of ns, us"));
    assert!(refused("rate 10").contains("\"10\" is not a rate: it has no unit, use one of bit/s"));
    assert!(refused("wifi").contains("unknown stage \"wifi\"; use delay, "));
    assert!(refused("").contains("add a stage's name"));
    assert!(refused("delay 20ms,").starts_with("clause 2 (\"\")"));
    assert!(refused("rate 0 Mbit/s").contains("above 0"));
    assert!(refused("rate -3 Mbit/s").contains("above 0"));
    assert!(refused("token_bucket 5 Mbit/s").contains("add a burst, such as 64 kB"));
    assert!(refused("token_bucket 5 Mbit/s 3 ms").contains("\"3ms\" is not"));
    assert!(refused("loss 101%").contains("from 0 to 1"));
    assert!(refused("delay 20ms 30ms").contains("\"30ms\" is too much"));
    assert!(refused("delay").contains("add a time, such as 20 ms"));
    assert!(refused("rate 1 Mbit/s, queue blue").contains("use one of infinite, droptail"));
    assert!(refused("rate 1 Mbit/s, queue droptail 3 apples").contains("use a time (200 ms)"));
    assert!(refused("rate 1 Mbit/s, queue codel size 3").contains("use target, interval"));
    assert!(refused("rate 1 Mbit/s, queue red size 3").contains("use min, max, probability"));
    assert!(refused("rate 1 Mbit/s, queue red weight x").contains("\"x\" is no number"));
    assert!(refused("address-delay nowhere=3ms").contains("is no IP address"));
    assert!(refused("schedule 0s").contains("has no \"=\""));
    assert!(refused("outage daily 1s 1s").contains("use exponential or periodic"));
}

#[test]
fn files_are_read_by_the_caller_and_checked_by_line() {
    let load = |text: &str, content: &str| {
        let mut stages = parsed(text);
        let mut read = |name: &str| match name {
            "missing" => Err("no such file".to_owned()),
            _ => Ok(FileText {
                name: format!("read {name}"),
                text: content.to_owned(),
            }),
        };
        let loaded = stages
            .iter_mut()
            .try_for_each(|stage| stage.load_files(&mut read));
        loaded.and_then(|()| Direction::<()>::new(&stages, Seed::new(1)).map(drop))
    };
    let message = |text, content| load(text, content).unwrap_err().to_string();
    assert!(load("trace t, loss 1%, queue codel, trace t", "0\n1\n").is_ok());
    assert!(message("trace t", "0\n2\n1\n").starts_with("t:3: 1 ms comes after 2 ms"));
    assert!(message("trace t", "0\nabc\n").starts_with("t:2: \"abc\" is not a whole number"));
    assert!(message("trace missing", "").starts_with("missing: no such file; "));
    assert!(load("jitter recorded j 10ms", "1.5\n0\n").is_ok());
    assert!(message("jitter recorded j", "1.5\n-1\n").starts_with("j:2: \"-1\" is not a delay"));
    assert!(load("fates f", "1.5\nlost\n").is_ok());
    assert!(message("fates f", "dropped\n").contains("or \"lost\""));
    assert!(message("recorded-loss l", "1\n2.5\n").starts_with("l:2: "));
    assert!(message("recorded-loss l period 3", "1\n7\n").contains("use at least 8"));
    let unread = Direction::<()>::new(&parsed("trace t"), Seed::new(1))
        .unwrap_err()
        .to_string();
    assert!(unread.contains("\"t\" was not read"));
}

#[test]
fn each_queue_discipline_is_documented_and_has_a_golden_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let vectors: String = root
        .join("vectors/link")
        .read_dir()
        .unwrap()
        .map(|entry| read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    let pages = ["spec/lab-events.md", "docs/reference/queues.md"];
    let texts = pages.map(|page| (page, read_to_string(root.join(page)).unwrap()));
    let message = refused("rate 1 Mbit/s, queue blue");
    let (_, names) = message.split_once("use one of ").unwrap();
    for name in names.split(", ") {
        let golden = format!("\"discipline\":\"{name}\"");
        assert!(
            vectors.contains(&golden),
            "vectors/link lacks {name}: add it to make_vectors.rs and run that"
        );
        let quoted = format!("`{name}`");
        assert!(
            QUEUE_FOLLOWS.contains(&quoted),
            "QUEUE_FOLLOWS lacks {name}"
        );
        for (page, text) in &texts {
            assert!(text.contains(&quoted), "{page} lacks {name}");
        }
    }
}
