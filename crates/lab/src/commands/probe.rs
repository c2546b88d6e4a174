//! `eyelevel-lab probe` and `probe-target`: one line of JSON in, JSON lines out (`spec/probe.md`).

use crate::Error;
use crate::emit::{emit, emit_or_exit};
use eyelevel_netns::{RealtimePriority, request_realtime};
use eyelevel_probe::{
    LabTarget, Protocol, Resolver, Settings, Target, TargetConfig, Trust, WorkMin, probe_host,
};
use eyelevel_units::{Seed, refusal};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProbeConfig {
    targets: Vec<Target>,
    protocols: Vec<Protocol>,
    v4: bool,
    v6: bool,
    count: u32,
    interval_ms: u64,
    timeout_ms: u64,
    resume_session: bool,
    early_data: bool,
    #[serde(default)]
    keep_answers: bool,
    local_port: Option<u16>,
    resolver: Option<SocketAddr>,
    authority_file: Option<PathBuf>,
    vantage: Option<String>,
    user_agent: Option<String>,
    seed: u64,
    /// Whether to request real-time priority, because delays by other processes would count as the
    /// server's time.
    #[serde(default = "default_true")]
    realtime: bool,
}

fn default_true() -> bool {
    true
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "served")]
struct Served {
    crypto_us_min: WorkMin,
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "listening")]
struct Listening<'a> {
    address: SocketAddr,
    authority_pem: &'a str,
}

/// Probes each target in turn; prints one line per attempt.
pub fn probe() -> Result<i32, Error> {
    let config: ProbeConfig = read_config()?;
    let _ = config.realtime && request_realtime(RealtimePriority::Endpoint);
    let trust = Trust::new(config.authority_file.as_deref())?;
    let settings = Settings {
        protocols: config.protocols,
        v4: config.v4,
        v6: config.v6,
        count: config.count,
        interval: Duration::from_millis(config.interval_ms),
        timeout: Duration::from_millis(config.timeout_ms),
        resume: config.resume_session,
        early_data: config.early_data,
        keep_answers: config.keep_answers,
        local_port: config.local_port,
        resolver: resolver_or_default(config.resolver),
        vantage: config.vantage,
        user_agent: config.user_agent,
    };
    runtime()?.block_on(async {
        for target in &config.targets {
            // Derived from the name, so that a host's order does not depend on the targets before
            // it.
            let mut generator = Seed::new(config.seed).child(&target.host).generator();
            probe_host(target, &settings, &trust, &mut generator, &mut |row| {
                emit_or_exit(&row);
                if let Some(line) = row.answer_line() {
                    emit_or_exit(&line);
                }
            })
            .await;
        }
    });
    Ok(0)
}

/// Serves until standard input ends.
pub fn serve_target() -> Result<i32, Error> {
    let config: TargetConfig = read_config()?;
    let _ = config.realtime && request_realtime(RealtimePriority::Endpoint);
    runtime()?.block_on(async {
        let target = LabTarget::start(&config).await?;
        emit(&Listening {
            address: target.address,
            authority_pem: &target.authority_pem,
        });
        let (over, ended) = tokio::sync::oneshot::channel::<()>();
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            drop(over);
        });
        let _ = ended.await;
        emit(&Served {
            crypto_us_min: target.work.min(),
        });
        Ok(0)
    })
}

/// Returns the given resolver or else the machine's.
pub fn resolver_or_default(asked_for: Option<SocketAddr>) -> Resolver {
    asked_for.map_or_else(Resolver::from_system, |server| {
        Resolver::with_servers(&[server])
    })
}

/// Reads the first line of standard input.
pub fn read_config<T: for<'a> Deserialize<'a>>() -> Result<T, Error> {
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    read.map_err(|error| {
        Error::Config(format!(
            "the configuration cannot be read: {}",
            refusal(&error)
        ))
    })?;
    serde_json::from_str(&line)
        .map_err(|error| Error::Config(format!("the configuration: {error}; see spec/probe.md")))
}

/// Creates a single-threaded runtime, so that timed code does not wait for another thread's lock.
pub fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::Config(format!("cannot start a runtime: {}", refusal(&error))))
}
