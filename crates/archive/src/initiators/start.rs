//! Which page a recording is of.

use std::collections::HashMap;

use crate::exchange::Exchange;
use crate::initiators::{self, Initiator, Initiators};
use crate::limits::REDIRECTS_MAX;
use crate::url::Url;

/// The page that a reader of these exchanges would take for the one to load (`spec/archive.md`);
/// none where there is no exchange.
pub fn start_page(exchanges: &[Exchange]) -> Option<Url> {
    let first = exchanges.first()?;
    let initiators = initiators::of(exchanges);
    let page = document(exchanges, &initiators).unwrap_or(first);
    Some(start_of_redirects(exchanges, &initiators, &page.url))
}

/// The HTML document from which most of the recording was asked for, itself or by what it led to.
///
/// Being first, or without a `Referer`, says little: beacons answer `text/html`, too, and a folder's
/// files have no order. Nothing hangs on a beacon.
fn document<'a>(exchanges: &'a [Exchange], initiators: &Initiators<'a>) -> Option<&'a Exchange> {
    let pages: Vec<&Exchange> = exchanges
        .iter()
        .filter(|each| each.method == "GET" && each.status == 200 && each.is_html())
        .collect();
    // Browsers say of each request over https what it is for (Fetch Metadata): a frame is no page.
    let destination = |page: &Exchange| page.request_header("sec-fetch-dest").map(str::to_owned);
    let may_be = |page: &Exchange| destination(page).is_none_or(|what| what == "document");
    let any = !pages.iter().any(|page| may_be(page));
    let led_to = led_to(initiators, &first_pages(&pages));
    let rank = |page: &Exchange| {
        let number = initiators.numbers[&page.url];
        let is_said = destination(page).as_deref() == Some("document");
        let is_asked = initiators::named_initiator(page).is_some();
        (led_to[number], is_said, !is_asked)
    };
    let candidates = pages.iter().filter(|page| any || may_be(page));
    // Of equals the first.
    candidates.rev().max_by_key(|page| rank(page)).copied()
}

/// The first page of each origin.
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

/// By a URL's number, how many URLs were asked for because of it, itself among them: all from which
/// the way along what asked leads to it. On a circle each has the circle's.
///
/// A `Referer` that names an origin alone, as browsers send to other origins, stands for that origin's
/// first page where its root was not recorded.
fn led_to(initiators: &Initiators, first_pages: &HashMap<Url, Url>) -> Vec<usize> {
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
    // From the ends of all ways inwards; what is left are circles.
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

/// Follows redirects backwards from `url` to the request that began them, which no recorded page made:
/// a beacon of the page's that is sent to it is no start.
fn start_of_redirects(exchanges: &[Exchange], initiators: &Initiators, url: &Url) -> Url {
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
