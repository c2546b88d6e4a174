//! Rewrites links to recorded hosts in texts from one scheme to the other.

pub(crate) mod cleartext;
pub(crate) mod schemes;

use crate::budget::ReadBudget;
use crate::coding;
use crate::exchange::Exchange;
use crate::whole::correct_length;

/// The largest decoded body that is rewritten; a page's texts are far smaller.
const TEXT_BYTES_MAX: u64 = 64 << 20;

/// Media types whose bodies may contain URLs.
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

pub(crate) type Forms = [(&'static [u8], &'static [u8]); 3];

/// The direction of a rewrite: which scheme becomes which.
pub(crate) struct Direction {
    /// The prefix of a link and its replacement, with plain, escaped and percent-encoded slashes.
    pub forms: Forms,
    /// The default port of the old scheme, which a link may state.
    pub default_port: &'static str,
    /// Whether the schemes that scripts compare the page's with are exchanged, too.
    pub exchanges_compared: bool,
}

pub(crate) const TO_HTTPS: Direction = Direction {
    forms: [
        (b"http://", b"https://"),
        (b"http:\\/\\/", b"https:\\/\\/"),
        (b"http%3A%2F%2F", b"https%3A%2F%2F"),
    ],
    default_port: ":80",
    exchanges_compared: false,
};

pub(crate) const TO_HTTP: Direction = Direction {
    forms: [
        (b"https://", b"http://"),
        (b"https:\\/\\/", b"http:\\/\\/"),
        (b"https%3A%2F%2F", b"http%3A%2F%2F"),
    ],
    default_port: ":443",
    exchanges_compared: false,
};

/// The outcome of rewriting a body.
pub(crate) enum Body {
    Kept,
    Rewritten,
    /// Not searched, because its coding is not supported or invalid, or the body is too large.
    NotSearched(String),
}

/// Rewrites the links in an exchange's fields and body. `hosts` are sorted authorities in lower
/// case, and `budget` limits what all bodies of the site inflate to.
pub(crate) fn relink(
    exchange: &mut Exchange,
    hosts: &[String],
    direction: &Direction,
    budget: &mut ReadBudget,
) -> Body {
    let headers = exchange.request_headers.iter_mut();
    for header in headers.chain(&mut exchange.response_headers) {
        if let Some(value) = rewrite_links(&header.value, hosts, direction) {
            header.value = value.into();
        }
    }
    let kind = exchange.response_header("content-type").unwrap_or("");
    let kind = kind.to_ascii_lowercase();
    if exchange.body.is_empty() || !TEXTS.iter().any(|text| kind.contains(text)) {
        return Body::Kept;
    }
    let name = coding::all_codings(&exchange.response_headers);
    // A body that is not in its declared coding is replayed as recorded.
    let Some(body) = exchange.decoded_body_within(TEXT_BYTES_MAX, budget) else {
        return Body::NotSearched(name);
    };
    let relinked = rewrite_links(&body, hosts, direction);
    let text = relinked.as_deref().unwrap_or(&body);
    let exchanged = direction
        .exchanges_compared
        .then(|| schemes::exchange_compared(text));
    let Some(text) = exchanged.flatten().or(relinked) else {
        return Body::Kept;
    };
    if coding::is_identity(&name) {
        exchange.body = text.into();
    } else {
        let (coded_as, coded) = coding::encode(&name, &text);
        exchange.body = coded;
        coding::replace_codings(&mut exchange.response_headers, coded_as);
    }
    correct_length(&mut exchange.response_headers, &exchange.body);
    Body::Rewritten
}

/// Returns the text with its links to `hosts` rewritten, or `None` if nothing changes.
fn rewrite_links(text: &[u8], hosts: &[String], direction: &Direction) -> Option<Vec<u8>> {
    let mut changed = Vec::with_capacity(text.len() + text.len() / 64);
    let mut copied = 0;
    let mut at = 0;
    while at + 4 < text.len() {
        let rest = &text[at..];
        let form = direction
            .forms
            .iter()
            .find(|(old, _)| starts_with(rest, old));
        if let Some((old, new)) = form
            && names_host(&rest[old.len()..], hosts, direction.default_port)
        {
            changed.extend_from_slice(&text[copied..at]);
            changed.extend_from_slice(new);
            at += old.len();
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

/// Whether a recorded host begins here and is not the prefix of a longer name.
fn names_host(text: &[u8], hosts: &[String], default_port: &str) -> bool {
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
    let name = name.strip_suffix(default_port).unwrap_or(&name);
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
            let found = rewrite_links(plain.as_bytes(), &hosts, &TO_HTTPS);
            assert_eq!(found.as_deref(), secure.map(str::as_bytes), "{plain}");
        }
    }

    #[test]
    fn links_are_moved_to_cleartext() {
        let hosts = ["a.test".to_owned()];
        let found = rewrite_links(b"https://a.test/x https://b.test/", &hosts, &TO_HTTP);
        assert_eq!(
            found.as_deref(),
            Some(&b"http://a.test/x https://b.test/"[..])
        );
        assert!(rewrite_links(b"http://a.test/", &hosts, &TO_HTTP).is_none());
    }
}
