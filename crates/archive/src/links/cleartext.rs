//! Converts a recorded https site to http, for stacks without TLS.

use std::collections::HashSet;

use crate::budget::ReadBudget;
use crate::exchange::Exchange;
use crate::exchange::header::Header;
use crate::links::{TO_HTTP, relink};
use crate::url::{Scheme, Url};

/// Fields that send a browser back to https.
const FIELDS_OF_HTTPS: [&str; 2] = ["strict-transport-security", "alt-svc"];

/// Moves every https exchange to http and rewrites links to the recorded hosts in texts and fields.
///
/// An http exchange is dropped if its URL was also recorded over https: most are redirects there.
pub(crate) fn to_cleartext(exchanges: &[Exchange]) -> Vec<Exchange> {
    let secure = |each: &&Exchange| each.url.scheme == Scheme::Https;
    let mut hosts: Vec<String> = exchanges
        .iter()
        .filter(secure)
        .map(|each| each.url.authority())
        .collect();
    hosts.sort_unstable();
    hosts.dedup();
    let recorded_secure: HashSet<(String, Url)> = exchanges
        .iter()
        .filter(secure)
        .map(|each| (each.method.clone(), to_http(&each.url)))
        .collect();
    let mut budget = ReadBudget::for_bodies(exchanges);
    let mut moved = Vec::with_capacity(exchanges.len());
    for exchange in exchanges {
        let key = (exchange.method.clone(), exchange.url.clone());
        if exchange.url.scheme == Scheme::Http && recorded_secure.contains(&key) {
            continue;
        }
        let mut exchange = exchange.clone();
        exchange.url = to_http(&exchange.url);
        exchange.index = moved.len();
        relink(&mut exchange, &hosts, &TO_HTTP, &mut budget);
        exchange
            .response_headers
            .retain(|header| !leads_to_https(header));
        moved.push(exchange);
    }
    moved
}

/// Returns the URL over http.
pub(crate) fn to_http(url: &Url) -> Url {
    let port = if (url.scheme, url.port) == (Scheme::Https, 443) {
        80
    } else {
        url.port
    };
    Url {
        scheme: Scheme::Http,
        port,
        ..url.clone()
    }
}

fn leads_to_https(header: &Header) -> bool {
    let upgrade = header.is("content-security-policy")
        && header
            .value
            .windows(25)
            .any(|part| part.eq_ignore_ascii_case(b"upgrade-insecure-requests"));
    upgrade || FIELDS_OF_HTTPS.iter().any(|name| header.is(name))
}
