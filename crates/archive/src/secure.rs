//! Makes an https site of a plain one.

use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;

use crate::coding;
use crate::exchange::Exchange;
use crate::header::Header;
use crate::import::Imported;
use crate::url::{Scheme, Url};

/// A body that is rewritten is held decoded; a page's texts are far smaller.
const TEXT_BYTES_MAX: u64 = 64 << 20;

/// Media types whose bodies may name URLs.
const TEXTS: [&str; 8] = [
    "text/",
    "javascript",
    "ecmascript",
    "json",
    "xml",
    "x-www-form",
    "mpegurl",
    "manifest",
];

/// Moves every http origin of `imported` to https, rewrites links to recorded hosts in texts and
/// fields, and says so in `altered`.
///
/// What scripts build themselves is upgraded by the browser: documents get the policy
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
    for mut exchange in exchanges {
        let was_plain = exchange.url.scheme == Scheme::Http;
        let upgraded = upgrade(&exchange.url);
        let key = (exchange.method.clone(), upgraded.clone());
        if was_plain && (recorded_secure.contains(&key) || leads_to(&exchange, &upgraded)) {
            counts.dropped += 1;
            continue;
        }
        counts.moved += usize::from(was_plain);
        exchange.url = upgraded;
        rewrite(&mut exchange, &hosts, &mut counts);
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
        "{} of {} exchanges were recorded over http and became https; links in {} bodies were \
         rewritten; {} redirects to https and doubles were dropped",
        counts.moved,
        imported.exchanges.len(),
        counts.rewritten,
        counts.dropped
    ));
    for (coding, bodies) in counts.unknown_codings {
        altered.push(format!(
            "{bodies} bodies with the coding `{coding}` were not searched for links"
        ));
    }
}

#[derive(Default)]
struct Counts {
    moved: usize,
    dropped: usize,
    rewritten: usize,
    unknown_codings: BTreeMap<String, usize>,
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

/// Whether the exchange is a redirect to its own URL once that is secure.
fn leads_to(exchange: &Exchange, upgraded: &Url) -> bool {
    let location = exchange.response_header("location");
    (300..400).contains(&exchange.status)
        && location
            .and_then(|location| exchange.url.join(location).ok())
            .is_some_and(|target| upgrade(&target) == *upgraded)
}

fn rewrite(exchange: &mut Exchange, hosts: &[String], counts: &mut Counts) {
    let headers = exchange.request_headers.iter_mut();
    for header in headers.chain(&mut exchange.response_headers) {
        if let Some(value) = with_secure_links(&header.value, hosts) {
            header.value = value.into();
        }
    }
    if exchange.is_html() {
        let policy = Header::new("Content-Security-Policy", "upgrade-insecure-requests");
        exchange.response_headers.push(policy);
    }
    let kind = exchange.response_header("content-type").unwrap_or("");
    let kind = kind.to_ascii_lowercase();
    if exchange.body.is_empty() || !TEXTS.iter().any(|text| kind.contains(text)) {
        return;
    }
    let name = exchange
        .response_header("content-encoding")
        .unwrap_or("")
        .to_owned();
    let Some(decoded) = coding::decode(&name, &exchange.body, TEXT_BYTES_MAX) else {
        *counts.unknown_codings.entry(name).or_default() += 1;
        return;
    };
    // A body that is not what it says is replayed as it stands, as it was recorded.
    let Some(text) = decoded
        .ok()
        .and_then(|body| with_secure_links(&body, hosts))
    else {
        return;
    };
    counts.rewritten += 1;
    let is_coded = !matches!(name.trim().to_ascii_lowercase().as_str(), "" | "identity");
    exchange.body = if is_coded {
        for header in &mut exchange.response_headers {
            if header.is("content-encoding") {
                header.value = Bytes::from_static(b"gzip");
            }
        }
        coding::gzip(&text)
    } else {
        text.into()
    };
}

/// `http://HOST` as `https://HOST` for the recorded hosts, with plain and with escaped slashes;
/// none where there is nothing to change.
fn with_secure_links(text: &[u8], hosts: &[String]) -> Option<Vec<u8>> {
    const FORMS: [(&[u8], &[u8]); 3] = [
        (b"http://", b"https://"),
        (b"http:\\/\\/", b"https:\\/\\/"),
        (b"http%3A%2F%2F", b"https%3A%2F%2F"),
    ];
    let mut changed = Vec::with_capacity(text.len() + text.len() / 64);
    let mut copied = 0;
    let mut at = 0;
    while at + 4 < text.len() {
        let rest = &text[at..];
        let form = FORMS.iter().find(|(plain, _)| starts_with(rest, plain));
        if let Some((plain, secure)) = form
            && names_host(&rest[plain.len()..], hosts)
        {
            changed.extend_from_slice(&text[copied..at]);
            changed.extend_from_slice(secure);
            at += plain.len();
            copied = at;
        } else {
            at += 1;
        }
    }
    if copied == 0 {
        return None;
    }
    changed.extend_from_slice(&text[copied..]);
    Some(changed)
}

fn starts_with(text: &[u8], prefix: &[u8]) -> bool {
    text.len() >= prefix.len() && text[..prefix.len()].eq_ignore_ascii_case(prefix)
}

/// Whether a recorded host stands here, and no longer name.
fn names_host(text: &[u8], hosts: &[String]) -> bool {
    let is_of_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"-._:".contains(byte) || *byte >= 0x80;
    let end = text
        .iter()
        .position(|byte| !is_of_name(byte))
        .unwrap_or(text.len());
    let Ok(name) = std::str::from_utf8(&text[..end]) else {
        return false;
    };
    let name = name.trim_end_matches([':', '.']).to_ascii_lowercase();
    let name = name.strip_suffix(":80").unwrap_or(&name);
    hosts
        .binary_search_by(|host| host.as_str().cmp(name))
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_recorded_hosts_alone_are_rewritten() {
        let hosts = ["a.test".to_owned(), "b.test:8080".to_owned()];
        for (plain, secure) in [
            ("src=\"http://a.test/x\"", Some("src=\"https://a.test/x\"")),
            ("url(HTTP://A.test)", Some("url(https://A.test)")),
            ("'http:\\/\\/a.test\\/'", Some("'https:\\/\\/a.test\\/'")),
            ("http://b.test:8080/", Some("https://b.test:8080/")),
            ("xmlns=\"http://www.w3.org/2000/svg\"", None),
            ("http://a.test.other/", None),
            ("https://a.test/", None),
            ("http://", None),
        ] {
            let found = with_secure_links(plain.as_bytes(), &hosts);
            assert_eq!(found.as_deref(), secure.map(str::as_bytes), "{plain}");
        }
    }
}
