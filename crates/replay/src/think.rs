//! Computes the servers' think times; pure.

use crate::{NamedThinkTime, ThinkTime};
use eyelevel_archive::{Exchange, Origin, Scheme};
use std::collections::HashMap;
use std::net::IpAddr;

/// Returns the think time of each exchange in nanoseconds; empty if no response is delayed.
///
/// A recorded time to first byte includes the round trip to the server. The round trip of its
/// handshakes is subtracted if it was recorded, else the origin's smallest time to first byte,
/// which estimates it. An exchange without a recorded time is answered at once.
pub(crate) fn times_ns(
    exchanges: &[Exchange],
    origins: &[Origin],
    think_time: ThinkTime,
) -> Vec<u64> {
    match think_time {
        ThinkTime::Named(NamedThinkTime::None) => Vec::new(),
        ThinkTime::Ms(ms) => vec![nanos(ms); exchanges.len()],
        ThinkTime::Named(NamedThinkTime::Recorded) => {
            let round_trips = round_trips_ms(exchanges, origins);
            let above = |exchange: &Exchange| {
                let round_trip_ms = round_trips.get(&origin(exchange))?;
                Some(nanos(exchange.time_to_first_byte_ms? - round_trip_ms))
            };
            let times = exchanges
                .iter()
                .map(|exchange| above(exchange).unwrap_or(0));
            times.collect()
        }
    }
}

type Key<'a> = (Scheme, &'a str, u16);

fn origin(exchange: &Exchange) -> Key<'_> {
    let url = &exchange.url;
    (url.scheme, url.host.as_str(), url.port)
}

/// Returns the estimated round trip to each origin.
fn round_trips_ms<'a>(exchanges: &'a [Exchange], origins: &'a [Origin]) -> HashMap<Key<'a>, f64> {
    let mut found: HashMap<Key<'_>, f64> = HashMap::new();
    for exchange in exchanges {
        if let Some(ms) = exchange.time_to_first_byte_ms {
            let known = found.entry(origin(exchange)).or_insert(ms);
            *known = known.min(ms);
        }
    }
    // All origins of an address share one route, and the path has the smallest value
    // (`eyelevel.plan.networks.origin_rtt`).
    let mut least: HashMap<IpAddr, f64> = HashMap::new();
    for (address, ms) in origins
        .iter()
        .filter_map(|each| Some((each.address, each.handshake_rtt_ms_min?)))
    {
        let known = least.entry(address).or_insert(ms);
        *known = known.min(ms);
    }
    let of_handshakes = origins.iter().filter_map(|each| {
        let key = (each.scheme, each.host.as_str(), each.port);
        Some((key, *least.get(&each.address)?))
    });
    found.extend(of_handshakes);
    found
}

fn nanos(ms: f64) -> u64 {
    // A cast of a float saturates; a value that is not above 0 gives 0.
    (ms * 1e6) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use eyelevel_archive::Site;

    /// Two exchanges of one origin, of which the first took 30 ms to its first byte, the second 80.
    fn recorded_site() -> Site {
        let warc = |path: &str, ms: &str| {
            let uri = format!("WARC-Target-URI: https://a.test/{path}\r\n");
            let head = |kind: &str, id: &str, more: &str, block: &str| {
                let length = block.len();
                format!(
                    "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:{id}{path}>\r\n\
                     WARC-Date: 2026-01-01T00:00:00Z\r\n{uri}{more}\
                     Content-Length: {length}\r\n\r\n{block}\r\n\r\n"
                )
            };
            let http = "Content-Type: application/http; msgtype=response\r\n";
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
            let of = format!(
                "Content-Type: application/warc-fields\r\nWARC-Concurrent-To: <urn:r{path}>\r\n"
            );
            let fields = format!("timeToFirstByteMs: {ms}\r\n");
            head("response", "r", http, answer) + &head("metadata", "m", &of, &fields)
        };
        let file = warc("1", "30") + &warc("2", "80");
        Site::from_bytes("two.warc", file.into_bytes().into()).unwrap()
    }

    fn think_ms(handshake_rtt_ms_min: Option<f64>) -> Vec<u64> {
        let site = recorded_site();
        let mut origins = site.origins().to_vec();
        origins[0].handshake_rtt_ms_min = handshake_rtt_ms_min;
        let recorded = ThinkTime::Named(NamedThinkTime::Recorded);
        let times = times_ns(site.exchanges(), &origins, recorded);
        times.iter().map(|ns| ns / 1_000_000).collect()
    }

    #[test]
    fn the_round_trip_of_the_handshakes_is_taken_off() {
        assert_eq!(think_ms(Some(20.0)), [10, 60]);
        // The path was never faster than a handshake, whatever a file says.
        assert_eq!(think_ms(Some(40.0)), [0, 40]);
    }

    #[test]
    fn hosts_of_one_address_have_its_least_round_trip_as_on_the_path() {
        let site = recorded_site();
        let mut origins = site.origins().to_vec();
        origins[0].handshake_rtt_ms_min = Some(24.0);
        let mut beside = origins[0].clone();
        beside.host = "b.test".into();
        beside.handshake_rtt_ms_min = Some(20.0);
        origins.push(beside.clone());
        let recorded = ThinkTime::Named(NamedThinkTime::Recorded);
        let think_ms = |origins: &[Origin]| -> Vec<u64> {
            let times = times_ns(site.exchanges(), origins, recorded);
            times.iter().map(|ns| ns / 1_000_000).collect()
        };
        assert_eq!(think_ms(&origins), [10, 60]);
        // Also for a host without handshakes of its own; another address has another route.
        origins[0].handshake_rtt_ms_min = None;
        assert_eq!(think_ms(&origins), [10, 60]);
        origins[0].handshake_rtt_ms_min = Some(24.0);
        origins[1].address = "198.18.0.99".parse().unwrap();
        assert_eq!(think_ms(&origins), [6, 56]);
    }

    #[test]
    fn without_one_the_smallest_time_replaces_it() {
        assert_eq!(think_ms(None), [0, 50]);
    }
}
