//! Absolute http and https URLs, normalised as browsers do before a request.

use std::fmt;
use std::str::FromStr;

use ::url::{ParseError, Url as BrowserUrl};
use serde::{Deserialize, Serialize};

use crate::limits::URL_BYTES_MAX;

/// The scheme of a replayed URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Plain HTTP.
    Http,
    /// HTTP over TLS or QUIC.
    Https,
}

impl Scheme {
    /// Returns `http` or `https`.
    pub fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    /// Returns 80 or 443.
    pub fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// An absolute URL without user info and fragment, as sent to a server.
///
/// Parsing follows the WHATWG URL standard, so that a URL stored as its user typed it equals the
/// request that a browser makes: a Unicode host becomes Punycode (UTS 46), addresses are canonical,
/// dot segments are resolved, and characters that a request line cannot hold are percent-encoded.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Url {
    /// The scheme, http or https.
    pub scheme: Scheme,
    /// The host in lower case; an IPv6 address is in brackets.
    pub host: String,
    /// The explicit port, or the scheme's default.
    pub port: u16,
    /// The path and query; begins with `/`.
    pub path_and_query: String,
}

/// The reason why a text is not a URL that can be replayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a URL to replay: {reason}; write https://HOST/PATH")]
pub struct UrlError {
    /// The text, cut to 200 characters.
    pub text: String,
    /// What is wrong.
    pub reason: &'static str,
}

impl Url {
    /// Returns the path without the query.
    pub fn path(&self) -> &str {
        self.path_and_query
            .split_once('?')
            .map_or(&*self.path_and_query, |(path, _)| path)
    }

    /// Returns the query without its `?`, if there is one.
    pub fn query(&self) -> Option<&str> {
        self.path_and_query.split_once('?').map(|(_, query)| query)
    }

    /// Returns the host and, unless it is the scheme's default, the port: the value of `Host` and
    /// `:authority`.
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() {
            self.host.clone()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// Resolves the `Location` of a redirect against this URL, as browsers do.
    pub fn join(&self, location: &str) -> Result<Url, UrlError> {
        let base = BrowserUrl::parse(&self.to_string());
        let joined = base.and_then(|base| base.join(location));
        joined
            .map_err(describe_parse_error)
            .and_then(|url| Self::from_browser_url(&url))
            .map_err(|reason| UrlError::new(location, reason))
    }

    /// Converts a parsed URL to what is sent to a server, or returns the reason why that is
    /// impossible.
    fn from_browser_url(url: &BrowserUrl) -> Result<Self, &'static str> {
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return Err("its scheme is neither http nor https"),
        };
        let host = url.host_str().unwrap_or("");
        // The standard allows characters in a host that resolvers and certificates do not.
        let host_is_valid = !host.is_empty()
            && host
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-._~[]:".contains(&byte));
        if !host_is_valid {
            return Err("its host has characters that no name in DNS has");
        }
        // Chromium and, since 2024, the standard encode it; the crate does not yet.
        let mut path_and_query = url.path().replace('^', "%5E");
        if let Some(query) = url.query() {
            path_and_query.push('?');
            path_and_query.push_str(query);
        }
        Ok(Self {
            scheme,
            host: host.to_owned(),
            port: url.port().unwrap_or(scheme.default_port()),
            path_and_query,
        })
    }
}

impl UrlError {
    fn new(text: &str, reason: &'static str) -> Self {
        Self {
            text: text.chars().take(200).collect(),
            reason,
        }
    }
}

impl FromStr for Url {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let parsed = match text.len() > URL_BYTES_MAX {
            true => Err("it is longer than a browser takes"),
            false => BrowserUrl::parse(text).map_err(describe_parse_error),
        };
        parsed
            .and_then(|url| Self::from_browser_url(&url))
            .map_err(|reason| UrlError::new(text, reason))
    }
}

