//! Who supports what: names in, one row a name out, thousands in flight within stated limits.

mod limits;
mod name;
mod row;

pub use row::ScanRow;

use crate::dns::Resolver;
use crate::tls::Trust;
use eyelevel_addresses::Prefix;
use limits::{Addresses, Rate};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinSet;

/// What is tried on every name, and within which limits.
#[derive(Clone, Debug)]
pub struct ScanSettings {
    /// The port of every server.
    pub port: u16,
    /// TLS over TCP: its version, HTTP/2, the key exchange, Alt-Svc.
    pub tls: bool,
    /// QUIC version 1.
    pub quic: bool,
    /// A TCP handshake over IPv6.
    pub ipv6: bool,
    /// HTTPS records.
    pub https_records: bool,
    /// Where a name itself fails or has no TLS 1.3, `www.` before it is tried, too.
    pub www: bool,
    /// Connections begun a second, over all servers.
    pub rate_per_s: f64,
    /// Names worked on at once.
    pub in_flight: usize,
    /// For one lookup and for one connection.
    pub timeout: Duration,
    /// Where names are looked up.
    pub resolver: Resolver,
    /// Addresses that are never connected to.
    pub excluded: Vec<Prefix>,
    /// No server's address that is not public is connected to.
    pub public_only: bool,
    /// In every row.
    pub vantage: Option<String>,
    /// Who asks; none: no request, the handshake alone.
    pub user_agent: Option<String>,
}

/// What all names share.
struct Scan {
    settings: ScanSettings,
    trust: Trust,
    rate: Rate,
    addresses: Addresses,
}

/// Scans names until there are no more; each row is handed out as soon as it is complete.
pub async fn scan(
    settings: ScanSettings,
    trust: Trust,
    mut names: Receiver<String>,
    row_done: &mut impl FnMut(ScanRow),
) {
    let shared = Arc::new(Scan {
        rate: Rate::new(settings.rate_per_s),
        addresses: Addresses::default(),
        settings,
        trust,
    });
    let mut running = JoinSet::new();
    loop {
        let has_room = running.len() < shared.settings.in_flight;
        tokio::select! {
            Some(done) = running.join_next(), if !running.is_empty() => {
                if let Ok(row) = done {
                    row_done(row);
                }
            }
            name = names.recv(), if has_room => match name {
                Some(name) => drop(running.spawn(name::scan_name(shared.clone(), name))),
                None => break,
            },
        }
    }
    while let Some(done) = running.join_next().await {
        if let Ok(row) = done {
            row_done(row);
        }
    }
}
