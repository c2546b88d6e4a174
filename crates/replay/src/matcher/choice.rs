//! The choice between several exchanges with the same URL and method.

use super::Request;
use super::meaning;
use super::query::Query;
use super::range::{self, NOT_SATISFIABLE, PARTIAL, Part};
use eyelevel_archive::Exchange;
use std::borrow::Cow;

pub(super) const NOT_MODIFIED: u16 = 304;

/// Keeps the candidates that answer best, in recorded order; none only if no candidate holds the
/// bytes that a correct response needs.
pub(super) fn narrow(
    exchanges: &[Exchange],
    request: &Request<'_>,
    mut candidates: Vec<usize>,
) -> Vec<usize> {
    let is_conditional = request.is_conditional();
    if !is_conditional {
        keep_some(&mut candidates, |&at| exchanges[at].status != NOT_MODIFIED);
    }
    candidates.retain(|&at| range::part(&exchanges[at], request).is_some());
    if candidates.len() < 2 {
        return candidates;
    }
    if is_conditional {
        keep_best(&mut candidates, |at| {
            has_equal_conditions(&exchanges[at], request)
        });
    }
    keep_range(exchanges, request, &mut candidates);
    keep_best(&mut candidates, |at| {
        count_equal_varying(&exchanges[at], request)
    });
    if !request.body.is_empty() {
        keep_best(&mut candidates, |at| {
            compare_bodies(&exchanges[at], request)
        });
    }
    candidates
}

/// Keeps the exchange recorded for the same range if there is one, else those that hold the most of
/// it.
fn keep_range(exchanges: &[Exchange], request: &Request<'_>, candidates: &mut Vec<usize>) {
    if request.header("range").is_empty() {
        let is_for_ranges = |status| matches!(status, PARTIAL | NOT_SATISFIABLE);
        keep_some(candidates, |&at| !is_for_ranges(exchanges[at].status));
    }
    keep_some(candidates, |&at| {
        range::is_same_range(&exchanges[at], request)
    });
    let slice_bytes = |at: usize| match range::part(&exchanges[at], request) {
        Some(Part::Slice { body, .. }) => Some(body.len()),
        _ => None,
    };
    let most = candidates.iter().filter_map(|&at| slice_bytes(at)).max();
    candidates.retain(|&at| slice_bytes(at).is_none_or(|bytes| Some(bytes) == most));
}

fn keep_some(candidates: &mut Vec<usize>, is_wanted: impl Fn(&usize) -> bool) {
    if candidates.iter().any(&is_wanted) {
        candidates.retain(is_wanted);
    }
}

fn keep_best<K: Ord>(candidates: &mut Vec<usize>, key: impl Fn(usize) -> K) {
    if let Some(best) = candidates.iter().map(|&at| key(at)).max() {
        candidates.retain(|&at| key(at) == best);
    }
}

/// Returns whether the exchange was recorded under the same conditions.
fn has_equal_conditions(exchange: &Exchange, request: &Request<'_>) -> bool {
    ["if-none-match", "if-modified-since"]
        .iter()
        .all(|name| exchange.request_header(name).unwrap_or("") == request.header(name))
}

/// Returns how many of the fields named in the response's `Vary` are as recorded, less those that
/// are not (RFC 9111, section 4.1).
fn count_equal_varying(exchange: &Exchange, request: &Request<'_>) -> isize {
    let vary = exchange.response_header("vary").unwrap_or("");
    let names = vary
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty() && *name != "*");
    names
        .map(|name| {
            let recorded = exchange.request_header(name).unwrap_or("");
            if recorded == request.header(name) {
                1
            } else {
                -1
            }
        })
        .sum()
}

/// Returns whether the request's body equals the recorded one or means the same.
pub(super) fn is_body_equal(exchange: &Exchange, request: &Request<'_>) -> bool {
    exchange.request_body == request.body || {
        let (recorded, requested) = normalise_bodies(exchange, request);
        recorded == requested
    }
}

/// Returns the recorded body and the request's, each normalised by its type.
fn normalise_bodies<'a>(
    exchange: &'a Exchange,
    request: &Request<'a>,
) -> (Cow<'a, [u8]>, Cow<'a, [u8]>) {
    let requested = request.header("content-type");
    let recorded = exchange.request_header("content-type").unwrap_or(requested);
    (
        meaning::normalise_body(recorded, &exchange.request_body),
        meaning::normalise_body(requested, request.body),
    )
}

/// Returns the likeness of the bodies, greatest for the most alike: the same bytes, the same
/// meaning, equal parameters of a form in any order, compared as those of a query are, equal bytes
/// of the meaning at both ends, and the same length.
fn compare_bodies(exchange: &Exchange, request: &Request<'_>) -> (bool, bool, bool, usize, bool) {
    let is_same = exchange.request_body == request.body;
    let (recorded, requested) = normalise_bodies(exchange, request);
    let (recorded, requested) = (&*recorded, &*requested);
    let count = |pairs: &mut dyn Iterator<Item = (&u8, &u8)>| {
        pairs.take_while(|(left, right)| left == right).count()
    };
    let prefix = count(&mut recorded.iter().zip(requested));
    let suffix = count(&mut recorded.iter().rev().zip(requested.iter().rev()));
    let same_length = recorded.len() == requested.len();
    let same_parameters = meaning::is_form(request.header("content-type"))
        && parse_parameters(recorded).is_equal(&parse_parameters(requested));
    let is_equal = recorded == requested;
    (
        is_same,
        is_equal,
        same_parameters,
        prefix + suffix,
        same_length,
    )
}

/// Parses the parameters of a form in its normalised spelling, which is in ASCII.
fn parse_parameters(form: &[u8]) -> Query {
    Query::new(&format!("?{}", String::from_utf8_lossy(form)))
}
