//! How long the chains of dependent requests of a page are.

use std::collections::HashMap;

use crate::exchange::Exchange;
use crate::url::Url;

/// Exchanges in the longest chain in which each made the browser ask for the next.
///
/// What made the browser ask is the recorded initiator, else the `Referer`, else, for a redirect's
/// target, the redirect; what has none of them hangs on the main page.
pub fn of(exchanges: &[Exchange], main_url: &Url) -> usize {
    let mut parents: HashMap<&Url, Url> = HashMap::new();
    for exchange in exchanges {
        let named = exchange.initiator.as_deref();
        let parent = named
            .or_else(|| exchange.request_header("referer"))
            .and_then(|url| url.parse().ok())
            .unwrap_or_else(|| main_url.clone());
        parents.entry(&exchange.url).or_insert(parent);
        let target = exchange
            .response_header("location")
            .filter(|_| (300..400).contains(&exchange.status))
            .and_then(|location| exchange.url.join(location).ok());
        if let Some(redirected) = exchanges
            .iter()
            .find(|each| Some(&each.url) == target.as_ref())
        {
            parents.insert(&redirected.url, exchange.url.clone());
        }
    }
    let depth_of = |url: &Url| {
        let (mut depth, mut at) = (1, url);
        // A page may redirect or refer to itself: no chain is longer than the exchanges are many.
        while let (Some(parent), true) = (parents.get(at), depth < parents.len()) {
            if at == main_url || parent == at || !parents.contains_key(parent) {
                break;
            }
            (depth, at) = (depth + 1, parent);
        }
        depth
    };
    parents.keys().map(|url| depth_of(url)).max().unwrap_or(0)
}
