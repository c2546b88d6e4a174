//! Which recorded exchange answers a request: one pure function, its rules in
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

/// Rules that a plan may switch on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Answer with the longest common prefix of path and query where nothing better was recorded,
    /// as Mahimahi does.
    pub longest_prefix: bool,
}

/// What answers a request.
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
    /// Nothing.
    Miss(Miss),
}

impl Answer {
    /// The rule that decided.
    pub fn how(&self) -> How {
        match self {
            Self::Match { how, .. } => *how,
            Self::Preflight => How::Preflight,
            Self::Miss(_) => How::Miss,
        }
    }
}

/// What was recorded nearest to a request that nothing answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// A recorded URL; none where nothing is recorded at all.
    pub nearest_url: Option<String>,
    /// What of the request differs from it.
    pub difference: &'static str,
}

/// What was recorded of a URL.
enum Found {
    /// An answer.
    Match { exchange: usize, how: How },
    /// The URL, but not what is asked for of it.
    Other {
        nearest: usize,
        difference: &'static str,
    },
}

/// How often each recorded request was answered: the state that repeated requests need, kept apart
/// so that the matcher is shared and constant.
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

    /// The answer to one request; `progress` moves on where the same request was recorded more
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
        let meaning = &*meaning::of_target(request.path_and_query);
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
            .equal(origin, request.path_and_query, meaning, has_method);
        let (candidates, how) = if !exact.is_empty() {
            (exact, How::Exact)
        } else if let Some(alike) = self.alike(exchanges, meaning, origin, method) {
            alike
        } else if self.rules.longest_prefix {
            let nearest = self.index.longest_prefix(origin, request.path_and_query)?;
            let nearest = Some(nearest).filter(has_method)?;
            (vec![nearest], How::Prefix)
        } else {
            return None;
        };
        let nearest = candidates[0];
        // It answers who has the body, and nobody else (RFC 9110, section 15.4.5).
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
        // Where no body was recorded there is nothing to compare.
        let differs =
            !recorded.request_body.is_empty() && !choice::is_body_equal(recorded, request);
        let how = match how {
            How::Exact if differs => How::Body,
            how => how,
        };
        Some(Found::Match { exchange, how })
    }

    /// The exchanges of the one recorded URL with the same path and the most alike query.
    fn alike(
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
        let asked = Query::new(meaning);
        let candidates = recorded
            .iter()
            .filter(|(at, _)| exchanges[*at].method == method);
        // Of equally alike ones the first that was recorded, hence the reversed order.
        let (best, query) = candidates
            .rev()
            .max_by_key(|(_, query)| (asked.is_equal(query), asked.likeness(query)))?;
        let how = if asked.is_equal(query) {
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
    /// The next of a recorded sequence, and its last from then on.
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
