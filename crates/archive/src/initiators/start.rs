//! The start page of a recording.

use std::collections::HashMap;

use crate::exchange::Exchange;
use crate::initiators::{self, Initiator, Initiators};
use crate::limits::REDIRECTS_MAX;
use crate::url::Url;

/// Returns the page of `exchanges` that a reader loads by default (`spec/archive.md`), or `None` if
/// there are none.
pub fn start_page(exchanges: &[Exchange]) -> Option<Url> {
    let first = exchanges.first()?;
    let initiators = initiators::determine(exchanges);
    let page = document(exchanges, &initiators).unwrap_or(first);
    Some(follow_redirects_back(exchanges, &initiators, &page.url))
}

/// Returns the HTML document from which most of the recording was requested, directly or
/// indirectly.
///
/// Being first, or without a `Referer`, is weak evidence: beacons also answer `text/html`, and a
/// folder's files have no order. But nothing depends on a beacon.
fn document<'a>(exchanges: &'a [Exchange], initiators: &Initiators<'a>) -> Option<&'a Exchange> {
    let pages: Vec<&Exchange> = exchanges
        .iter()
        .filter(|each| each.method == "GET" && each.status == 200 && each.is_html())
        .collect();
    // Browsers send the purpose of each request over https (Fetch Metadata): a frame is not a page.
    let destination = |page: &Exchange| page.request_header("sec-fetch-dest").map(str::to_owned);
    let may_be = |page: &Exchange| destination(page).is_none_or(|what| what == "document");
    let any = !pages.iter().any(|page| may_be(page));
    let led_to = count_descendants(initiators, &first_pages(&pages));
    let rank = |page: &Exchange| {
        let number = initiators.numbers[&page.url];
        let is_document = destination(page).as_deref() == Some("document");
        let is_asked = initiators::named_initiator(page).is_some();
        (led_to[number], is_document, !is_asked)
    };
    let candidates = pages.iter().filter(|page| any || may_be(page));
    // The first of equals.
    candidates.rev().max_by_key(|page| rank(page)).copied()
}

/// Returns the first page of each origin.
fn first_pages(pages: &[&Exchange]) -> HashMap<Url, Url> {
    let mut first = HashMap::new();
    for page in pages {
        first
            .entry(root(&page.url))
            .or_insert_with(|| page.url.clone());
    }
    first
}

fn root(url: &Url) -> Url {
    Url {
        path_and_query: "/".to_owned(),
        ..url.clone()
    }
}

/// Counts for each URL, by number, how many URLs were requested because of it, including itself:
/// all whose chain of initiators contains it. In a cycle, each URL has the cycle's count.
///
/// A `Referer` with only an origin, as browsers send to other origins, stands for that origin's
/// first page if its root was not recorded.
fn count_descendants(initiators: &Initiators, first_pages: &HashMap<Url, Url>) -> Vec<usize> {
    let parents: Vec<Option<usize>> = initiators
        .initiator_of
        .iter()
        .map(|initiator| match initiator {
            Initiator::Recorded(number) => Some(*number),
            Initiator::Elsewhere(url) => first_pages.get(url).map(|page| initiators.numbers[page]),
            Initiator::Unnamed => None,
        })
        .collect();
    let mut led_to = vec![1; parents.len()];
    let mut children = vec![0; parents.len()];
    for parent in parents.iter().flatten() {
        children[*parent] += 1;
    }
    // Go from the leaves inwards; only cycles remain.
    let mut ends: Vec<usize> = (0..parents.len()).filter(|&at| children[at] == 0).collect();
    let mut is_done = vec![false; parents.len()];
    while let Some(at) = ends.pop() {
        is_done[at] = true;
        if let Some(parent) = parents[at] {
            led_to[parent] += led_to[at];
            children[parent] -= 1;
            if children[parent] == 0 {
                ends.push(parent);
            }
        }
    }
    for start in 0..parents.len() {
        let mut circle = Vec::new();
        let mut at = start;
        while !is_done[at] {
            is_done[at] = true;
            circle.push(at);
            at = parents[at].unwrap_or(at);
        }
        let all: usize = circle.iter().map(|&at| led_to[at]).sum();
        for at in circle {
            led_to[at] = all;
        }
    }
    led_to
}

/// Follows redirects backwards from `url` to the request that began them and that no recorded page
/// made: a page's beacon that is redirected to it is not a start.
fn follow_redirects_back(exchanges: &[Exchange], initiators: &Initiators, url: &Url) -> Url {
    let mut start = url;
    let mut seen = vec![start];
    for _ in 0..REDIRECTS_MAX {
        let leads_to_start = |exchange: &&Exchange| {
            matches!(exchange.status, 301 | 302 | 303 | 307 | 308)
                && !seen.contains(&&exchange.url)
                && initiators::named_initiator(exchange)
                    .is_none_or(|by| !initiators.numbers.contains_key(&by))
                && initiators::redirect_target(exchange).is_some_and(|target| target == *start)
        };
        let Some(exchange) = exchanges.iter().find(leads_to_start) else {
            break;
        };
        start = &exchange.url;
        seen.push(start);
    }
    start.clone()
}
