use super::meaning;
use super::query::{Query, stem};
use eyelevel_archive::{Exchange, Scheme};
use std::collections::HashMap;

/// The lookup tables of recorded requests: built once, read without allocations other than the
/// keys.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Scheme, host, port, path and query -> exchanges in recorded order.
    pub by_url: HashMap<String, Vec<usize>>,
    /// Exchanges by the meaning of path and query, for those that are spelled differently.
    pub by_meaning: HashMap<String, Vec<usize>>,
    /// Scheme, host, port and path without its parameters -> exchanges with all parameters.
    pub by_path: HashMap<String, Vec<(usize, Query)>>,
    /// Scheme, host and port -> path and query with the first exchange, sorted by text.
    pub by_origin: HashMap<String, Vec<(String, usize)>>,
    /// Path and query, whatever the origin -> the first exchange.
    pub by_target: HashMap<String, usize>,
}

impl Index {
    pub fn new(exchanges: &[Exchange]) -> Self {
        let mut index = Self::default();
        // A response that is not final (RFC 9110, section 15.2) answers nothing.
        let final_responses = exchanges
            .iter()
            .enumerate()
            .filter(|(_, exchange)| exchange.status >= 200);
        for (position, exchange) in final_responses {
            let url = &exchange.url;
            let origin = origin_key(url.scheme, &url.host, url.port);
            let target = &url.path_and_query;
            let by_url = index.by_url.entry(format!("{origin}{target}")).or_default();
            let meaning = meaning::normalise_target(target);
            let query = Query::new(&meaning);
            let by_path = index
                .by_path
                .entry(format!("{origin}{}", stem(&meaning)))
                .or_default();
            by_path.push((position, query));
            if *meaning != *target {
                let by_meaning = index.by_meaning.entry(format!("{origin}{meaning}"));
                by_meaning.or_default().push(position);
            }
            if by_url.is_empty() {
                let by_origin = index.by_origin.entry(origin).or_default();
                by_origin.push((target.clone(), position));
                index.by_target.entry(target.clone()).or_insert(position);
            }
            by_url.push(position);
        }
        for targets in index.by_origin.values_mut() {
            targets.sort_unstable();
        }
        index
    }

    /// Returns the `is_wanted` exchanges with the target as it is spelled, else those whose target
    /// means the same.
    pub fn find_equal(
        &self,
        origin: &str,
        target: &str,
        meaning: &str,
        is_wanted: impl Fn(&usize) -> bool,
    ) -> Vec<usize> {
        let of = |found: Option<&Vec<usize>>| -> Vec<usize> {
            found
                .into_iter()
                .flatten()
                .copied()
                .filter(&is_wanted)
                .collect()
        };
        let spelled = of(self.by_url.get(&format!("{origin}{target}")));
        if !spelled.is_empty() {
            return spelled;
        }
        let key = format!("{origin}{meaning}");
        let mut equal = of(self.by_meaning.get(&key));
        if meaning != target {
            equal.extend(of(self.by_url.get(&key)));
            equal.sort_unstable();
        }
        equal
    }

    /// Returns the recorded target of an origin that shares the longest prefix with `target`.
    pub fn longest_prefix(&self, origin: &str, target: &str) -> Option<usize> {
        let targets = self.by_origin.get(origin)?;
        // In sorted order the longest common prefix is next to the insertion point.
        let at = targets.partition_point(|(recorded, _)| recorded.as_str() < target);
        let neighbours = targets[at.saturating_sub(1)..].iter().take(2);
        neighbours
            .max_by_key(|(recorded, _)| common_prefix(recorded, target))
            .map(|(_, position)| *position)
    }
}

/// Returns `https://host:port`, with the port always written.
pub(super) fn origin_key(scheme: Scheme, host: &str, port: u16) -> String {
    format!("{scheme}://{host}:{port}")
}

fn common_prefix(left: &str, right: &str) -> usize {
    let pairs = left.bytes().zip(right.bytes());
    pairs.take_while(|(left, right)| left == right).count()
}
