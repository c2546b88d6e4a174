//! Messages on standard error along with the command's own output.

use serde_json::Value;
use std::io::{IsTerminal, stderr};
use std::path::Path;

/// The largest lateness at p99 that is not reported: a millisecond, Mahimahi's own resolution.
const LATENESS_US_MAX: f64 = 1000.0;

const RED: u8 = 31;
const YELLOW: u8 = 33;

/// Prints an error.
pub fn print_error(message: &str) {
    eprintln!("{}", color_text(&format!("eyelevel: {message}"), RED));
}

/// Prints what limits the validity of the run, and the folder of its log.
pub fn report(path: &Value, log: Option<&Path>) {
    for direction in ["down", "up"] {
        let seen = &path[direction];
        let warn = |text: String| {
            eprintln!(
                "{}",
                color_text(&format!("eyelevel: {direction}: {text}"), YELLOW)
            );
        };
        for (what, late) in [("left", seen), ("was read", &seen["arrival"])] {
            let late_us = late["lateness_us_p99"].as_f64().unwrap_or_default();
            if late_us > LATENESS_US_MAX {
                warn(format!(
                    "the machine was too busy, 1 in 100 packets {what} {:.1} ms late or more",
                    late_us / 1e3
                ));
            }
        }
        if let Some(lost) = seen["log_lost_records"].as_u64().filter(|lost| *lost > 0) {
            warn(format!(
                "the disk did not keep up, {lost} records of the log are missing"
            ));
        }
        if let Some(failure) = seen["log_failure"].as_str() {
            warn(format!("the log is not whole: {failure}"));
        }
    }
    if let Some(log) = log {
        let log = log.display();
        eprintln!("log: {log}; draw it: eyelevel path plot {log}");
    }
}

fn color_text(text: &str, color: u8) -> String {
    if stderr().is_terminal() {
        return format!("\x1b[{color}m{text}\x1b[0m");
    }
    text.to_owned()
}
