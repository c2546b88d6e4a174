//! `eyelevel-lab bulk`: one transfer from a lab's servers, measured at the client.

use crate::Error;
use crate::emit::emit;
use crate::threads::{clock_ns, runtime};
use clap::Args;

use eyelevel_replay::check::{Client, LateRequest, Transfer};
use eyelevel_replay::{Ecn, HttpVersion, TlsVersion};
use eyelevel_units::refusal;
use serde::Serialize;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct BulkArguments {
    /// The address and port where the origin is served
    #[arg(long)]
    to: SocketAddr,
    /// The URL to fetch; http: cleartext
    #[arg(long)]
    url: String,
    /// h1, h2 or h3
    #[arg(long)]
    http: String,
    /// 1.2 or 1.3
    #[arg(long, default_value = "1.3")]
    tls: String,
    /// Over QUIC: whether packets may be marked, off or on; over TCP the kernel's setting applies
    #[arg(long, default_value = "off")]
    ecn: String,
    /// The PEM file with the authority to trust
    #[arg(long)]
    ca: PathBuf,
    /// Bytes of the body after which the transfer ends
    #[arg(long)]
    bytes_max: u64,
    /// The time after which the transfer ends
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    duration_ms: u64,
    /// Instead of measuring the transfer: request this URL with high urgency while `--url`
    /// transfers
    #[arg(long, requires = "late_after_bytes")]
    late_url: Option<String>,
    /// The bytes of the body after which the late request is sent
    #[arg(long, requires = "late_url")]
    late_after_bytes: Option<u64>,
    /// Connect once before: a process's first handshake seeds its random generator, which takes
    /// tens of milliseconds
    #[arg(long)]
    warm_up: bool,
}

/// The times of a transfer: from the call to an established session, and from there on.
#[derive(Serialize)]
struct Bulk {
    connect_ms: f64,
    certificate_bytes: u64,
    tickets: Option<u64>,
    #[serde(flatten)]
    transfer: Option<Transfer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    late: Option<LateRequest>,
}

/// Runs the command and prints one line of JSON.
pub fn run(arguments: &BulkArguments) -> Result<i32, Error> {
    let wrong = |what: String| Error::Config(format!("the transfer from {}: {what}", arguments.to));
    let broken = |what: String| wrong(format!("{what}; see that its server answers"));
    let version = match arguments.http.as_str() {
        "h1" => HttpVersion::H1,
        "h2" => HttpVersion::H2,
        "h3" => HttpVersion::H3,
        other => {
            return Err(wrong(format!(
                "{other} is no HTTP version; use h1, h2 or h3"
            )));
        }
    };
    let tls_version = match arguments.tls.as_str() {
        "1.2" => TlsVersion::Tls12,
        "1.3" => TlsVersion::Tls13,
        other => return Err(wrong(format!("{other} is no TLS version; use 1.2 or 1.3"))),
    };
    let ecn = match arguments.ecn.as_str() {
        "off" => Ecn::Off,
        "on" => Ecn::On,
        other => {
            return Err(wrong(format!(
                "{other} is no setting of ECN; use off or on"
            )));
        }
    };
    let read = std::fs::read(&arguments.ca);
    let authority =
        read.map_err(|e| wrong(format!("read {}: {}", arguments.ca.display(), refusal(&e))))?;
    let (url, to) = (&arguments.url, arguments.to);
    let bulk = runtime()?.block_on(async {
        let connect = || Client::connect_for(url, to, version, tls_version, ecn, &authority);
        if arguments.warm_up {
            drop(connect().await?);
        }
        let started = Instant::now();
        let mut client = connect().await?;
        let connect_ms = started.elapsed().as_secs_f64() * 1e3;
        let duration = Duration::from_millis(arguments.duration_ms);
        let (mut transfer, mut late) = (None, None);
        if let (Some(late_url), Some(after)) = (&arguments.late_url, arguments.late_after_bytes) {
            let pending = client.fetch_with_late_request(url, late_url, after, duration, clock_ns);
            late = Some(pending.await.map_err(broken)?);
        } else {
            let pending = client.transfer(url, arguments.bytes_max, duration);
            transfer = Some(pending.await.map_err(broken)?);
        }
        Ok::<_, Error>(Bulk {
            connect_ms,
            certificate_bytes: client.certificate_bytes(),
            tickets: client.tickets(),
            transfer,
            late,
        })
    })?;
    emit(&bulk);
    Ok(0)
}
