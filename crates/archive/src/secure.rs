//! Converts a recorded http site to https.

use std::collections::{BTreeMap, HashSet};

use crate::budget::ReadBudget;
use crate::exchange::Exchange;
use crate::exchange::header::Header;
use crate::import::Imported;
use crate::links::{Body, Direction, TO_HTTPS, relink};
use crate::url::{Scheme, Url};

/// Moves every http origin of `imported` to https, rewrites links to recorded hosts in texts and
/// fields and the schemes that scripts compare with, and notes it in `altered`.
///
/// The browser upgrades URLs that scripts build: documents get the policy
/// `upgrade-insecure-requests`. A redirect from http to the same URL over https is dropped, and so
/// is an http exchange whose URL was recorded over https, too.
pub fn secure(imported: &mut Imported) {
    let exchanges = std::mem::take(&mut imported.exchanges);
    let hosts: Vec<String> = {
        let plain = exchanges
            .iter()
            .filter(|each| each.url.scheme == Scheme::Http);
        let mut hosts: Vec<String> = plain.map(|each| each.url.authority()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts
    };
    let recorded_secure: HashSet<(String, Url)> = exchanges
        .iter()
        .filter(|each| each.url.scheme == Scheme::Https)
        .map(|each| (each.method.clone(), each.url.clone()))
        .collect();
    let mut counts = Counts::default();
    let mut budget = ReadBudget::for_bodies(&exchanges);
    for mut exchange in exchanges {
        let was_plain = exchange.url.scheme == Scheme::Http;
        let upgraded = upgrade(&exchange.url);
        let key = (exchange.method.clone(), upgraded.clone());
        if was_plain && (recorded_secure.contains(&key) || leads_to(&exchange, &upgraded)) {
            counts.dropped += 1;
            continue;
        }
        counts.moved += usize::from(was_plain);
        let direction = Direction {
            exchanges_compared: has_plain_page(&exchange),
            ..TO_HTTPS
        };
        exchange.url = upgraded;
        let relinked = rewrite(&mut exchange, &hosts, &direction, &mut budget);
        counts.add(relinked);
        imported.exchanges.push(exchange);
    }
    for (index, exchange) in imported.exchanges.iter_mut().enumerate() {
        exchange.index = index;
    }
    imported.main_url = imported.main_url.as_ref().map(upgrade);
    if counts.moved + counts.dropped == 0 {
        return;
    }
    let altered = &mut imported.provenance.altered;
    altered.push(format!(
        "{} of {} exchanges were recorded over http and became https; links and \
         comparisons with the page's scheme in {} bodies were rewritten; {} redirects to https and doubles were dropped",
        counts.moved,
        imported.exchanges.len(),
        counts.rewritten,
        counts.dropped
    ));
    for (coding, bodies) in counts.not_searched {
        altered.push(format!(
            "{bodies} bodies with the coding `{coding}` were not searched for links: it is not known \
             here, or they are not what they say or too large"
        ));
    }
}

#[derive(Default)]
struct Counts {
    moved: usize,
    dropped: usize,
    rewritten: usize,
    not_searched: BTreeMap<String, usize>,
}

impl Counts {
    fn add(&mut self, body: Body) {
        match body {
            Body::Kept => {}
            Body::Rewritten => self.rewritten += 1,
            Body::NotSearched(coding) => *self.not_searched.entry(coding).or_default() += 1,
        }
    }
}

fn upgrade(url: &Url) -> Url {
    let port = if (url.scheme, url.port) == (Scheme::Http, 80) {
        443
    } else {
        url.port
    };
    Url {
        scheme: Scheme::Https,
        port,
        ..url.clone()
    }
}

/// Whether the exchange is a redirect to its own URL over https.
fn leads_to(exchange: &Exchange, upgraded: &Url) -> bool {
    let location = exchange.response_header("location");
    (300..400).contains(&exchange.status)
        && location
            .and_then(|location| exchange.url.join(location).ok())
            .is_some_and(|target| upgrade(&target) == *upgraded)
}

/// Whether the page that a text belongs to was loaded over http: a document is its own page; for a
/// script, which may itself be secure, `Referer` decides.
fn has_plain_page(exchange: &Exchange) -> bool {
    let is_plain = |url: &str| url.starts_with("http:");
    match exchange.request_header("referer") {
        Some(page) if !exchange.is_html() => is_plain(page),
        _ => exchange.url.scheme == Scheme::Http,
    }
}

fn rewrite(
    exchange: &mut Exchange,
    hosts: &[String],
    direction: &Direction,
    budget: &mut ReadBudget,
) -> Body {
    let relinked = relink(exchange, hosts, direction, budget);
    if exchange.is_html() {
        let policy = Header::new("Content-Security-Policy", "upgrade-insecure-requests");
        exchange.response_headers.push(policy);
    }
    relinked
}
