//! Fetches every recorded exchange from a running server and compares the responses.

mod bulk;
mod client;
mod compare;
mod connect;
mod late;
mod tickets;

pub use bulk::Transfer;
pub use client::{Client, Fetched};
pub use late::LateRequest;

use crate::tls::Authority;
use crate::{HttpVersion, ReplayError, TlsVersion};
use eyelevel_archive::{Exchange, Origin, Scheme, Site};
use serde::Serialize;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The time limit of one fetch, over loopback or a lab without shaping; a server that hangs must
/// end the check.
const FETCH_TIMEOUT: Duration = Duration::from_secs(30);
/// The largest number of differences listed; more would add no information.
const DIFFERENCES_MAX: usize = 1000;

/// The result of a check.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CheckReport {
    /// Exchanges that were requested and compared.
    pub compared: usize,
    /// Exchanges that no server can answer with (a status below 200).
    pub skipped: usize,
    /// Responses that differ from the recording; the first thousand.
    pub differences: Vec<Difference>,
}

/// One exchange whose response differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The request's method.
    pub method: String,
    /// The request's URL.
    pub url: String,
    /// The difference, in one line.
    pub what: String,
}

/// Requests every exchange in recorded order, on one connection per origin, and compares status,
/// fields and body bytes with the recording. Origins with the scheme `http` are requested over
/// HTTP/1.1.
///
/// The server must not have answered requests for this site before, since repeated requests get the
/// recorded sequence.
///
/// # Errors
/// When the client itself cannot be created; a server that does not answer is a difference.
pub async fn check(
    site: &Site,
    authority: &Authority,
    http_version: HttpVersion,
    tls_version: TlsVersion,
    connect: impl Fn(&Origin) -> SocketAddr,
) -> Result<CheckReport, ReplayError> {
    let mut report = CheckReport::default();
    for origin in site.origins() {
        let version = match origin.scheme {
            Scheme::Http => HttpVersion::H1,
            Scheme::Https => http_version,
        };
        let server = Server {
            address: connect(origin),
            page_host: &site.main_url().host,
            host: &origin.host,
            scheme: origin.scheme,
            version,
            tls_version,
            authority,
        };
        let exchanges = site.exchanges().iter().filter(|exchange| {
            let url = &exchange.url;
            (url.scheme, &url.host, url.port) == (origin.scheme, &origin.host, origin.port)
        });
        check_origin(&server, exchanges, &mut report).await?;
    }
    Ok(report)
}

/// An origin's address, and how to connect to it.
struct Server<'a> {
    address: SocketAddr,
    host: &'a str,
    page_host: &'a str,
    scheme: Scheme,
    version: HttpVersion,
    tls_version: TlsVersion,
    authority: &'a Authority,
}

impl Server<'_> {
    /// Returns the host that the handshake is for. A host that is an address has its certificate at
    /// that address alone; at another address the page's host replaces it.
    fn name(&self) -> &str {
        let host = self.host.trim_matches(['[', ']']).parse::<IpAddr>();
        match host {
            Ok(host) if host != self.address.ip() => self.page_host,
            _ => self.host,
        }
    }

    async fn connect(&self) -> Result<Client, ReplayError> {
        match self.scheme {
            Scheme::Http => Client::connect_cleartext(self.address).await,
            Scheme::Https => {
                let Self {
                    authority,
                    version,
                    tls_version,
                    address,
                    ..
                } = self;
                let tls = crate::tls::client_config(authority, *version, *tls_version)?;
                Client::connect(*address, self.name(), *version, tls).await
            }
        }
    }
}

async fn check_origin<'a>(
    server: &Server<'_>,
    exchanges: impl Iterator<Item = &'a Exchange>,
    report: &mut CheckReport,
) -> Result<(), ReplayError> {
    let mut client = None;
    for exchange in exchanges {
        if exchange.status < 200 {
            report.skipped += 1;
            continue;
        }
        report.compared += 1;
        let mut found = |what: String| {
            if report.differences.len() < DIFFERENCES_MAX {
                report.differences.push(Difference {
                    method: exchange.method.clone(),
                    url: exchange.url.to_string(),
                    what,
                });
            }
        };
        if client.is_none() {
            match server.connect().await {
                Ok(connected) => client = Some(connected),
                Err(ReplayError::Configuration { subject, reason }) => {
                    return Err(ReplayError::Configuration { subject, reason });
                }
                Err(error) => {
                    found(error.to_string());
                    continue;
                }
            }
        }
        let Some(connected) = &mut client else {
            continue;
        };
        let fetch = tokio::time::timeout(FETCH_TIMEOUT, connected.fetch_exchange(exchange));
        match fetch.await {
            Ok(Ok(fetched)) => compare::differences(exchange, &fetched)
                .into_iter()
                .for_each(found),
            Ok(Err(reason)) => {
                found(reason);
                client = None;
            }
            Err(_) => {
                found(format!("no answer within {} s", FETCH_TIMEOUT.as_secs()));
                client = None;
            }
        }
    }
    Ok(())
}
