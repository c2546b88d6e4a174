//! Logs of connections and packets, opened before any namespace is created.

use crate::Error;
use eyelevel_replay::{ConnectionLogs, LineLog};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs::{File, create_dir_all};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The kinds of logs, and their folder (`spec/lab-events.md`).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionLogsConfig {
    /// The folder, created if missing.
    pub folder: PathBuf,
    /// The kinds, at least one.
    pub kinds: BTreeSet<Kind>,
}

/// The kind of a log.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `connection-N.sqlog` of each QUIC connection.
    Qlog,
    /// `packets.pcap` and, to read it, `keys.log`.
    Pcap,
    /// `tcp-info.jsonl`.
    TcpInfo,
    /// `lab.log`, the traces of the lab's threads and their libraries.
    Lab,
}

/// Open log files.
#[derive(Default)]
pub struct Opened {
    /// For the servers.
    pub of_servers: ConnectionLogs,
    /// For the path.
    pub capture: Option<File>,
    /// For everything in the lab's process.
    pub lab: Option<Arc<LineLog>>,
}

impl Opened {
    /// Creates the files that `config` selects.
    pub fn create(config: Option<&ConnectionLogsConfig>) -> Result<Self, Error> {
        let Some(ConnectionLogsConfig { folder, kinds }) = config else {
            return Ok(Self::default());
        };
        let failed = |what: &Path, error: io::Error| {
            Error::Config(format!(
                "the connections' logs: cannot create {}: {error}; name a folder that can be \
                 written",
                what.display()
            ))
        };
        create_dir_all(folder).map_err(|error| failed(folder, error))?;
        // The lab's process may change its directory.
        let folder = folder
            .canonicalize()
            .map_err(|error| failed(folder, error))?;
        let lines = |name: &str| {
            let path = folder.join(name);
            let log = LineLog::create(&path).map_err(|error| failed(&path, error))?;
            Ok::<_, Error>(Some(Arc::new(log)))
        };
        let mut opened = Self::default();
        if kinds.contains(&Kind::Qlog) {
            opened.of_servers.qlog = Some(folder.clone());
        }
        if kinds.contains(&Kind::TcpInfo) {
            opened.of_servers.tcp_info = lines("tcp-info.jsonl")?;
        }
        if kinds.contains(&Kind::Pcap) {
            opened.of_servers.keys = lines("keys.log")?;
            let path = folder.join("packets.pcap");
            opened.capture = Some(File::create(&path).map_err(|error| failed(&path, error))?);
        }
        if kinds.contains(&Kind::Lab) {
            opened.lab = lines("lab.log")?;
        }
        Ok(opened)
    }
}