fn describe_parse_error(error: ParseError) -> &'static str {
    match error {
        ParseError::RelativeUrlWithoutBase => "it has no scheme",
        ParseError::EmptyHost => "it has no host",
        ParseError::InvalidPort => "its port is not a number up to 65535",
        ParseError::IdnaError => "its host is not a name that browsers look up (UTS 46)",
        ParseError::InvalidIpv4Address | ParseError::InvalidIpv6Address => {
            "its host is an address in no form that browsers take"
        }
        ParseError::InvalidDomainCharacter => "its host has characters that no name in DNS has",
        _ => "browsers do not take it",
    }
}

impl fmt::Display for Url {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}://{}{}",
            self.scheme,
            self.authority(),
            self.path_and_query
        )
    }
}

impl Serialize for Url {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Url {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_become_one() {
        for (text, expected) in [
            ("https://Example.TEST", "https://example.test/"),
            ("https://example.test:443/a?b#c", "https://example.test/a?b"),
            ("http://example.test:8080/", "http://example.test:8080/"),
            ("https://example.test?q=1", "https://example.test/?q=1"),
            ("https://example.test/empty?", "https://example.test/empty?"),
            ("https://user:pass@example.test/", "https://example.test/"),
            (
                "https://example.test/a b|c?d='e'{}",
                "https://example.test/a%20b|c?d=%27e%27{}",
            ),
            (
                "https://example.test/^`{}?^`",
                "https://example.test/%5E%60%7B%7D?^`",
            ),
            ("https://example.test/ü", "https://example.test/%C3%BC"),
            ("https://example.test/%7Ea", "https://example.test/%7Ea"),
            (
                "https://example.test//double//",
                "https://example.test//double//",
            ),
            // What browsers resolve before a request.
            (
                "https://example.test/a/../b/./c",
                "https://example.test/b/c",
            ),
            (
                "https://example.test/a/%2e%2E/b?x=/../y",
                "https://example.test/b?x=/../y",
            ),
            (
                "https:\\\\example.test\\a\\b?c\\d",
                "https://example.test/a/b?c\\d",
            ),
            ("  https://example.test/\t", "https://example.test/"),
            ("https://exa\tmple.test/a\n\rb", "https://example.test/ab"),
            ("https:example.test", "https://example.test/"),
        ] {
            let url: Url = text.parse().unwrap();
            assert_eq!(url.to_string(), expected, "{text}");
            assert_eq!(url.to_string().parse::<Url>().unwrap(), url);
        }
    }

