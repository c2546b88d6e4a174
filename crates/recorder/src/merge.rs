//! Merges several visits into one recording.

use std::collections::HashSet;

use eyelevel_archive::Exchange;

/// Merges the exchanges of several visits: all of the first visit, and from each later one the
/// requests (method, URL and body) that no earlier visit made. So the responses to a repeated
/// request are the sequence of one visit.
pub fn merge(exchanges: Vec<(u32, Exchange)>) -> Vec<Exchange> {
    let mut seen: HashSet<(String, String, Vec<u8>)> = HashSet::new();
    let mut merged: Vec<Exchange> = Vec::with_capacity(exchanges.len());
    let mut of_this_visit = Vec::new();
    let mut this_visit = 0;
    for (visit, exchange) in exchanges {
        if visit != this_visit {
            seen.extend(of_this_visit.drain(..));
            this_visit = visit;
        }
        let key = (
            exchange.method.clone(),
            exchange.url.to_string(),
            exchange.request_body.to_vec(),
        );
        if !seen.contains(&key) {
            of_this_visit.push(key);
            merged.push(exchange);
        }
    }
    for (index, exchange) in merged.iter_mut().enumerate() {
        exchange.index = index;
    }
    merged
}
