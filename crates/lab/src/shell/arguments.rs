use super::presets::query_tables;
use crate::Error;
use crate::commands::stages::parse_checked;
use clap::Args;
use eyelevel_link::{DelaySpec, StageSpec};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The shell if SHELL is not set.
const SHELL: &str = "/bin/sh";

const AFTER_HELP: &str = "\
Write stages in the order in which a packet meets them. On the way down it meets
those of the preset (or the delay of --rtt, then the trace), then those of
--down; on the way up those of --up, then the trace and the delay, or those of
the preset.
EYELEVEL_FAR and EYELEVEL_FAR6 hold the addresses of the far end.

  eyelevel path plot DIR                  draw what --log wrote
  eyelevel path fates DIR/down.log FILE   the fate of each packet, to replay them";

type Stages = Vec<StageSpec>;

/// Run a command behind an emulated path, or $SHELL; its exit status is passed on.
#[derive(Debug, Args)]
#[command(
    override_usage = "eyelevel path [OPTIONS] [--] [COMMAND]...",
    after_help = AFTER_HELP,
    disable_version_flag = true
)]
pub struct ShellArguments {
    /// Stages toward the client, such as
    /// "delay 20ms, rate 10 Mbit/s, loss 1%"
    #[arg(
        long,
        verbatim_doc_comment,
        value_name = "STAGES",
        default_value = "none"
    )]
    down: String,
    /// Stages toward the far end
    #[arg(long, value_name = "STAGES", default_value = "none")]
    up: String,
    /// A preset from `eyelevel list networks`, in place
    /// of --rtt and traces
    #[arg(long, verbatim_doc_comment, value_name = "PRESET")]
    network: Option<String>,
    /// A folder of recorded traces, such as Mahimahi's,
    /// to use instead of an operator's model
    #[arg(long, verbatim_doc_comment, value_name = "FOLDER")]
    traces: Option<String>,
    /// The minimum round trip, half each way, as 40ms
    #[arg(long, value_name = "TIME")]
    rtt: Option<String>,
    /// A packet-delivery trace in Mahimahi's format
    #[arg(long, value_name = "FILE")]
    trace_down: Option<String>,
    /// A packet-delivery trace toward the far end
    #[arg(long, value_name = "FILE")]
    trace_up: Option<String>,
    /// A shell command for the far end, such as "iperf3 -s"
    #[arg(long, value_name = "COMMAND")]
    pub far: Option<String>,
    /// Let the far end reach this host's network (as root)
    #[arg(long)]
    internet: bool,
    /// Add bulk transfers that share the path:
    /// CONTROLLER[:FLOWS[:DIRECTION]], as cubic:2:down,
    /// with cubic, bbr or reno. Repeatable.
    #[arg(long, verbatim_doc_comment, value_name = "FLOWS")]
    cross_traffic: Vec<String>,
    /// Write every packet's fate into this folder
    #[arg(long, value_name = "DIR")]
    pub log: Option<PathBuf>,
    /// Show rates, queues and drops while COMMAND runs
    #[arg(long)]
    pub watch: bool,
    /// The seed of all random decisions
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The command; by default $SHELL
    #[arg(trailing_var_arg = true)]
    command: Vec<String>,
}

impl ShellArguments {
    /// Returns the command to run.
    pub fn command_or_shell(&self) -> Vec<String> {
        if !self.command.is_empty() {
            return self.command.clone();
        }
        vec![std::env::var("SHELL").unwrap_or_else(|_| SHELL.to_owned())]
    }

    /// Returns the lab's configuration (`spec/lab-events.md`), checked before anything is created.
    pub fn config(&self) -> Result<Value, Error> {
        if self.watch && self.command.is_empty() {
            return Err(Error::Shell(
                "--watch and a shell would share one terminal; give the command to watch after `--`"
                    .into(),
            ));
        }
        self.refuse_conflicts()?;
        let mut tables = query_tables(
            self.network.as_deref(),
            self.traces.as_deref(),
            &self.cross_traffic,
        )?;
        if self.traces.is_some() {
            tables.down = parse_option("--traces", &json!(tables.down).to_string())?;
            tables.up = parse_option("--traces", &json!(tables.up).to_string())?;
        }
        let (down, up) = self.path(tables.down, tables.up)?;
        let mut config = json!({"path": {"down": down, "up": up}, "seed": self.seed, "join": true});
        if let Some(log) = &self.log {
            config["log"] = json!(log);
        }
        if self.internet {
            config["internet"] = true.into();
        }
        config["cross_traffic"] = tables.cross_traffic;
        Ok(config)
    }

    /// Returns both directions, down first, combined with those of the preset.
    /// `python/eyelevel/plan/networks/compose.py` does the same for other commands;
    /// `vectors/path_words` tests both.
    fn path(&self, preset_down: Stages, preset_up: Stages) -> Result<(Stages, Stages), Error> {
        let own_down = parse_option("--down", &self.down)?;
        let own_up = parse_option("--up", &self.up)?;
        let delay = self.delay()?;
        let trace_down = parse_trace("--trace-down", self.trace_down.as_deref())?;
        let trace_up = parse_trace("--trace-up", self.trace_up.as_deref())?;
        let down = [preset_down, delay.clone(), trace_down, own_down].concat();
        let up = [own_up, trace_up, delay, preset_up].concat();
        Ok((down, up))
    }

