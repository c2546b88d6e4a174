//! `eyelevel-lab stages`: the one parser of the text form, for those who start labs.

use crate::Error;
use crate::emit::emit;
use clap::Args;
use eyelevel_link::{Direction, StageSpec};
use eyelevel_units::{Seed, one_line};

/// The arguments after `stages`.
#[derive(Debug, Args)]
pub struct StagesArguments {
    /// Stages in the text form, such as "delay 20ms, rate 10 Mbit/s", or as a JSON list
    #[arg(required = true)]
    texts: Vec<String>,
}

/// Prints one JSON list with a list of stages (`spec/lab-events.md`) for each text, all of them
/// checked, the files that they name included. Files stay names.
pub fn run(arguments: &StagesArguments) -> Result<i32, Error> {
    let lists = arguments
        .texts
        .iter()
        .map(|text| checked(text))
        .collect::<Result<Vec<_>, _>>()?;
    emit(&lists);
    Ok(0)
}

/// The stages of either form, checked with the files that they name.
pub fn checked(text: &str) -> Result<Vec<StageSpec>, Error> {
    let mut stages = if text.trim_start().starts_with('[') {
        serde_json::from_str(text)
            .map_err(|error| one_line(&error.to_string()))
            .map_err(|e| Error::Config(format!("the stages: {e}")))?
    } else {
        StageSpec::parse_text(text).map_err(|e| Error::Config(e.to_string()))?
    };
    let mut read = |name: &str| {
        std::fs::read_to_string(name).map_err(|error| format!("the file cannot be read: {error}"))
    };
    for stage in &mut stages {
        stage
            .load_files(&mut read)
            .map_err(|e| Error::Config(e.to_string()))?;
    }
    // Limits and settings that only a built stage checks; any seed does.
    Direction::<()>::new(&stages, Seed::new(0)).map_err(|e| Error::Config(e.to_string()))?;
    Ok(stages)
}

#[cfg(test)]
mod tests {
    use super::checked;

    #[test]
    fn both_forms_are_read_and_checked() {
        let text = checked("delay 20ms, rate 10 Mbit/s, queue droptail 200ms").unwrap();
        let json = serde_json::to_string(&text).unwrap();
        assert_eq!(checked(&json).unwrap(), text);
        assert!(checked("none").unwrap().is_empty());
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
            let message = checked(wrong).unwrap_err().to_string();
            assert!(!message.is_empty() && !message.contains('\n'), "{message}");
        }
    }
}
