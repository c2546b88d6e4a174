//! The origins of a recorded site and the addresses under which they are replayed.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use serde::Serialize;

use crate::exchange::Exchange;
use crate::provenance::{HandshakeRtt, Provenance};
use crate::url::Scheme;

/// An origin (RFC 6454) with the address of its server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Origin {
    /// The scheme, http or https.
    pub scheme: Scheme,
    /// The host in lower case; an IPv6 address is in brackets.
    pub host: String,
    /// The server's port.
    pub port: u16,
    /// The address under which the origin is replayed.
    pub address: IpAddr,
    /// Whether the address was recorded; otherwise it was assigned from 198.18.0.0/15.
    pub address_recorded: bool,
    /// The names in the recorded certificate; empty if not recorded.
    pub certificate_names: Vec<String>,
    /// The smallest round trip of the recorded TCP handshakes with the host, milliseconds; `None`
    /// if no handshake was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake_rtt_ms_min: Option<f64>,
    /// The number of handshakes that it is the minimum of.
    #[serde(skip_serializing_if = "is_zero")]
    pub handshakes: u32,
}

/// The first address for hosts without a recorded one, in the block for benchmarks of network
/// devices (RFC 2544, RFC 6890). The block's first 256 addresses stay free for labs.
const FIRST_ASSIGNED: Ipv4Addr = Ipv4Addr::new(198, 18, 1, 0);

/// Lists the origins of `exchanges`, sorted by host, port and scheme.
///
/// A host keeps its first recorded address that a lab can route. Each other host is assigned an
/// address, in the order of their names; hosts with the same recorded private address share one.
pub fn list(exchanges: &[Exchange], provenance: &Provenance) -> Vec<Origin> {
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
        let names = provenance.certificate_names.get(host);
        let (handshake_rtt_ms_min, handshakes) =
            handshakes(host, recorded.get(host).copied(), provenance);
        Origin {
            scheme,
            host: host.to_owned(),
            port,
            address: substitute.unwrap_or_else(|| recorded[host]),
            address_recorded: substitute.is_none(),
            certificate_names: names.cloned().unwrap_or_default(),
            handshake_rtt_ms_min,
            handshakes,
        }
    };
    origins.into_iter().map(origin).collect()
}

/// Returns the smallest round trip of the handshakes with a host and their number. Only handshakes
/// at `address`, the first in its exchanges, count if there are any, since the path to another
/// address may differ.
fn handshakes(host: &str, address: Option<IpAddr>, provenance: &Provenance) -> (Option<f64>, u32) {
    let of_host = |each: &&HandshakeRtt| each.host == host && each.is_possible();
    let of_host = || provenance.handshake_rtts.iter().filter(of_host);
    let is_there = |each: &&HandshakeRtt| Some(each.address) == address;
    let has_there = of_host().any(|each| is_there(&each));
    let counted = of_host().filter(|each| !has_there || is_there(each));
    counted.fold((None, 0), |(least, count), each| {
        let rtt = each.handshake_rtt_ms_min;
        let least: f64 = least.map_or(rtt, |least: f64| least.min(rtt));
        (Some(least), count.saturating_add(each.handshakes))
    })
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Assigns addresses to the hosts that have no routable recorded one.
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

/// Whether a lab can assign the address to a server: a unicast address outside this machine and its
/// local networks.
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

/// Whether the address is a real server's in a private network, so that sharing it is meaningful.
/// The loopback address, which all hosts behind a recording proxy share, is not.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_private(),
        IpAddr::V6(v6) => v6.is_unique_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const OTHER_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

    fn provenance(each: &[(&str, IpAddr, f64)]) -> Provenance {
        let mut provenance = Provenance::default();
        for (host, address, rtt_ms) in each {
            provenance.add_handshake(host, 443, *address, *rtt_ms);
        }
        provenance
    }

    #[test]
    fn a_hosts_round_trip_is_the_least_to_the_address_where_it_is_replayed() {
        let told = provenance(&[
            ("a.test", ADDRESS, 30.5),
            ("a.test", ADDRESS, 20.5),
            ("a.test", OTHER_ADDRESS, 5.0),
            ("b.test", ADDRESS, 1.0),
        ]);
        assert_eq!(handshakes("a.test", Some(ADDRESS), &told), (Some(20.5), 2));
        // A recording whose exchanges have no address, or another one.
        assert_eq!(handshakes("a.test", None, &told), (Some(5.0), 3));
        assert_eq!(handshakes("c.test", Some(ADDRESS), &told), (None, 0));
    }

    #[test]
    fn implausible_round_trips_are_ignored() {
        let mut told = provenance(&[("a.test", ADDRESS, -1.0), ("a.test", ADDRESS, 1e9)]);
        assert_eq!(told, Provenance::default());
        told.handshake_rtts = vec![HandshakeRtt {
            host: "a.test".to_owned(),
            port: 443,
            address: ADDRESS,
            handshake_rtt_ms_min: -1.0,
            handshakes: u32::MAX,
        }];
        assert_eq!(handshakes("a.test", Some(ADDRESS), &told), (None, 0));
    }
}