    /// Refuses a round trip or links in addition to a preset, which already has them.
    fn refuse_conflicts(&self) -> Result<(), Error> {
        let Some(network) = &self.network else {
            return Ok(());
        };
        let refused = |what: &str| Err(Error::Shell(format!("--network {network} and {what}")));
        if let Some(rtt) = &self.rtt {
            return refused(&format!(
                "--rtt {rtt}: a network has a round trip of its own, so leave one out; what comes \
                 on top of it is --down \"delay 20ms\" --up \"delay 20ms\""
            ));
        }
        for (way, trace) in [("down", &self.trace_down), ("up", &self.trace_up)] {
            if let Some(file) = trace {
                return refused(&format!(
                    "--trace-{way} {file}: a network has links of its own, so leave one out; a \
                     link behind them is --{way} \"trace FILE\""
                ));
            }
        }
        Ok(())
    }

    fn delay(&self) -> Result<Vec<StageSpec>, Error> {
        let Some(rtt) = &self.rtt else {
            return Ok(Vec::new());
        };
        let mut stages = parse_option("--rtt", &format!("delay {rtt}"))?;
        match stages.as_mut_slice() {
            [StageSpec::Delay(DelaySpec { delay_ms })] => *delay_ms /= 2.0,
            _ => return Err(Error::Shell(format!("--rtt: {rtt} is no time; use 40ms"))),
        }
        Ok(stages)
    }
}

/// Parses an option's stages and checks them with all files that they name.
fn parse_option(option: &str, text: &str) -> Result<Vec<StageSpec>, Error> {
    parse_checked(text).map_err(|error| Error::Shell(format!("{option}: {error}")))
}

fn parse_trace(option: &str, file: Option<&str>) -> Result<Vec<StageSpec>, Error> {
    // As JSON, since a file's name may contain separators of the text form.
    file.map_or_else(
        || Ok(Vec::new()),
        |file| {
            parse_option(
                option,
                &json!([{"stage": "trace", "trace": file}]).to_string(),
            )
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        shell: ShellArguments,
    }

    fn parse(words: &[&str]) -> ShellArguments {
        Line::try_parse_from([&["path"], words].concat())
            .map(|line| line.shell)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn up_is_the_mirror_image_of_down() {
        let config = parse(&[
            "--rtt", "40ms", "--down", "loss 1%", "--up", "loss 2%", "true",
        ])
        .config()
        .unwrap();
        let names = |way: &str| {
            let stages = config["path"][way].as_array().unwrap().clone();
            stages
                .iter()
                .map(|stage| stage["stage"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(names("down"), ["delay", "loss"]);
        assert_eq!(names("up"), ["loss", "delay"]);
        assert_eq!(config["path"]["down"][0]["delay_ms"], 20.0);
    }

    #[test]
    fn the_commands_own_options_are_not_ours() {
        for words in [
            &["--rtt", "2ms", "ls", "--rtt", "-l"][..],
            &["--rtt", "2ms", "--", "ls", "--rtt", "-l"],
        ] {
            assert_eq!(parse(words).command_or_shell(), ["ls", "--rtt", "-l"]);
        }
        assert!(Line::try_parse_from(["path", "--rt", "2ms", "ls"]).is_err());
    }

    #[test]
    fn mistakes_name_their_option() {
        let mistake = |words: &[&str]| parse(words).config().unwrap_err().to_string();
        assert!(mistake(&["--rtt", "40", "true"]).starts_with("--rtt: "));
        assert!(mistake(&["--up", "delya 1ms", "true"]).starts_with("--up: "));
        assert!(mistake(&["--trace-up", "/no/such", "true"]).starts_with("--trace-up: /no/such"));
        assert!(mistake(&["--watch"]).contains("give the command"));
    }

    #[test]
    fn words_give_the_path_that_the_vectors_have() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/path_words");
        let text = std::fs::read_to_string(format!("{folder}/words.json")).unwrap();
        let cases: Vec<Value> = serde_json::from_str(&text.replace("{folder}", folder)).unwrap();
        assert!(!cases.is_empty());
        let stages = |list: &Value| -> Stages {
            serde_json::from_value(list.clone()).unwrap_or_else(|error| panic!("{error}: {list}"))
        };
        for case in &cases {
            let words = case["words"].as_array().unwrap().iter();
            let words: Vec<&str> = words.map(|word| word.as_str().unwrap()).collect();
            if let Some(refused) = case.get("refused") {
                let error = parse(&words).config().unwrap_err().to_string();
                assert_eq!(Some(error.as_str()), refused.as_str());
                continue;
            }
            let preset = |way: &str| stages(&case["preset"][way]);
            let (down, up) = parse(&words).path(preset("down"), preset("up")).unwrap();
            for (way, found) in [("down", down), ("up", up)] {
                // As JSON, in which a trace is its file name, however much of it was read.
                let expected = json!(stages(&case["path"][way]));
                assert_eq!(json!(found), expected, "{way} of {words:?}");
            }
        }
    }
}
