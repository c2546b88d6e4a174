//! Runs all attempts on one host: one DNS lookup for all protocols, then attempts in random order.

use crate::dns::Resolver;
use crate::{
    Failure, FailureClass, Plan, ProbeRequest, Protocol, Row, Trust, attempt, attempt_pair,
};
use eyelevel_units::Generator;
use serde::{Deserialize, Deserializer};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The settings of probing every host.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The protocols, each probed `count` times over each family.
    pub protocols: Vec<Protocol>,
    /// Whether to probe over IPv4.
    pub v4: bool,
    /// Whether to probe over IPv6.
    pub v6: bool,
    /// Attempts per protocol and family.
    pub count: u32,
    /// Time between the beginnings of two attempts.
    pub interval: Duration,
    /// The time limit of one attempt.
    pub timeout: Duration,
    /// Whether each attempt is two connections, the second of which resumes the first one's
    /// session.
    pub resume: bool,
    /// Whether to send early data, as in [`Plan`].
    pub early_data: bool,
    /// The port to send from, as in [`Plan`].
    pub local_port: Option<u16>,
    /// Whether to keep answers, as in [`Plan`].
    pub keep_answers: bool,
    /// The resolver of names.
    pub resolver: Resolver,
    /// The vantage point, recorded in every row.
    pub vantage: Option<String>,
    /// The user agent; `None`: no request, the handshake alone.
    pub user_agent: Option<String>,
}

/// One host.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Name or address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The path of the request.
    pub path: String,
    /// Addresses to connect to, the first of each family, instead of a lookup.
    #[serde(deserialize_with = "deserialize_addresses")]
    pub connect: Vec<IpAddr>,
}

/// Deserialises null, an address, or a list of them.
fn deserialize_addresses<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<IpAddr>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "an IP address, a list of them or null")]
    enum Given {
        One(IpAddr),
        More(Vec<IpAddr>),
    }
    Ok(match Option::deserialize(deserializer)? {
        None => Vec::new(),
        Some(Given::One(address)) => vec![address],
        Some(Given::More(addresses)) => addresses,
    })
}

/// The result of a lookup for a family, or why there is no address.
type LookupResult = Result<Found, Failure>;

/// An address; if it was looked up, with the lookup's time and its aliases.
struct Found {
    address: IpAddr,
    dns_us: Option<u64>,
    cnames: Option<Vec<String>>,
}

/// Probes one host; each row is passed on as soon as it is complete.
pub async fn probe_host(
    target: &Target,
    settings: &Settings,
    trust: &Trust,
    generator: &mut Generator,
    row_done: &mut impl FnMut(Row),
) {
    let families = look_up(target, settings).await;
    let mut attempts = Vec::new();
    for count in 0..settings.count {
        for (index, _) in families.iter().enumerate() {
            attempts.extend(
                settings
                    .protocols
                    .iter()
                    .map(|protocol| (count, index, *protocol)),
            );
        }
    }
    shuffle(&mut attempts, generator);
    let began = tokio::time::Instant::now();
    for (order, (count, family, protocol)) in attempts.into_iter().enumerate() {
        tokio::time::sleep_until(began + settings.interval * order as u32).await;
        let mut row = Row::new(&target.host, target.port, &target.path, protocol);
        row.vantage = settings.vantage.clone();
        (row.attempt, row.order) = (count, order as u32);
        match &families[family] {
            Ok(found) => {
                row.dns_us = found.dns_us;
                row.cnames = found.cnames.clone();
                let plan = plan(target, settings, protocol, found.address);
                if settings.resume {
                    let (first, second) = attempt_pair(&plan, trust, row).await;
                    row_done(first);
                    if let Some(second) = second {
                        row_done(second);
                    }
                    continue;
                }
                attempt(&plan, trust, &mut row).await;
            }
            Err(failure) => {
                row.at_unix_us = crate::kernel::unix_ns() / 1000;
                row.at_ns = crate::kernel::monotonic_ns();
                row.fail(failure.clone());
            }
        }
        row_done(row);
    }
}

fn plan(target: &Target, settings: &Settings, protocol: Protocol, address: IpAddr) -> Plan {
    let authority = match target.port {
        443 => target.host.clone(),
        port => format!("{}:{port}", target.host),
    };
    Plan {
        protocol,
        address: SocketAddr::new(address, target.port),
        host: target.host.clone(),
        request: settings.user_agent.as_ref().map(|user_agent| ProbeRequest {
            authority,
            path: target.path.clone(),
            user_agent: user_agent.clone(),
        }),
        local_port: settings.local_port,
        timeout: settings.timeout,
        early_data: settings.early_data,
        offers_h2: true,
        keeps_answer: settings.keep_answers,
    }
}

async fn look_up(target: &Target, settings: &Settings) -> Vec<LookupResult> {
    let mut addresses = target.connect.clone();
    if addresses.is_empty() {
        let literal: Result<IpAddr, _> = target.host.trim_matches(['[', ']']).parse();
        addresses.extend(literal.ok());
    }
    if let Some(first) = addresses.first() {
        return match first_of_families(&addresses, settings) {
            found if found.is_empty() => {
                let other = format!("{first} is of the other address family");
                vec![Err(Failure::new(FailureClass::DnsNoAddress, other))]
            }
            found => found.into_iter().map(Ok).collect(),
        };
    }
    let mut families = Vec::new();
    for is_v6 in [false, true] {
        if (is_v6 && settings.v6) || (!is_v6 && settings.v4) {
            let looked = settings
                .resolver
                .addresses(&target.host, is_v6, settings.timeout)
                .await;
            families.push(looked.map(|found| Found {
                address: found.addresses[0],
                dns_us: found.took_us,
                cnames: found.cnames,
            }));
        }
    }
    // If either family suffices, a host that lacks one of them is not at fault.
    let is_any_up = families.iter().any(Result::is_ok);
    if settings.v4 && settings.v6 && is_any_up {
        families.retain(Result::is_ok);
    }
    families
}

/// Returns the first address of each requested family.
fn first_of_families(addresses: &[IpAddr], settings: &Settings) -> Vec<Found> {
    let v4 = addresses.iter().find(|address| address.is_ipv4());
    let v6 = addresses.iter().find(|address| address.is_ipv6());
    let asked_for = [v4.filter(|_| settings.v4), v6.filter(|_| settings.v6)];
    let found = asked_for.into_iter().flatten().map(|address| Found {
        address: *address,
        dns_us: None,
        cnames: None,
    });
    found.collect()
}

/// Shuffles by Fisher and Yates, with the pinned generator.
fn shuffle<T>(items: &mut [T], generator: &mut Generator) {
    for last in (1..items.len()).rev() {
        let other = generator.below(last as u64 + 1) as usize;
        items.swap(last, other);
    }
}

#[cfg(test)]
mod tests {
    use super::shuffle;
    use eyelevel_units::Seed;

    #[test]
    fn orders_are_all_equally_likely() {
        let mut generator = Seed::new(5).generator();
        let mut seen = std::collections::HashMap::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, &mut generator);
            *seen.entry(items).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(
            seen.values().all(|count| (850..1150).contains(count)),
            "{seen:?}"
        );
    }
}
