//! The configuration of a lab, one line of JSON (`spec/lab-events.md`).

use crate::Error;
use crate::connection_logs::ConnectionLogsConfig;
use crate::cross_traffic::{self, CrossTrafficConfig};
use eyelevel_link::{Direction, FileText, StageSpec};
use eyelevel_replay::{HintedObjects, StackConfig};
use eyelevel_units::{Seed, one_line, refusal};
use serde::{Deserialize, Deserializer};
use std::io::{BufRead, Read};
use std::net::SocketAddr;
use std::path::PathBuf;

/// The longest configuration; the longest list of stages is far below.
const LINE_BYTES_MAX: usize = 16 << 20;

/// The largest file of a stage: a recording with the most lines that the link accepts, at twenty
/// bytes each.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// The shortest interval; shorter ones would only repeat numbers.
const WATCH_INTERVAL_MS_MIN: u64 = 20;

/// The remedy for an invalid configuration.
const GRAMMAR: &str = "see spec/lab-events.md, and install eyelevel again if it wrote this itself";

/// The configuration of one lab.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabConfig {
    /// The recorded site; `None` for a path without servers.
    pub site: Option<PathBuf>,
    /// The protocol stack of the servers.
    pub stack: Option<StackConfig>,
    /// The stages of both directions.
    pub path: PathConfig,
    /// The seed from which every stage derives its generator.
    pub seed: u64,
    /// Whether to request real-time priority for the path, and for the servers if
    /// `realtime_servers`.
    #[serde(default = "default_true")]
    pub realtime: bool,
    /// Whether servers and resolver request it, too, below the path's.
    #[serde(default = "default_true")]
    pub realtime_servers: bool,
    /// The folder of the path log.
    #[serde(default)]
    pub log: Option<PathBuf>,
    /// The logs of connections and packets.
    #[serde(default)]
    pub connection_logs: Option<ConnectionLogsConfig>,
    /// The folder for the site's certificates, for a third-party server in the servers' namespace;
    /// the lab's own servers then serve nothing.
    #[serde(default)]
    pub certificates: Option<PathBuf>,
    /// Whether the response with the longest common URL prefix answers a request without an exact
    /// one.
    #[serde(default)]
    pub longest_prefix: bool,
    /// Age of the browser's cache on the second visit, in seconds; none: the dates of responses stay
    /// as recorded.
    #[serde(default)]
    pub cache_age_s: Option<u32>,
    /// Whether the far end reaches the network outside.
    #[serde(default)]
    pub internet: bool,
    /// Whether the far end reaches the lab around this one, if there is one.
    #[serde(default)]
    pub join: bool,
    /// A server outside of the lab that answers for the page's own origin.
    #[serde(default)]
    pub live: Option<LiveConfig>,
    /// Bulk transfers that share the path.
    #[serde(default)]
    pub cross_traffic: Vec<CrossTrafficConfig>,
    /// The interval between reports of the path's counts.
    #[serde(default)]
    pub watch_interval_ms: Option<u64>,
}

/// A live build.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LiveConfig {
    /// Where it listens, in the network in which the lab is started.
    pub address: SocketAddr,
    /// Names and ports by which it knows itself.
    pub authorities: Vec<String>,
}

/// The stages of both directions, in the order in which a packet passes them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathConfig {
    /// The stages from the server to the client.
    #[serde(deserialize_with = "stages")]
    pub down: Vec<StageSpec>,
    /// The stages from the client to the server.
    #[serde(deserialize_with = "stages")]
    pub up: Vec<StageSpec>,
}

impl PathConfig {
    /// Reads the files that stages name.
    pub fn load_files(&mut self) -> Result<(), Error> {
        self.down
            .iter_mut()
            .chain(&mut self.up)
            .try_for_each(load_stage_files)
    }

    /// Checks a path whose files are loaded.
    pub fn check(&self, seed: u64) -> Result<(), Error> {
        for stages in [&self.down, &self.up] {
            Direction::<()>::new(stages, Seed::new(seed))
                .map_err(|error| Error::Config(format!("the path: {error}")))?;
        }
        Ok(())
    }
}

/// Reads the files that a stage names, relative to the working directory.
pub fn load_stage_files(stage: &mut StageSpec) -> Result<(), Error> {
    stage
        .load_files(&mut read_file)
        .map_err(|error| Error::Config(format!("the path: {error}")))
}

