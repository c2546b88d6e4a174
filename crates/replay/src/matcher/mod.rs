//! Selects the recorded exchange that answers a request, in one pure function; the rules are in
//! `docs/reference/matching.md`.

mod choice;
mod how;
mod index;
mod meaning;
mod query;
pub(crate) mod range;
mod request;

pub use how::{HOW_NAMES, How};
pub use request::Request;

use eyelevel_archive::Exchange;
use index::{Index, origin_key};
use query::{Query, stem};
use std::collections::HashMap;

/// Rules that a plan may enable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Whether to answer with the longest common prefix of path and query if there is no better
    /// match, as Mahimahi does.
    pub longest_prefix: bool,
}

/// The result of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A recorded exchange.
    Match {
        /// Its position in the recording.
        exchange: usize,
        /// The rule that found it.
        how: How,
    },
    /// A CORS preflight for a URL that was recorded for another method.
    Preflight,
    /// No recorded exchange.
    Miss(Miss),
}

impl Answer {
    /// Returns the rule that decided.
    pub fn how(&self) -> How {
        match self {
            Self::Match { how, .. } => *how,
            Self::Preflight => How::Preflight,
            Self::Miss(_) => How::Miss,
        }
    }
}

/// The nearest recording to an unanswered request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// A recorded URL; `None` if the recording is empty.
    pub nearest_url: Option<String>,
    /// The part of the request that differs from it.
    pub difference: &'static str,
}

/// The recorded exchanges of a URL.
enum Found {
    /// An exchange that answers.
    Match { exchange: usize, how: How },
    /// The URL, but not the requested part of it.
    Other {
        nearest: usize,
        difference: &'static str,
    },
}

/// The number of answers to each recorded request: the state for repeated requests, kept apart so
/// that the matcher is shared and constant.
#[derive(Clone, Debug, Default)]
pub struct Progress(HashMap<usize, usize>);

/// The index over a recording's exchanges.
#[derive(Debug)]
pub struct Matcher {
    index: Index,
    rules: Rules,
}

impl Matcher {
    /// Indexes `exchanges`, which must be the ones given to [`Matcher::answer`] later.
    pub fn new(exchanges: &[Exchange], rules: Rules) -> Self {
        Self {
            index: Index::new(exchanges),
            rules,
        }
    }

    /// Returns the answer to one request; advances `progress` if the same request was recorded more
    /// than once.
    pub fn answer(
        &self,
        exchanges: &[Exchange],
        request: &Request<'_>,
        progress: &mut Progress,
    ) -> Answer {
        let origin = origin_key(request.scheme, request.host, request.port);
        let methods: &[(&str, bool)] = match request.method {
            "HEAD" => &[("HEAD", false), ("GET", true)],
            method => &[(method, false)],
        };
        let meaning = &*meaning::normalise_target(request.path_and_query);
        for (method, is_head) in methods {
            match self.find(exchanges, request, (&origin, meaning), method, progress) {
                Some(Found::Match { exchange, how }) => {
                    let how = if *is_head { How::Head } else { how };
                    return Answer::Match { exchange, how };
                }
                Some(Found::Other {
                    nearest,
                    difference,
                }) => {
                    return Answer::Miss(Miss {
                        nearest_url: Some(exchanges[nearest].url.to_string()),
                        difference,
                    });
                }
                None => {}
            }
        }
        let same_url = format!("{origin}{}", request.path_and_query);
        let same_path = format!("{origin}{}", stem(meaning));
        if request.is_preflight() && self.index.by_path.contains_key(&same_path) {
            return Answer::Preflight;
        }
        Answer::Miss(self.miss(exchanges, request, &origin, &same_url, &same_path))
    }