    /// UTS 46 without transitional mappings, and the forms of addresses that browsers read.
    #[test]
    fn hosts_are_those_that_browsers_look_up() {
        for (host, expected) in [
            ("bücher.example", "xn--bcher-kva.example"),
            ("BÜCHER.example", "xn--bcher-kva.example"),
            ("b\u{fc}cher.example", "xn--bcher-kva.example"),
            ("ko\u{308}ln.example", "xn--kln-sna.example"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("straße.test", "xn--strae-oqa.test"),
            ("βόλος.test", "xn--nxasmm1c.test"),
            ("例え。テスト", "xn--r8jz45g.xn--zckzah"),
            ("ｅｘａｍｐｌｅ.test", "example.test"),
            ("exa\u{ad}mple.test", "example.test"),
            ("☃.test", "xn--n3h.test"),
            ("fa%C3%9F.test", "xn--fa-hia.test"),
            ("a%2Etest", "a.test"),
            ("my_host.test", "my_host.test"),
            ("a--b.test", "a--b.test"),
            ("-a-.test", "-a-.test"),
            ("a.test.", "a.test."),
            ("127.1", "127.0.0.1"),
            ("0x7f.1", "127.0.0.1"),
            ("017700000001", "127.0.0.1"),
            ("192.0.2.7.", "192.0.2.7"),
            ("１９２.0.2.7", "192.0.2.7"),
            ("[2001:DB8:0:0:0:0:0:2]", "[2001:db8::2]"),
            ("[::ffff:192.0.2.7]", "[::ffff:c000:207]"),
        ] {
            let url: Url = format!("https://{host}:444/").parse().unwrap();
            assert_eq!((&*url.host, url.port), (expected, 444), "{host}");
            assert_eq!(url.to_string().parse::<Url>().unwrap(), url);
        }
    }

    #[test]
    fn unreplayable_urls_are_refused() {
        for text in [
            "",
            "urn:x",
            "dns://a/",
            "//a.test/",
            "a.test",
            "https://",
            "https://?a",
            "https://a:b/",
            "https://a:70000/",
            "https://a b/",
            "https://a$b.test/",
            "https://a%00.test/",
            "https://xn--a.test/",
            "https://xn--ascii-.test/",
            "https://a\u{200d}b.test/",
            "https://\u{5d0}a.test/",
            "https://\u{ad}/",
            "https://1.2.3.256/",
            "https://1.2.3.4.5/",
            "https://a.0x/%",
            "https://[2001:db8::1/",
            "https://[2001:db8::1::2]/",
            "https://[fe80::1%25eth0]/",
        ] {
            let read = text.parse::<Url>();
            assert!(read.is_err(), "{text}: {read:?}");
        }
        let long = format!("https://a.test/{}", "a".repeat(URL_BYTES_MAX));
        let error = long.parse::<Url>().unwrap_err();
        assert!(error.to_string().len() < 300, "{error}");
    }

    #[test]
    fn locations_resolve() {
        let base: Url = "https://example.test/a/b?c".parse().unwrap();
        for (location, expected) in [
            ("http://other.test/x", "http://other.test/x"),
            ("//other.test/x", "https://other.test/x"),
            ("/x?u=https://y/", "https://example.test/x?u=https://y/"),
            ("x", "https://example.test/a/x"),
            ("?x", "https://example.test/a/b?x"),
            ("", "https://example.test/a/b?c"),
            ("#x", "https://example.test/a/b?c"),
            ("../x/./y", "https://example.test/x/y"),
            (" x\n", "https://example.test/a/x"),
            (
                "in?next=https://y/",
                "https://example.test/a/in?next=https://y/",
            ),
            ("https:x", "https://example.test/a/x"),
            ("//bücher.example", "https://xn--bcher-kva.example/"),
        ] {
            assert_eq!(
                base.join(location).unwrap().to_string(),
                expected,
                "{location}"
            );
        }
        for location in ["data:,x", "https://", "//a:b"] {
            let error = base.join(location).unwrap_err().to_string();
            assert!(error.contains(location), "{error}");
        }
    }

    proptest! {
        /// A normalised URL parses to itself and fits in a request line.
        #[test]
        fn a_spelling_is_read_as_itself(
            host in r"[a-zA-Z0-9üßД例%_~.\-]{1,12}",
            target in r"(/|\\|\.|%2e|%2E|%|[ -~]|ü|\t|\PC){0,20}",
        ) {
            if let Ok(url) = format!("https://{host}/{target}").parse::<Url>() {
                let text = url.to_string();
                prop_assert!(text.bytes().all(|byte| byte.is_ascii_graphic()), "{}", text);
                prop_assert!(url.path().split('/').all(|segment| segment != ".." && segment != "."));
                prop_assert_eq!(text.parse::<Url>(), Ok(url));
            }
        }

        /// A URL that a browser requested, like nearly all of a recording, is not changed.
        #[test]
        fn requested_urls_stay(
            host in "[a-w][a-z0-9-]{0,9}(\\.[a-z]{2,5}){1,2}",
            target in "(/[a-z0-9_~!$&'()*+,;=:@|-]{1,6}|/%[A-F][0-9]){0,4}/?(\\?[a-z0-9/?&=+%{}.-]{0,9})?",
        ) {
            let path = if target.starts_with('/') { "" } else { "/" };
            let text = format!("https://{host}{path}{target}");
            prop_assert_eq!(text.parse::<Url>().unwrap().to_string(), text);
        }
    }
}
