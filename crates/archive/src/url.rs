//! Absolute http and https URLs, in the one spelling in which a browser asks for them.

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
    /// `http` or `https`.
    pub fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    /// 80 or 443.
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

/// An absolute URL without user info and fragment: what is sent to a server.
///
/// Parsing does what browsers do (WHATWG URL), so that a text that a tool stored as its user wrote
/// it stands for the request that a browser makes of it: a host in Unicode becomes Punycode (UTS
/// 46), an address has its one form, dot segments are resolved, and what a request line cannot hold
/// is percent-encoded.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Url {
    /// http or https.
    pub scheme: Scheme,
    /// Lower case; an IPv6 address in brackets.
    pub host: String,
    /// The explicit port or the scheme's.
    pub port: u16,
    /// Begins with `/`; holds `?` and the query where there is one.
    pub path_and_query: String,
}

/// Why a text is not a URL that can be replayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a URL to replay: {reason}; write https://HOST/PATH")]
pub struct UrlError {
    /// The text, cut to 200 characters.
    pub text: String,
    /// What is wrong.
    pub reason: &'static str,
}

impl Url {
    /// The path without the query.
    pub fn path(&self) -> &str {
        self.path_and_query
            .split_once('?')
            .map_or(&*self.path_and_query, |(path, _)| path)
    }

    /// The query without its `?`, where there is one.
    pub fn query(&self) -> Option<&str> {
        self.path_and_query.split_once('?').map(|(_, query)| query)
    }

    /// Host and, unless it is the scheme's own, port: the value of `Host` and `:authority`.
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() {
            self.host.clone()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// Resolves the `Location` of a redirect from this URL, as a browser does.
    pub fn join(&self, location: &str) -> Result<Url, UrlError> {
        let base = BrowserUrl::parse(&self.to_string());
        let joined = base.and_then(|base| base.join(location));
        joined
            .map_err(reason_of)
            .and_then(|url| Self::of_browser(&url))
            .map_err(|reason| UrlError::new(location, reason))
    }

    /// Takes what is sent to a server from a parsed URL; the error is the reason if nothing can be.
    fn of_browser(url: &BrowserUrl) -> Result<Self, &'static str> {
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return Err("its scheme is neither http nor https"),
        };
        let host = url.host_str().unwrap_or("");
        // The standard lets more stand in a host than resolvers and certificates take.
        let host_is_valid = !host.is_empty()
            && host
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-._~[]:".contains(&byte));
        if !host_is_valid {
            return Err("its host has characters that no name in DNS has");
        }
        // Chromium encodes it, as the standard does since 2024; the crate does not yet.
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
            false => BrowserUrl::parse(text).map_err(reason_of),
        };
        parsed
            .and_then(|url| Self::of_browser(&url))
            .map_err(|reason| UrlError::new(text, reason))
    }
}

fn reason_of(error: ParseError) -> &'static str {
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
            // What browsers resolve before they ask.
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

    /// UTS 46 without transitional mappings, and the forms of addresses, as browsers read them.
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
    fn what_cannot_be_replayed_is_refused() {
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
        /// Whatever was written, the one spelling is its own, and can stand in a request line.
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

        /// A URL that a browser requested, as nearly all of a recording are, is not changed.
        #[test]
        fn what_was_asked_for_stays(
            host in "[a-w][a-z0-9-]{0,9}(\\.[a-z]{2,5}){1,2}",
            target in "(/[a-z0-9_~!$&'()*+,;=:@|-]{1,6}|/%[A-F][0-9]){0,4}/?(\\?[a-z0-9/?&=+%{}.-]{0,9})?",
        ) {
            let path = if target.starts_with('/') { "" } else { "/" };
            let text = format!("https://{host}{path}{target}");
            prop_assert_eq!(text.parse::<Url>().unwrap().to_string(), text);
        }
    }
}
