//! `eyelevel-lab tables`: the data plane's tables for other programs, as one JSON object. The build
//! writes it into the Python package (`scripts/lab-tables`).

use crate::cross_traffic::FLOWS_MAX;
use eyelevel_link::{OPPORTUNITY_MS_MAX, QUEUE_FOLLOWS, StageSpec, VALUES_MAX};
use eyelevel_netns::capabilities;
use eyelevel_replay::{Limit, STACK_LIMITS};
use serde_json::{Map, Value, json};

/// Limits that belong to no stack.
const OTHER_LIMITS: &[Limit] = &[
    Limit::new("flows", 1.0, FLOWS_MAX as f64),
    Limit::new("opportunities", 1.0, VALUES_MAX as f64),
    Limit::new("opportunity_ms", 0.0, OPPORTUNITY_MS_MAX as f64),
];

/// Prints the limits by setting, the stages, the queues' settings, and the capabilities with which
/// a lab needs no user namespace. The same build prints the same bytes.
pub fn print() {
    println!("{:#}", tables());
}

fn tables() -> Value {
    let limits: Map<String, Value> = STACK_LIMITS
        .iter()
        .chain(OTHER_LIMITS)
        .map(|limit| {
            let bounds = json!({"min": number(limit.min), "max": number(limit.max)});
            (limit.setting.to_owned(), bounds)
        })
        .collect();
    let capabilities: Vec<Value> = capabilities::NEEDED
        .iter()
        .map(|each| json!({"name": each.name, "number": each.number(), "purpose": each.purpose}))
        .collect();
    json!({
        "limits": limits,
        "stages": StageSpec::KINDS,
        "queue_follows": QUEUE_FOLLOWS,
        "capabilities": capabilities,
    })
}

/// Returns whole numbers as integers, because readers expect counts and sizes to be integers.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 {
        json!(value as i64)
    } else {
        json!(value)
    }
}

#[cfg(test)]
mod tests {
    use super::tables;

    #[test]
    fn limits_are_integers_where_the_setting_is_one() {
        let tables = tables();
        let bytes = &tables["limits"]["quic_packet_bytes"];
        assert!(bytes["min"].is_i64() && bytes["max"].is_i64(), "{bytes}");
        assert_eq!(tables["limits"]["probe_gain"]["min"], 0.1);
    }

    #[test]
    fn no_setting_has_limits_twice() {
        let count = super::STACK_LIMITS.len() + super::OTHER_LIMITS.len();
        assert_eq!(tables()["limits"].as_object().unwrap().len(), count);
    }

    #[test]
    fn stages_describe_their_effect_and_settings() {
        let tables = tables();
        let stage = |name: &str| {
            let stages = tables["stages"].as_array().unwrap();
            stages.iter().find(|s| s["name"] == name).unwrap().clone()
        };
        assert_eq!(stage("rate")["is_link"], true);
        assert_eq!(stage("loss")["is_link"], false);
        assert_eq!(stage("loss")["follows"], "PROBABILITY");
    }
}
