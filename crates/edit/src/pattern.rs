//! Patterns that select the objects of an edit.

use eyelevel_archive::Url;

/// The pattern for everything from other sites than the page's.
pub const THIRD_PARTIES: &str = "third-parties";

/// Second-level labels of registries below a country's domain, as in `example.co.uk`.
const REGISTRY_LABELS: [&str; 10] = [
    "ac", "co", "com", "edu", "gov", "ne", "net", "or", "org", "go",
];

/// A pattern for the URLs of objects; `*` matches any characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// A complete URL.
    Whole(String),
    /// A path on an origin, with the query if the pattern has one.
    Path(Url, String),
    /// A host and path, with the query if the pattern has one.
    HostAndPath(String),
    /// A host or a file name: a word without a slash.
    Word(String),
    /// The hosts of all other sites than this one.
    ThirdParties(String),
}

impl Pattern {
    /// Parses a pattern for a page's objects.
    pub fn read(text: &str, page: &Url) -> Self {
        let text = text.trim();
        if text == THIRD_PARTIES {
            Pattern::ThirdParties(site_of(&page.host).to_owned())
        } else if let Some(rest) = text.strip_prefix("//") {
            Pattern::HostAndPath(rest.to_owned())
        } else if text.contains("://") {
            Pattern::Whole(append_root(text))
        } else if text.starts_with('/') {
            Pattern::Path(page.clone(), text.to_owned())
        } else if text.contains('/') {
            Pattern::HostAndPath(text.to_owned())
        } else {
            Pattern::Word(text.to_owned())
        }
    }

    /// Whether the pattern matches the URL.
    pub fn matches(&self, url: &Url) -> bool {
        match self {
            Pattern::Whole(glob) => matches_glob(glob, &strip_query(glob, url, &url.to_string())),
            Pattern::Path(page, glob) => {
                let same =
                    (page.scheme, &page.host, page.port) == (url.scheme, &url.host, url.port);
                same && matches_glob(glob, &strip_query(glob, url, &url.path_and_query))
            }
            Pattern::HostAndPath(glob) => {
                let text = format!("{}{}", url.authority(), url.path_and_query);
                matches_glob(glob, &strip_query(glob, url, &text))
            }
            Pattern::Word(glob) => {
                let file = url.path().rsplit('/').next().unwrap_or("");
                matches_glob(glob, &url.host)
                    || matches_glob(glob, &url.authority())
                    || matches_glob(glob, file)
            }
            Pattern::ThirdParties(site) => site_of(&url.host) != site,
        }
    }

    /// Returns the URL in the form of this kind of pattern, for messages.
    pub fn describe(&self, url: &Url) -> String {
        match self {
            Pattern::Path(page, _) if page.authority() == url.authority() => {
                url.path_and_query.clone()
            }
            Pattern::Word(_) => {
                let file = url.path().rsplit('/').next().unwrap_or("");
                if file.is_empty() {
                    url.host.clone()
                } else {
                    file.to_owned()
                }
            }
            _ => url.to_string(),
        }
    }
}

/// Appends `/` to a URL without a path.
fn append_root(text: &str) -> String {
    let begins = text.find("://").map_or(0, |at| at + 3);
    if text[begins..].contains('/') {
        text.to_owned()
    } else {
        format!("{text}/")
    }
}

/// Returns `text`, which ends with the URL's query, without the query if `glob` has none.
fn strip_query(glob: &str, url: &Url, text: &str) -> String {
    match url.query() {
        Some(query) if !glob.contains('?') => text[..text.len() - query.len() - 1].to_owned(),
        _ => text.to_owned(),
    }
}

/// Whether `text` matches `glob`, in which `*` matches any characters.
pub fn matches_glob(glob: &str, text: &str) -> bool {
    let (glob, text) = (glob.as_bytes(), text.as_bytes());
    let (mut at, mut place) = (0, 0);
    // The position after the last star, and of the text that it has consumed.
    let mut star: Option<(usize, usize)> = None;
    while place < text.len() {
        if at < glob.len() && glob[at] == b'*' {
            star = Some((at, place));
            at += 1;
        } else if at < glob.len() && glob[at] == text[place] {
            at += 1;
            place += 1;
        } else if let Some((star_at, taken)) = star {
            star = Some((star_at, taken + 1));
            at = star_at + 1;
            place = taken + 1;
        } else {
            return false;
        }
    }
    glob[at..].iter().all(|byte| *byte == b'*')
}