    fn find(
        &self,
        exchanges: &[Exchange],
        request: &Request<'_>,
        (origin, meaning): (&str, &str),
        method: &str,
        progress: &mut Progress,
    ) -> Option<Found> {
        let has_method = |at: &usize| exchanges[*at].method == method;
        let exact = self
            .index
            .find_equal(origin, request.path_and_query, meaning, has_method);
        let (candidates, how) = if !exact.is_empty() {
            (exact, How::Exact)
        } else if let Some(alike) = self.find_alike(exchanges, meaning, origin, method) {
            alike
        } else if self.rules.longest_prefix {
            let nearest = self.index.longest_prefix(origin, request.path_and_query)?;
            let nearest = Some(nearest).filter(has_method)?;
            (vec![nearest], How::Prefix)
        } else {
            return None;
        };
        let nearest = candidates[0];
        // A 304 answers only a client that has the body (RFC 9110, section 15.4.5).
        let is_for_owners = |at: &usize| exchanges[*at].status == choice::NOT_MODIFIED;
        if !request.is_conditional() && candidates.iter().all(is_for_owners) {
            let difference = "condition";
            return Some(Found::Other {
                nearest,
                difference,
            });
        }
        let narrowed = choice::narrow(exchanges, request, candidates);
        if narrowed.is_empty() {
            let difference = "range";
            return Some(Found::Other {
                nearest,
                difference,
            });
        }
        let exchange = progress.next(&narrowed);
        let recorded = &exchanges[exchange];
        // Without a recorded body there is nothing to compare.
        let differs =
            !recorded.request_body.is_empty() && !choice::is_body_equal(recorded, request);
        let how = match how {
            How::Exact if differs => How::Body,
            how => how,
        };
        Some(Found::Match { exchange, how })
    }

    /// Returns the exchanges of the recorded URL with the same path and the most similar query.
    fn find_alike(
        &self,
        exchanges: &[Exchange],
        meaning: &str,
        origin: &str,
        method: &str,
    ) -> Option<(Vec<usize>, How)> {
        let recorded = self
            .index
            .by_path
            .get(&format!("{origin}{}", stem(meaning)))?;
        let requested = Query::new(meaning);
        let candidates = recorded
            .iter()
            .filter(|(at, _)| exchanges[*at].method == method);
        // Of equally similar ones the first recorded wins, hence the reversed order.
        let (best, query) = candidates
            .rev()
            .max_by_key(|(_, query)| (requested.is_equal(query), requested.likeness(query)))?;
        let how = if requested.is_equal(query) {
            How::CacheBuster
        } else {
            How::Query
        };
        let url = &exchanges[*best].url;
        let same = |(at, _): &&(usize, Query)| {
            exchanges[*at].method == method && exchanges[*at].url == *url
        };
        Some((
            recorded.iter().filter(same).map(|(at, _)| *at).collect(),
            how,
        ))
    }

    fn miss(
        &self,
        exchanges: &[Exchange],
        request: &Request<'_>,
        origin: &str,
        same_url: &str,
        same_path: &str,
    ) -> Miss {
        let index = &self.index;
        let same_url = index
            .by_url
            .get(same_url)
            .and_then(|all| all.first())
            .copied();
        let same_path = || {
            index
                .by_path
                .get(same_path)
                .and_then(|all| all.first())
                .map(|(at, _)| *at)
        };
        let (nearest, difference) = if let Some(at) = same_url {
            (Some(at), "method")
        } else if let Some(at) = same_path() {
            (Some(at), "method and query")
        } else if let Some(at) = index.longest_prefix(origin, request.path_and_query) {
            (Some(at), "path")
        } else if let Some(at) = index.by_target.get(request.path_and_query) {
            (Some(*at), "origin")
        } else {
            ((!exchanges.is_empty()).then_some(0), "origin and path")
        };
        Miss {
            nearest_url: nearest.map(|at| exchanges[at].url.to_string()),
            difference,
        }
    }
}

impl Progress {
    /// Returns the next exchange of a recorded sequence, and its last one from then on.
    fn next(&mut self, candidates: &[usize]) -> usize {
        if let [only] = candidates {
            return *only;
        }
        let served = self.0.entry(candidates[0]).or_default();
        let at = candidates[(*served).min(candidates.len() - 1)];
        *served += 1;
        at
    }
}

#[cfg(test)]
mod tests;
