//! The live view of `--watch`: two lines under the command's output, with each direction's current
//! values and its last seconds as curves.

use super::table::Table;
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, IsTerminal, PipeReader, Read, Write, stderr, stdout};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The interval between two events of the path.
pub const WATCH_INTERVAL_MS: u64 = 200;

/// The samples of a curve, the last two seconds: the view fits in 80 columns.
const HISTORY: usize = 10;

/// The longest line of output that is not split.
const LINE_BYTES_MAX: u64 = 1 << 16;

const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const HEADS: [&str; 9] = [
    "", "Mbit/s", "queue ms", "packets", "dropped", "marked", "late µs", "Mbit/s", "queue",
];
const NUMBERS: [usize; 6] = [1, 2, 3, 4, 5, 6];

/// Disables and enables wrapping (DECAWM): a wrapped line would not be cleared.
const WRAP: [&str; 2] = ["\x1b[?7l", "\x1b[?7h"];

/// The live view; its clones share the state.
#[derive(Clone, Default)]
pub struct View(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    down: Meter,
    up: Meter,
    /// The number of the view's lines on the terminal.
    shown: usize,
}

/// The values of one direction's events.
#[derive(Default)]
struct Meter {
    mbit_s: VecDeque<f64>,
    queue_ms: VecDeque<f64>,
    latest: Value,
    at_ns: f64,
}

impl View {
    /// Processes a `path` event.
    pub fn update(&self, event: &Value) {
        let mut state = self.state();
        let at_ns = event["at_ns"].as_f64().unwrap_or_default();
        state.down.add(at_ns, &event["down"]);
        state.up.add(at_ns, &event["up"]);
        if is_on_terminal() {
            state.clear();
            state.draw();
        }
    }

    /// Copies the command's output above the view until it ends.
    pub fn follow(&self, output: PipeReader) {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut output)
                .take(LINE_BYTES_MAX)
                .read_until(b'\n', &mut line);
            if !read.is_ok_and(|bytes| bytes > 0) {
                return;
            }
            let mut state = self.state();
            state.clear();
            let mut output = stdout().lock();
            let _ = output.write_all(&line).and_then(|()| output.flush());
            // Below an incomplete line there is no place for the view.
            if is_on_terminal() && line.ends_with(b"\n") {
                state.draw();
            }
        }
    }

    /// Ends the view and leaves its last state; without a terminal it is printed only now.
    pub fn end(&self) {
        let mut state = self.state();
        state.clear();
        state.draw();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn clear(&mut self) {
        if self.shown > 0 {
            let back = format!("\x1b[{}A\x1b[J", self.shown);
            print(&back);
            self.shown = 0;
        }
    }

    fn draw(&mut self) {
        let lines = self.lines();
        self.shown = lines.len();
        let text = lines.join("\n");
        if is_on_terminal() {
            print(&format!("{}{text}{}\n", WRAP[0], WRAP[1]));
        } else {
            print(&format!("{text}\n"));
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut table = Table::new(&HEADS, &NUMBERS);
        table.row(self.down.cells("down"));
        table.row(self.up.cells("up"));
        table.lines()
    }
}

impl Meter {
    /// Adds an event, whose counts are totals since the path's start.
    fn add(&mut self, at_ns: f64, counts: &Value) {
        let number = |of: &Value, key: &str| of[key].as_f64().unwrap_or_default();
        if !self.latest.is_null() && at_ns > self.at_ns {
            let released =
                number(counts, "released_bytes") - number(&self.latest, "released_bytes");
            let waits = number(counts, "queue_packets") > 0.0 || released > 0.0;
            let queue_us = number(counts, "queue_delay_us");
            push_bounded(&mut self.mbit_s, released * 8e3 / (at_ns - self.at_ns));
            push_bounded(&mut self.queue_ms, if waits { queue_us / 1e3 } else { 0.0 });
        }
        self.latest = counts.clone();
        self.at_ns = at_ns;
    }

    fn cells(&self, direction: &str) -> Vec<String> {
        let (Some(mbit_s), Some(queue_ms)) = (self.mbit_s.back(), self.queue_ms.back()) else {
            let mut cells = vec!["-".to_owned(); HEADS.len()];
            direction.clone_into(&mut cells[0]);
            return cells;
        };
        let count = |key: &str| format!("{:.0}", self.latest[key].as_f64().unwrap_or_default());
        vec![
            direction.to_owned(),
            format!("{mbit_s:.2}"),
            format!("{queue_ms:.1}"),
            count("packets"),
            count("dropped_packets"),
            count("marked_packets"),
            count("lateness_us"),
            curve(&self.mbit_s),
            curve(&self.queue_ms),
        ]
    }
}

fn push_bounded(samples: &mut VecDeque<f64>, sample: f64) {
    if samples.len() == HISTORY {
        samples.pop_front();
    }
    samples.push_back(sample);
}

/// Draws values as bars, the largest at full height.
fn curve(values: &VecDeque<f64>) -> String {
    let top = values.iter().copied().fold(0.0, f64::max);
    let bar = |value: &f64| {
        let height = if top > 0.0 { value / top } else { 0.0 };
        BARS[(height * (BARS.len() - 1) as f64).round() as usize]
    };
    values.iter().map(bar).collect()
}

/// Writes to standard output if it is a terminal, else to standard error.
fn print(text: &str) {
    if stdout().is_terminal() {
        let mut output = stdout().lock();
        let _ = output
            .write_all(text.as_bytes())
            .and_then(|()| output.flush());
    } else {
        eprint!("{text}");
    }
}

fn is_on_terminal() -> bool {
    stdout().is_terminal() || stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rates_are_of_the_time_between_two_events() {
        let view = View::default();
        for (at_ns, released_bytes) in [(0, 0), (200_000_000, 25_000)] {
            let counts = json!({"released_bytes": released_bytes, "queue_delay_us": 1500.0,
                "queue_packets": 1, "packets": 7, "dropped_packets": 2, "marked_packets": 0,
                "lateness_us": 3.4});
            view.update(&json!({"at_ns": at_ns, "down": counts, "up": counts}));
        }
        let lines = view.state().lines();
        let words: Vec<&str> = lines[1].split_whitespace().collect();
        assert_eq!(words, ["down", "1.00", "1.5", "7", "2", "0", "3", "█", "█"]);
    }

    #[test]
    fn an_idle_direction_has_no_curve() {
        assert_eq!(curve(&VecDeque::from([0.0, 0.0])), "  ");
        assert_eq!(curve(&VecDeque::from([1.0, 2.0])), "▄█");
    }
}
