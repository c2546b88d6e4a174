//! The origins of a recorded site and the addresses under which they are replayed.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use serde::Serialize;

use crate::exchange::Exchange;
use crate::url::Scheme;

/// One origin (RFC 6454) with the address of its server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// http or https.
    pub scheme: Scheme,
    /// Lower case; an IPv6 address in brackets.
    pub host: String,
    /// The server's port.
    pub port: u16,
    /// Where the origin is replayed.
    pub address: IpAddr,
    /// Whether that address was recorded; if not, it was taken from 198.18.0.0/15.
    pub address_recorded: bool,
    /// The names of the recorded certificate; empty where they were not recorded.
    pub certificate_names: Vec<String>,
}

/// The first address for hosts without a recorded one, in the block for benchmarks of network
/// devices (RFC 2544, RFC 6890). Its first 256 addresses stay free for whoever builds a lab.
const FIRST_ASSIGNED: Ipv4Addr = Ipv4Addr::new(198, 18, 1, 0);

/// Lists the origins of `exchanges`, sorted by host, port and scheme.
///
/// A host keeps its first recorded address that a lab can route. Hosts without one get an address
/// each, in the order of their names; those whose recorded private address was the same share one.
pub fn list(
    exchanges: &[Exchange],
    certificate_names: &BTreeMap<String, Vec<String>>,
) -> Vec<Origin> {
    let mut origins = BTreeSet::new();
    let mut recorded: BTreeMap<&str, IpAddr> = BTreeMap::new();
    for exchange in exchanges {
        let url = &exchange.url;
        origins.insert((url.host.as_str(), url.port, url.scheme));
        let literal = url.host.trim_matches(['[', ']']).parse().ok();
        if let Some(address) = literal.or(exchange.address) {
            let known = recorded.entry(&url.host).or_insert(address);
            if !is_routable(*known) && is_routable(address) {
                *known = address;
            }
        }
    }
    let assigned = assign(origins.iter().map(|&(host, ..)| host), &recorded);
    let origin = |(host, port, scheme): (&str, u16, Scheme)| {
        let substitute = assigned.get(host).copied();
        Origin {
            scheme,
            host: host.to_owned(),
            port,
            address: substitute.unwrap_or_else(|| recorded[host]),
            address_recorded: substitute.is_none(),
            certificate_names: certificate_names.get(host).cloned().unwrap_or_default(),
        }
    };
    origins.into_iter().map(origin).collect()
}

/// Addresses for the hosts that have no routable recorded one.
fn assign<'a>(
    hosts: impl Iterator<Item = &'a str>,
    recorded: &BTreeMap<&'a str, IpAddr>,
) -> BTreeMap<&'a str, IpAddr> {
    let taken: BTreeSet<IpAddr> = recorded.values().copied().collect();
    let mut free = (u32::from(FIRST_ASSIGNED)..)
        .map(|address| IpAddr::V4(Ipv4Addr::from(address)))
        .filter(|address| !taken.contains(address));
    let mut shared: BTreeMap<IpAddr, IpAddr> = BTreeMap::new();
    let mut assigned = BTreeMap::new();
    for host in hosts {
        let address = match recorded.get(host) {
            Some(address) if is_routable(*address) => continue,
            _ if assigned.contains_key(host) => continue,
            Some(private) if is_private(*private) => *shared
                .entry(*private)
                .or_insert_with(|| free.next().expect("endless")),
            _ => free.next().expect("endless"),
        };
        assigned.insert(host, address);
    }
    assigned
}

/// Whether a lab can give the address to a server: one unicast address beyond this machine and
/// its local networks.
fn is_routable(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let is_reserved = v4.octets()[0] == 0 || v4.octets()[0] >= 224;
            !(is_reserved || v4.is_loopback() || v4.is_private() || v4.is_link_local())
        }
        IpAddr::V6(v6) => {
            let is_local = v6.is_unique_local() || v6.is_unicast_link_local();
            let is_mapped = v6.to_ipv4_mapped().is_some();
            !(is_local || is_mapped || v6.is_loopback() || v6.is_unspecified() || v6.is_multicast())
        }
    }
}

/// Whether the address is a real server's in a private network, so that sharing it means
/// something; what all hosts share through a recording proxy is its loopback address.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_private(),
        IpAddr::V6(v6) => v6.is_unique_local(),
    }
}
