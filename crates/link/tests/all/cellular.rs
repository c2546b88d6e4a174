//! `cell` against a plain model, and against links of known behaviour, recorded lightly and
//! saturated. `docs/reference/cell.md` has the figures that `figures` prints.

use crate::common::{arrivals, config, run};
use crate::models::{Cell, IDLE_MS, Known, Link};
use eyelevel_link::{
    CellSpec, DelaySpec, Direction, LightTrain, Packet, QueueSpec, Recorded, StageSpec, TraceSpec,
};
use eyelevel_units::{Instant, Seed};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn cell(light: Vec<LightTrain>, heavy: Vec<u64>, idle_ms: u64) -> StageSpec {
    StageSpec::Cell(CellSpec {
        light: Recorded::from_values(light),
        heavy: Recorded::from_values(heavy),
        idle_ms: idle_ms as f64,
        opportunity_bytes: 1500,
        queue: QueueSpec::Infinite,
    })
}

fn trains() -> impl Strategy<Value = Vec<LightTrain>> {
    let gaps = proptest::collection::vec(0_u32..12, 0..12);
    let one = (1_u32..300, 0_u32..60, gaps);
    proptest::collection::vec(one, 2..12).prop_map(|list| {
        let mut at = 0;
        let train = |(after, delay, gaps): (u32, u32, Vec<u32>)| {
            at += after;
            let mut arrivals_at = 0;
            let later = gaps.into_iter().map(|gap| {
                arrivals_at += gap;
                f64::from(arrivals_at)
            });
            LightTrain {
                at_ms: f64::from(at),
                delay_ms: f64::from(delay),
                opportunities_ms: std::iter::once(0.0).chain(later).collect(),
            }
        };
        list.into_iter().map(train).collect()
    })
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn it_is_as_its_plain_model(
        arrivals in arrivals(300),
        light in trains(),
        gaps in proptest::collection::vec(0_u64..9, 1..60),
        idle in 0_u64..40,
    ) {
        let mut at = 1;
        let heavy: Vec<u64> = gaps.into_iter().map(|gap| { at += gap; at }).collect();
        let model = Cell { light: light.clone(), heavy: heavy.clone(), idle: idle * MS };
        let expected = model.carry(&arrivals);
        let stages = [cell(light, heavy, idle)];
        for punctual in [true, false] {
            prop_assert_eq!(&run(&stages, 1, &arrivals, punctual).0, &expected);
        }
    }
}

struct Emulated(Direction<()>);

impl Emulated {
    fn new(stages: &[StageSpec]) -> Self {
        let mut direction = Direction::new(stages, Seed::new(1)).unwrap();
        direction.start(Instant::ZERO);
        Self(direction)
    }
}

impl Link for Emulated {
    fn train(&mut self, at: u64, packets: usize) -> Vec<u64> {
        for _ in 0..packets {
            self.0
                .handle_packet(Instant::from_nanos(at), Packet::new(1500, ()));
        }
        let mut left = Vec::new();
        while let Some(wake) = self.0.poll_timeout() {
            left.extend(std::iter::from_fn(|| self.0.poll_transmit(wake)).map(|r| r.at.as_nanos()));
        }
        left
    }
}

/// Both directions of a link.
type Path = (Box<dyn Link>, Box<dyn Link>);

/// The seeds of the known link's directions, and their speed factors.
const DOWN: (u64, f64) = (11, 1.0);
const UP: (u64, f64) = (12, 0.4);

fn known() -> Path {
    let link = |(seed, rate)| Box::new(Known::new(seed, rate));
    (link(DOWN), link(UP))
}

fn by_cell() -> Path {
    let link = |(seed, rate): (u64, f64)| {
        let (light, heavy) = (
            Known::new(seed, rate).light(),
            Known::new(seed, rate).heavy(),
        );
        Box::new(Emulated::new(&[cell(light, heavy, IDLE_MS)]))
    };
    (link(DOWN), link(UP))
}

/// Builds a path from the saturated recording alone with half of the smallest round trip seen, as
/// usual with Mahimahi.
fn by_trace() -> Path {
    let least_ms = |(seed, rate): (u64, f64)| {
        let trains = Known::new(seed, rate).light();
        trains
            .iter()
            .map(|train| train.delay_ms)
            .fold(f64::INFINITY, f64::min)
    };
    let delay_ms = f64::midpoint(least_ms(DOWN), least_ms(UP));
    let link = |(seed, rate): (u64, f64)| {
        let trace = StageSpec::Trace(TraceSpec {
            trace: Recorded::from_values(Known::new(seed, rate).heavy()),
            once: false,
            opportunity_bytes: 1500,
            packet_overhead_bytes: 0,
            queue: QueueSpec::Infinite,
        });
        Box::new(Emulated::new(&[
            StageSpec::Delay(DelaySpec { delay_ms }),
            trace,
        ]))
    };
    (link(DOWN), link(UP))
}

