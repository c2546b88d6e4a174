//! Scans which protocols servers support: reads names, writes one row per name, with thousands in
//! flight within the given limits.

mod limits;
mod name;
mod row;

pub use row::ScanRow;

use crate::dns::Resolver;
use crate::tls::Trust;
use eyelevel_addresses::Prefix;
use limits::{Addresses, Rate};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinSet;

/// The protocols to try on every name, and the limits.
#[derive(Clone, Debug)]
pub struct ScanSettings {
    /// The port of every server.
    pub port: u16,
    /// Whether to try TLS over TCP: its version, HTTP/2, the key exchange, Alt-Svc.
    pub tls: bool,
    /// Whether to try QUIC version 1.
    pub quic: bool,
    /// Whether to try a TCP handshake over IPv6.
    pub ipv6: bool,
    /// Whether to look up HTTPS records.
    pub https_records: bool,
    /// Whether to try `www.` before a name that fails or has no TLS 1.3.
    pub www: bool,
    /// Connections begun per second, over all servers.
    pub rate_per_s: f64,
    /// Names in progress at once.
    pub in_flight: usize,
    /// The time limit of one lookup and of one connection.
    pub timeout: Duration,
    /// The resolver of names.
    pub resolver: Resolver,
    /// Addresses that are never connected to.
    pub excluded: Vec<Prefix>,
    /// Names with `www.` that are never tried in the place of the scanned ones.
    pub excluded_names: HashSet<String>,
    /// Whether to connect to public addresses only.
    pub public_only: bool,
    /// The vantage point, recorded in every row.
    pub vantage: Option<String>,
    /// The user agent; `None`: no request, the handshake alone.
    pub user_agent: Option<String>,
}

/// The state shared by all names.
struct Scan {
    settings: ScanSettings,
    trust: Trust,
    rate: Rate,
    addresses: Addresses,
}

/// Scans names until there are no more; each row is passed on as soon as it is complete.
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
