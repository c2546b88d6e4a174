//! What a lab is told: one line of JSON (`spec/lab-events.md`).

use crate::Error;
use eyelevel_link::StageSpec;
use eyelevel_replay::StackConfig;
use serde::Deserialize;
use std::io::Read;
use std::path::PathBuf;

/// A longer configuration is not one: the longest list of stages is far below.
const LINE_BYTES_MAX: usize = 16 << 20;

/// The configuration of one lab.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabConfig {
    /// The recorded site; none: a path without servers.
    pub site: Option<PathBuf>,
    /// The protocol stack of the servers.
    pub stack: Option<StackConfig>,
    /// Both directions.
    pub path: PathConfig,
    /// From which every stage derives its generator.
    pub seed: u64,
    /// Whether to ask for real-time priority.
    #[serde(default = "yes")]
    pub realtime: bool,
}

/// The stages of both directions, in the order in which a packet meets them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathConfig {
    /// From the server to the client.
    pub down: Vec<StageSpec>,
    /// From the client to the server.
    pub up: Vec<StageSpec>,
}

fn yes() -> bool {
    true
}

impl LabConfig {
    /// Parses and checks one configuration.
    pub fn parse(line: &str) -> Result<Self, Error> {
        let config: Self = serde_json::from_str(line)
            .map_err(|e| Error::Config(format!("the configuration on standard input: {e}")))?;
        if config.site.is_some() != config.stack.is_some() {
            return Err(Error::Config(
                "the configuration: site and stack go together, give both or neither".into(),
            ));
        }
        if let Some(stack) = &config.stack {
            stack.validate()?;
        }
        Ok(config)
    }

    /// Reads the first line of `input` and not a byte more: what follows are commands, which
    /// another process reads.
    pub fn read(input: &mut impl Read) -> Result<Self, Error> {
        let mut line = Vec::new();
        let mut byte = [0];
        while input
            .read(&mut byte)
            .map_err(|e| Error::Config(format!("read standard input: {e}")))?
            == 1
        {
            if byte[0] == b'\n' {
                break;
            }
            line.push(byte[0]);
            if line.len() > LINE_BYTES_MAX {
                return Err(Error::Config(format!(
                    "the configuration on standard input is longer than {LINE_BYTES_MAX} bytes"
                )));
            }
        }
        let line = String::from_utf8(line)
            .map_err(|e| Error::Config(format!("the configuration on standard input: {e}")))?;
        Self::parse(&line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_line_is_taken() {
        let mut input: &[u8] =
            b"{\"path\":{\"down\":[],\"up\":[]},\"seed\":1}\n{\"command\":\"stop\"}\n";
        let config = LabConfig::read(&mut input).unwrap();
        assert_eq!(config.seed, 1);
        assert!(config.realtime);
        assert_eq!(input, b"{\"command\":\"stop\"}\n");
    }

    #[test]
    fn mistakes_are_named() {
        let error = |line: &str| LabConfig::parse(line).unwrap_err().to_string();
        assert!(error("{\"path\":{\"down\":[],\"up\":[]},\"sed\":1}").contains("`sed`"));
        assert!(
            error("{\"site\":\"x\",\"path\":{\"down\":[],\"up\":[]},\"seed\":1}")
                .contains("together")
        );
        assert!(error("").contains("configuration"));
    }
}
