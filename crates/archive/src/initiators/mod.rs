//! What made the browser ask for each recorded URL, and what follows: the document that a recording is of, and how deep
//! its objects depend on one another.

pub(crate) mod depth;
pub(crate) mod start;

use std::collections::HashMap;

use crate::exchange::Exchange;
use crate::url::Url;

/// What made the browser ask for a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Initiator {
    /// Nothing that its request names.
    Unnamed,
    /// What was not recorded under this URL.
    Elsewhere(Url),
    /// A recorded URL, by its number.
    Recorded(usize),
}

/// The recorded URLs, numbered in the order of their first exchanges, and what asked for each.
pub(crate) struct Initiators<'a> {
    pub numbers: HashMap<&'a Url, usize>,
    pub initiator_of: Vec<Initiator>,
}

/// A redirect's target is asked for by the last redirect to it; anything else by the initiator of its
/// URL's first exchange, else by what that one's `Referer` names.
pub(crate) fn of(exchanges: &[Exchange]) -> Initiators<'_> {
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

/// Returns the URL that the request itself names as its cause: its initiator, else its `Referer`.
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
