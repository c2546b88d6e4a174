//! `eyelevel-lab stages`: the only parser of the text form, for programs that start labs.

use crate::Error;
use crate::config::read_file;
use crate::emit::emit;
use clap::Args;
use eyelevel_archive::sha256;
use eyelevel_link::{Direction, DirectionFacts, FileText, ReadFile, StageSpec};
use eyelevel_units::{Seed, one_line};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The arguments after `stages`.
#[derive(Debug, Args)]
pub struct StagesArguments {
    /// Stages in the text form, such as "delay 20ms, rate 10 Mbit/s", or as a JSON list
    #[arg(required = true)]
    texts: Vec<String>,
}

/// One direction in its checked and stored form.
#[derive(Debug, Serialize)]
struct CheckedDirection {
    /// The stages as in `spec/lab-events.md`; a file is named by its digest.
    stages: Vec<StageSpec>,
    /// The paths of the files, by their SHA-256 in hexadecimal.
    files: BTreeMap<String, PathBuf>,
    #[serde(flatten)]
    facts: DirectionFacts,
}

/// Prints one JSON list with one object for each text: the checked stages, their files, and the
/// resulting path.
pub fn run(arguments: &StagesArguments) -> Result<i32, Error> {
    let directions = arguments
        .texts
        .iter()
        .map(|text| describe_direction(text))
        .collect::<Result<Vec<_>, _>>()?;
    emit(&directions);
    Ok(0)
}

/// Parses stages in either form and checks them with the files that they name.
pub fn parse_checked(text: &str) -> Result<Vec<StageSpec>, Error> {
    parse_checked_with(text, &mut read_file)
}

/// Returns the stored form of stages, in which a file is identified by its content instead of its
/// path.
fn describe_direction(text: &str) -> Result<CheckedDirection, Error> {
    let mut files = BTreeMap::new();
    let mut read = |name: &str| {
        let file = read_file(name)?;
        let path = std::fs::canonicalize(name).map_err(|error| error.to_string())?;
        let name = sha256(file.text.as_bytes());
        files.insert(name.replacen("sha256:", "", 1), path);
        Ok(FileText { name, ..file })
    };
    let stages = parse_checked_with(text, &mut read)?;
    let facts = DirectionFacts::new(&stages).map_err(|e| Error::Config(e.to_string()))?;
    Ok(CheckedDirection {
        stages,
        files,
        facts,
    })
}

fn parse_checked_with(text: &str, read: &mut ReadFile<'_>) -> Result<Vec<StageSpec>, Error> {
    let mut stages = if text.trim_start().starts_with('[') {
        serde_json::from_str(text)
            .map_err(|error| one_line(&error.to_string()))
            .map_err(|e| Error::Config(format!("the stages: {e}; see docs/reference/stages.md")))?
    } else {
        StageSpec::parse_text(text).map_err(|e| Error::Config(e.to_string()))?
    };
    for stage in &mut stages {
        stage
            .load_files(read)
            .map_err(|e| Error::Config(e.to_string()))?;
    }
    // Limits and settings that only a built stage checks, with any seed.
    Direction::<()>::new(&stages, Seed::new(0)).map_err(|e| Error::Config(e.to_string()))?;
    Ok(stages)
}

#[cfg(test)]
mod tests {
    use super::{describe_direction, parse_checked};

    #[test]
    fn a_file_is_identified_by_its_content() {
        let folder = std::env::temp_dir().join(format!("eyelevel-stages-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (here, there) = (folder.join("here.trace"), folder.join("there.trace"));
        for file in [&here, &there] {
            std::fs::write(file, "1\n2\n").unwrap();
        }
        let told =
            describe_direction(&format!("trace {}, queue droptail 6000B", here.display())).unwrap();
        let again = describe_direction(&format!("trace {}, queue droptail 6000B", there.display()))
            .unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(told.stages, again.stages);
        let json = serde_json::to_value(&told).unwrap();
        let name = json["stages"][0]["trace"].as_str().unwrap();
        let digest = name.strip_prefix("sha256:").unwrap();
        assert!(
            json["files"][digest]
                .as_str()
                .unwrap()
                .ends_with("here.trace")
        );
        assert_eq!(json["rate_bit_s"], 12_000_000);
        assert_eq!(json["queue_ms_max"], 4.0);
    }

    #[test]
    fn both_forms_are_read_and_checked() {
        let text = parse_checked("delay 20ms, rate 10 Mbit/s, queue droptail 200ms").unwrap();
        let json = serde_json::to_string(&text).unwrap();
        assert_eq!(parse_checked(&json).unwrap(), text);
        assert!(parse_checked("none").unwrap().is_empty());
    }

    #[test]
    fn mistakes_are_one_line_each() {
        for wrong in [
            "delya 20ms",
            "loss 2",
            "rate 0 Mbit/s",
            "trace /none/such",
            "[{}]",
            "",
        ] {
            let message = parse_checked(wrong).unwrap_err().to_string();
            assert!(!message.is_empty() && !message.contains('\n'), "{message}");
        }
    }
}