/// Returns the response times of pages and measurements: milliseconds from each request to the
/// response's last packet, of `rounds` responses one right after the other, at times without a
/// period within the recording.
fn answered_ms(path: Path, rounds: &[usize]) -> Vec<f64> {
    let (mut down, mut up) = path;
    let mut random = Seed::new(7).generator();
    // Far enough apart that responses do not overlap, and all within the recording.
    let every = if rounds.iter().sum::<usize>() > 1000 {
        4800 * MS
    } else {
        950 * MS
    };
    let starts = (0..57_000 * MS / every).map(|n| n * every + random.below(400 * MS));
    let answer = starts.map(|start| {
        let end = rounds.iter().fold(start, |at, packets| {
            let requested_at = up.train(at, 1)[0];
            *down.train(requested_at, *packets).last().unwrap()
        });
        (end - start) as f64 / 1e6
    });
    answer.collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the relative difference of the emulated link's mean from the known one's.
fn relative_error(emulated: fn() -> Path, rounds: &[usize]) -> f64 {
    let truth = mean(&answered_ms(known(), rounds));
    mean(&answered_ms(emulated(), rounds)) / truth - 1.0
}

/// Three round trips of a handshake and a name lookup, then a page as slow start sends it.
const PAGE: [usize; 6] = [1, 1, 1, 10, 20, 40];
const TRAINS: [usize; 4] = [1, 3, 5, 10];

#[test]
fn short_trains_take_as_long_as_on_the_known_link_and_on_a_trace_they_do_not() {
    for packets in TRAINS {
        let (cell, trace) = (
            relative_error(by_cell, &[packets]),
            relative_error(by_trace, &[packets]),
        );
        assert!(cell.abs() < 0.05, "{packets} packets: {cell}");
        assert!(trace < -0.13, "{packets} packets: {trace}");
    }
}

#[test]
fn a_page_takes_as_long_as_on_the_known_link_and_on_a_trace_it_does_not() {
    let (cell, trace) = (
        relative_error(by_cell, &PAGE),
        relative_error(by_trace, &PAGE),
    );
    assert!(cell.abs() < 0.05, "{cell}");
    assert!(trace < -0.13, "{trace}");
}

#[test]
fn long_flows_have_the_known_links_rate_and_those_between_are_close() {
    let seconds = 3000;
    let rate_off = relative_error(by_cell, &[seconds]);
    assert!(rate_off.abs() < 0.05, "{rate_off}");
    for packets in [20, 40, 100, 300] {
        let between = relative_error(by_cell, &[packets]);
        assert!(between.abs() < 0.05, "{packets} packets: {between}");
    }
}

/// Prints the figures: `cargo test --release -p eyelevel-link --test all cellular::figures --
/// --ignored --nocapture`.
#[test]
#[ignore = "prints the table of docs/reference/cell.md"]
fn figures() {
    let row = |name: String, rounds: &[usize]| {
        let truth = mean(&answered_ms(known(), rounds));
        let share = |emulated| 100.0 * relative_error(emulated, rounds);
        let (cell, trace) = (share(by_cell), share(by_trace));
        println!("| {name} | {truth:.1} | {cell:+.1} % | {trace:+.1} % |");
    };
    for packets in [1, 3, 5, 10, 20, 40, 100, 300, 3000] {
        row(format!("{packets} packets"), &[packets]);
    }
    row("a page".to_owned(), &PAGE);
}

#[test]
fn a_light_recording_is_refused_with_file_line_and_remedy() {
    let load = |light: &str| {
        let mut stages = crate::common::parsed("cell light heavy idle 5ms, queue droptail 9 kB");
        let mut read = |name: &str| {
            Ok(eyelevel_link::FileText {
                name: name.to_owned(),
                text: if name == "light" { light } else { "1\n9\n" }.to_owned(),
            })
        };
        stages[0].load_files(&mut read).map(|()| stages)
    };
    let message = |light: &str| load(light).unwrap_err().to_string();
    assert!(load("0 20 0 1\n500 21.5 0 3 3\n").is_ok());
    assert!(message("0 20 0\n5 x 0\n").starts_with("light:2: \"5 x 0\" is not a train"));
    assert!(message("0 20\n5 1 0\n").starts_with("light:1: \"0 20\" is not a train"));
    assert!(message("0 20 0\n0 1 0\n").starts_with("light:2: the train is not later than"));
    assert!(message("0 20 3 2\n5 1 0\n").starts_with("light:1: its packets do not come"));
    assert!(message("0 20 0\n").starts_with("light: a light recording of one train; give"));
    let beyond = "a train beyond 30 days, or a delay beyond 60 s; write milliseconds";
    assert!(message("0 60000.1 0\n1 20 0\n").ends_with(beyond));
    assert!(message("0 20 0\n2592000001 20 0\n").ends_with(beyond));
    let facts = eyelevel_link::DirectionFacts::new(&load("0 20 0\n9 18 0\n").unwrap()).unwrap();
    assert_eq!((facts.delay_ms_min, facts.rate_bit_s), (18.0, 2_666_666));
}

#[test]
fn a_recording_of_other_packets_sets_the_bytes_of_an_opportunity() {
    let rate = |text: &str| {
        let mut stages = crate::common::parsed(text);
        let mut read = |name: &str| {
            Ok(eyelevel_link::FileText {
                name: name.to_owned(),
                text: if name == "light" {
                    "0 20 0\n9 18 0\n"
                } else {
                    "1\n9\n"
                }
                .to_owned(),
            })
        };
        stages[0].load_files(&mut read).unwrap();
        eyelevel_link::DirectionFacts::new(&stages)
            .unwrap()
            .rate_bit_s
    };
    let heavy_bit_s = |bytes: u64| bytes * 8 * 2 * 1000 / 9;
    assert_eq!(rate("cell light heavy"), heavy_bit_s(1500));
    assert_eq!(
        rate("cell light heavy opportunity 1396B"),
        heavy_bit_s(1396)
    );
    assert_eq!(
        rate("cell light heavy idle 5ms opportunity 1396 B"),
        heavy_bit_s(1396)
    );
    let refused = |text: &str| {
        eyelevel_link::StageSpec::parse_text(text)
            .unwrap_err()
            .to_string()
    };
    assert!(refused("cell light heavy opportunity 5 GB").contains("more than 4 GB"));
    assert!(refused("cell light heavy opportunity").contains("such as 1396B"));
}
