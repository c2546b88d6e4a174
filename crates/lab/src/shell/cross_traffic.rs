//! The report on the transfers that shared the path.

use super::table::Table;
use crate::Error;
use eyelevel_units::refusal;
use serde_json::{Map, Value};
use std::path::Path;

/// The file in the folder of `--log`.
const FILE: &str = "cross_traffic.json";

/// Prints each flow's goodput and Jain's index from the lab's summary, and writes the summary into
/// `log`'s folder.
pub fn report(found: &Map<String, Value>, log: Option<&Path>) -> Result<(), Error> {
    if let Some(log) = log {
        let file = log.join(FILE);
        let text = format!("{}\n", Value::Object(found.clone()));
        std::fs::write(&file, text).map_err(|error| {
            Error::Shell(format!("write {}: {}", file.display(), refusal(&error)))
        })?;
    }
    let mut table = Table::new(&["cross traffic", "way", "seconds", "Mbit/s"], &[2, 3]);
    for flow in found["flows"].as_array().into_iter().flatten() {
        let text = |key: &str| flow[key].as_str().unwrap_or_default().to_owned();
        let number = |key: &str| flow[key].as_f64().unwrap_or_default();
        table.row(vec![
            text("congestion_control"),
            text("direction"),
            format!("{:.1}", number("duration_ms") / 1e3),
            format!("{:.3}", number("goodput_bit_s") / 1e6),
        ]);
    }
    eprintln!("{}", table.lines().join("\n"));
    for (direction, index) in found["fairness_index"].as_object().into_iter().flatten() {
        if let Some(index) = index.as_f64() {
            eprintln!("Jain's fairness index {direction}: {index:.3}");
        }
    }
    Ok(())
}
