//! `eyelevel-lab scan`: one line of JSON, then one name per line in; rows out (`spec/probe.md`).

use super::probe::{read_config, resolver_or_default, runtime};
use crate::Error;
use crate::emit::emit_or_exit;
use eyelevel_addresses::Prefix;
use eyelevel_probe::{ScanSettings, Trust, scan};
use serde::Deserialize;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc;

/// The most names read ahead; the rest waits in the pipe.
const NAMES_AHEAD: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScanConfig {
    port: u16,
    tls: bool,
    quic: bool,
    ipv6: bool,
    https_records: bool,
    www: bool,
    rate_per_s: f64,
    in_flight: usize,
    timeout_ms: u64,
    resolver: Option<SocketAddr>,
    excluded: Vec<Prefix>,
    #[serde(default)]
    excluded_names: HashSet<String>,
    public_only: bool,
    authority_file: Option<PathBuf>,
    vantage: Option<String>,
    user_agent: Option<String>,
}

/// Scans the names on standard input; prints a row when a name is finished.
pub fn run() -> Result<i32, Error> {
    let config: ScanConfig = read_config()?;
    let trust = Trust::new(config.authority_file.as_deref())?;
    let is_possible = config.in_flight > 0 && config.rate_per_s > 0.0;
    if !(is_possible && config.rate_per_s.is_finite()) {
        let message = "the configuration: in_flight and rate_per_s must be above 0";
        return Err(Error::Config(message.into()));
    }
    let settings = ScanSettings {
        port: config.port,
        tls: config.tls,
        quic: config.quic,
        ipv6: config.ipv6,
        https_records: config.https_records,
        www: config.www,
        rate_per_s: config.rate_per_s,
        in_flight: config.in_flight,
        timeout: Duration::from_millis(config.timeout_ms),
        resolver: resolver_or_default(config.resolver),
        excluded: config.excluded,
        excluded_names: config.excluded_names,
        public_only: config.public_only,
        vantage: config.vantage,
        user_agent: config.user_agent,
    };
    let (sender, names) = mpsc::channel(NAMES_AHEAD);
    std::thread::spawn(move || {
        for name in std::io::stdin().lines().map_while(Result::ok) {
            if sender.blocking_send(name).is_err() {
                return;
            }
        }
    });
    runtime()?.block_on(scan(settings, trust, names, &mut |row| emit_or_exit(&row)));
    Ok(0)
}