/// Reads a file that a stage names.
pub fn read_file(name: &str) -> Result<FileText, String> {
    let failed = |error: std::io::Error| format!("the file cannot be read: {error}");
    let too_long = || format!("the file has more than {FILE_BYTES_MAX} bytes");
    let file = std::fs::File::open(name).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() > FILE_BYTES_MAX {
        return Err(too_long());
    }
    // A pipe's length is known only at its end.
    let mut text = String::new();
    let bytes = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text);
    if bytes.map_err(failed)? as u64 > FILE_BYTES_MAX {
        return Err(too_long());
    }
    let name = name.to_owned();
    Ok(FileText { name, text })
}

/// Deserializes a list of stages, or their text form.
fn stages<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<StageSpec>, D::Error> {
    use serde::de::Error as _;
    match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::String(text) => {
            StageSpec::parse_text(&text).map_err(|error| D::Error::custom(error.to_string()))
        }
        list => serde_json::from_value(list).map_err(D::Error::custom),
    }
}

fn default_true() -> bool {
    true
}

impl LabConfig {
    /// Parses and checks a configuration.
    pub fn parse(line: &str) -> Result<Self, Error> {
        let config: Self = serde_json::from_str(line)
            .map_err(|error| one_line(&error.to_string()))
            .map_err(|e| {
                Error::Config(format!(
                    "the configuration on standard input: {e}; {GRAMMAR}"
                ))
            })?;
        if config.certificates.is_some() && config.site.is_none() {
            return Err(Error::Config(
                "the configuration: certificates are a site's, give one".into(),
            ));
        }
        if config.live.is_some() && (config.site.is_none() || config.certificates.is_some()) {
            return Err(Error::Config(
                "the configuration: live is for a site that our servers serve, leave it out".into(),
            ));
        }
        let hints = |stack: &StackConfig| stack.early_hints == HintedObjects::Auto;
        if config.live.is_some() && config.stack.as_ref().is_some_and(hints) {
            return Err(Error::Config(
                "the configuration: early_hints is of a recorded page, leave live or it out".into(),
            ));
        }
        if config.site.is_some() != config.stack.is_some() {
            return Err(Error::Config(
                "the configuration: site and stack go together, give both or neither".into(),
            ));
        }
        if let Some(interval) = config.watch_interval_ms
            && interval < WATCH_INTERVAL_MS_MIN
        {
            return Err(Error::Config(format!(
                "the configuration: watch_interval_ms {interval}; use at least \
                 {WATCH_INTERVAL_MS_MIN}"
            )));
        }
        cross_traffic::validate(&config.cross_traffic)?;
        if let Some(stack) = &config.stack {
            stack.validate()?;
        }
        Ok(config)
    }

    /// Reads the first line of `input`. Commands follow, and stay in its buffer or behind it for
    /// the next reader.
    pub fn read(input: &mut impl BufRead) -> Result<Self, Error> {
        let mut line = Vec::new();
        input
            .take(LINE_BYTES_MAX as u64 + 1)
            .read_until(b'\n', &mut line)
            .map_err(|e| Error::Config(format!("read standard input: {}", refusal(&e))))?;
        if line.len() > LINE_BYTES_MAX {
            return Err(Error::Config(format!(
                "the configuration on standard input is longer than {LINE_BYTES_MAX} bytes; shorten it"
            )));
        }
        let line = String::from_utf8(line).map_err(|e| {
            Error::Config(format!(
                "the configuration on standard input: {e}; {GRAMMAR}"
            ))
        })?;
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
    fn a_file_that_is_too_long_is_refused_and_not_cut() {
        let name = format!("eyelevel-config-{}.trace", std::process::id());
        let path = std::env::temp_dir().join(name);
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(FILE_BYTES_MAX + 1).unwrap();
        let refused = read_file(path.to_str().unwrap()).unwrap_err();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(refused, "the file has more than 1073741824 bytes");
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
        let live = r#"{"live":{"address":"127.0.0.1:1","authorities":[]},"path":{"down":[],"up":[]},"seed":1}"#;
        assert!(error(live).contains("live is for a site"));
        let cross = |text: &str| {
            error(&format!(
                "{{\"path\":{{\"down\":[],\"up\":[]}},\"seed\":1,\"cross_traffic\":[{{{text}}}]}}"
            ))
        };
        assert!(cross("\"congestion_control\":\"vegas\"").contains("`cubic`, `bbr`, `reno`"));
        assert!(cross("\"congestion_control\":\"reno\",\"flows\":0").contains("from 1 to 64"));
        assert!(cross("\"congestion_control\":\"reno\",\"flows\":65").contains("65 flows"));
    }
}
