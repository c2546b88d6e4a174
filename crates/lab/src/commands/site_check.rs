//! `eyelevel-lab archive check`: replays every exchange over each protocol, on loopback without an
//! emulated network, and compares the responses with the recording.

use crate::Error;
use crate::threads::{clock_ns, runtime};
use eyelevel_archive::Site;
use eyelevel_replay::check::{CheckReport, check};
use eyelevel_replay::matcher::Rules;
use eyelevel_replay::{HttpVersion, Server, ServerOptions, StackConfig, TlsVersion};
use serde::Serialize;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::oneshot;

const VERSIONS: [HttpVersion; 3] = [HttpVersion::H1, HttpVersion::H2, HttpVersion::H3];

/// The result over all protocols.
#[derive(Serialize)]
pub struct SiteCheck {
    /// The result of each protocol, in the order h1, h2, h3.
    pub protocols: Vec<ProtocolCheck>,
}

/// The result over one protocol.
#[derive(Serialize)]
pub struct ProtocolCheck {
    /// `http/1.1`, `h2` or `h3`.
    pub protocol: &'static str,
    /// What was compared and what differed.
    #[serde(flatten)]
    pub report: CheckReport,
}

impl SiteCheck {
    /// Whether every response over every protocol equals the recorded one.
    pub fn is_faithful(&self) -> bool {
        self.protocols
            .iter()
            .all(|each| each.report.differences.is_empty())
    }
}

/// Checks a recorded site.
pub fn check_site(file: &Path) -> Result<SiteCheck, Error> {
    let site = Arc::new(Site::open(file)?);
    runtime()?.block_on(async {
        let mut protocols = Vec::new();
        for version in VERSIONS {
            let report = check_protocol(site.clone(), version).await?;
            protocols.push(ProtocolCheck {
                protocol: version.protocol(),
                report,
            });
        }
        Ok(SiteCheck { protocols })
    })
}

async fn check_protocol(site: Arc<Site>, version: HttpVersion) -> Result<CheckReport, Error> {
    let options = ServerOptions {
        addresses: vec![IpAddr::V4(Ipv4Addr::LOCALHOST)],
        ports_ephemeral: true,
        rules: Rules::default(),
        cache_age: None,
        early_hints: None,
        now_ns: clock_ns,
        logs: eyelevel_replay::ConnectionLogs::default(),
        live: None,
        events: Arc::new(|_| ()),
    };
    let server = Server::bind(site.clone(), plain_stack(version), options)?;
    let authority = server.authority();
    let bound: std::collections::BTreeMap<_, _> = site
        .origins()
        .iter()
        .filter_map(|o| Some(((o.scheme, o.port), server.bound_address(o.scheme, o.port)?)))
        .collect();
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run(async { stopped.await.unwrap_or_default() }));
    let connect = |origin: &eyelevel_archive::Origin| bound[&(origin.scheme, origin.port)];
    let report = check(&site, &authority, version, TlsVersion::Tls13, connect).await?;
    let _ = stop.send(());
    running.await.map_err(|e| Error::Thread {
        part: "servers",
        reason: e.to_string(),
    })?;
    Ok(report)
}

/// Returns the configuration of a stack for `http_version`. Responses do not depend on its tuning.
fn plain_stack(http_version: HttpVersion) -> StackConfig {
    StackConfig::tuned("check", http_version)
}