/// Returns the registrable part of a host, judging by its labels, or all of an address.
///
/// The public suffix list has 10,000 entries and changes; on a page of a country's registry that is
/// not among these labels, name third parties by their hosts.
pub fn site_of(host: &str) -> &str {
    if host.starts_with('[')
        || host
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        return host;
    }
    let labels: Vec<&str> = host.split('.').collect();
    let count = labels.len();
    let is_below_registry =
        count >= 3 && labels[count - 1].len() == 2 && REGISTRY_LABELS.contains(&labels[count - 2]);
    let kept = if is_below_registry { 3 } else { 2 };
    let dropped: usize = labels[..count.saturating_sub(kept)]
        .iter()
        .map(|label| label.len() + 1)
        .sum();
    &host[dropped..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    #[test]
    fn patterns_name_objects() {
        let page = url("https://shop.test/a/");
        for (pattern, object, is_of) in [
            ("/app.js", "https://shop.test/app.js", true),
            ("/app.js", "https://shop.test/app.js?v=1", true),
            ("/app.js?v=2", "https://shop.test/app.js?v=1", false),
            ("/app.js?v=1", "https://shop.test/app.js?v=1", true),
            ("/app.js", "https://cdn.test/app.js", false),
            ("/app.js", "http://shop.test/app.js", false),
            ("/*.js", "https://shop.test/a/b.js", true),
            ("//cdn.test/*", "https://cdn.test/app.js", true),
            ("cdn.test/lib/*", "https://cdn.test/lib/x", true),
            ("*/lib/*", "https://cdn.test/lib/x?y", true),
            ("https://cdn.test", "https://cdn.test/", true),
            ("https://cdn.test/*", "https://cdn.test/x", true),
            ("cdn.test", "https://cdn.test/x", true),
            ("*.test", "https://cdn.test/x", true),
            ("cdn.test:8443", "https://cdn.test:8443/x", true),
            ("app.js", "https://cdn.test/deep/app.js?x", true),
            ("*.woff2", "https://cdn.test/a.woff2", true),
            ("*.woff2", "https://cdn.test/a.woff2/b", false),
            ("third-parties", "https://img.shop.test/x", false),
            ("third-parties", "https://ads.test/x", true),
            ("*", "https://ads.test/x", true),
        ] {
            let found = Pattern::read(pattern, &page).matches(&url(object));
            assert_eq!(found, is_of, "{pattern} {object}");
        }
    }

    #[test]
    fn sites_are_what_owners_register() {
        for (host, site) in [
            ("a.b.example", "b.example"),
            ("example", "example"),
            ("www.shop.co.uk", "shop.co.uk"),
            ("co.uk", "co.uk"),
            ("a.co.jp", "a.co.jp"),
            ("x.a.com", "a.com"),
            ("192.0.2.1", "192.0.2.1"),
            ("[2001:db8::1]", "[2001:db8::1]"),
        ] {
            assert_eq!(site_of(host), site);
        }
    }

    /// Whether `text` matches by recursion: both empty, a character and the rest, or a star and any
    /// rest.
    fn matches_glob_recursively(glob: &[u8], text: &[u8]) -> bool {
        match glob.split_first() {
            None => text.is_empty(),
            Some((b'*', rest)) => {
                (0..=text.len()).any(|taken| matches_glob_recursively(rest, &text[taken..]))
            }
            Some((byte, rest)) => {
                text.first() == Some(byte) && matches_glob_recursively(rest, &text[1..])
            }
        }
    }

    proptest! {
        #[test]
        fn stars_stand_for_any_characters(glob in "[ab*]{0,8}", text in "[ab]{0,10}") {
            let expected = matches_glob_recursively(glob.as_bytes(), text.as_bytes());
            prop_assert_eq!(matches_glob(&glob, &text), expected);
        }
    }
}
