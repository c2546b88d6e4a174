//! The initiator of each recorded URL, and what follows from it: the document that a recording is
//! of, and the dependency depth.

pub(crate) mod depth;
pub(crate) mod start;

use std::collections::HashMap;

use crate::exchange::Exchange;
use crate::url::Url;

/// The initiator of a URL: what made the browser request it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Initiator {
    /// The request names no initiator.
    Unnamed,
    /// A URL that was not recorded.
    Elsewhere(Url),
    /// A recorded URL, by its number.
    Recorded(usize),
}

/// The recorded URLs, numbered in the order of their first exchanges, with their initiators.
pub(crate) struct Initiators<'a> {
    pub numbers: HashMap<&'a Url, usize>,
    pub initiator_of: Vec<Initiator>,
}

/// Determines the initiators. A redirect's target is initiated by the last redirect to it; any
/// other URL by the initiator of its first exchange, else by that exchange's `Referer`.
pub(crate) fn determine(exchanges: &[Exchange]) -> Initiators<'_> {
    let mut numbers: HashMap<&Url, usize> = HashMap::new();
    for exchange in exchanges {
        let next = numbers.len();
        numbers.entry(&exchange.url).or_insert(next);
    }
    let mut initiator_of: Vec<Option<Initiator>> = vec![None; numbers.len()];
    for exchange in exchanges {
        let number = numbers[&exchange.url];
        initiator_of[number].get_or_insert_with(|| {
            named_initiator(exchange).map_or(Initiator::Unnamed, |url| match numbers.get(&url) {
                Some(&number) => Initiator::Recorded(number),
                None => Initiator::Elsewhere(url),
            })
        });
        let target = redirect_target(exchange);
        if let Some(&redirected) = target.and_then(|url| numbers.get(&url)) {
            initiator_of[redirected] = Some(Initiator::Recorded(number));
        }
    }
    let initiator_of = initiator_of
        .into_iter()
        .map(|initiator| initiator.unwrap_or(Initiator::Unnamed))
        .collect();
    Initiators {
        numbers,
        initiator_of,
    }
}

/// Returns the initiator that the request names: the recorded one, else its `Referer`.
pub(crate) fn named_initiator(exchange: &Exchange) -> Option<Url> {
    let named = exchange.initiator.as_deref();
    named
        .or_else(|| exchange.request_header("referer"))
        .and_then(|url| url.parse().ok())
}

/// Returns the URL that an exchange redirects the browser to.
pub(crate) fn redirect_target(exchange: &Exchange) -> Option<Url> {
    let location = exchange.response_header("location");
    location
        .filter(|_| (300..400).contains(&exchange.status))
        .and_then(|location| exchange.url.join(location).ok())
}
