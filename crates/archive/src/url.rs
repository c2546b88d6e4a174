//! Absolute http and https URLs, in the one spelling in which a browser asks for them.

use std::fmt;
use std::str::FromStr;

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
/// Parsing lowercases scheme and host, fills in port and path, and percent-encodes what a browser
/// would encode (WHATWG URL, path and special-query percent-encode sets). Dot segments stay, since
/// a recorded request has none left.
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

    /// Resolves the `Location` of a redirect from this URL: absolute, `//host/...`, or a path.
    pub fn join(&self, location: &str) -> Result<Url, UrlError> {
        let location = location.trim();
        if location.contains("://") && !location.starts_with(['/', '?', '#']) {
            return location.parse();
        }
        if location.starts_with("//") {
            return format!("{}:{location}", self.scheme).parse();
        }
        let path = match location.as_bytes().first() {
            Some(b'/') => location.to_owned(),
            Some(b'?') => format!("{}{location}", self.path()),
            _ => {
                let directory_end = self.path().rfind('/').map_or(0, |slash| slash + 1);
                format!("{}{location}", &self.path()[..directory_end])
            }
        };
        format!("{}://{}{path}", self.scheme, self.authority()).parse()
    }
}

impl FromStr for Url {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let error = |reason| UrlError {
            text: text.chars().take(200).collect(),
            reason,
        };
        if text.len() > URL_BYTES_MAX {
            return Err(error("it is longer than a browser takes"));
        }
        let (scheme, rest) = text.split_once("://").ok_or(error("it has no `://`"))?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return Err(error("its scheme is neither http nor https")),
        };
        let rest = rest.split_once('#').map_or(rest, |(rest, _fragment)| rest);
        let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let authority = authority
            .rsplit_once('@')
            .map_or(authority, |(_user, host)| host);
        let (host, port) = split_port(authority).ok_or(error("its port is not a number"))?;
        let host_is_valid = !host.is_empty()
            && host
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-._~[]:".contains(&byte));
        if !host_is_valid {
            return Err(error("its host is empty or not in ASCII (Punycode) form"));
        }
        let mut path_and_query = String::with_capacity(target.len() + 1);
        if !target.starts_with('/') {
            path_and_query.push('/');
        }
        encode_into(&mut path_and_query, target);
        Ok(Url {
            scheme,
            host: host.to_ascii_lowercase(),
            port: port.unwrap_or(scheme.default_port()),
            path_and_query,
        })
    }
}

/// Splits `host:port`; `None` where the port is not one.
fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let after_brackets = authority.rfind(']').map_or(0, |end| end + 1);
    match authority[after_brackets..].rfind(':') {
        None => Some((authority, None)),
        Some(colon) => {
            let (host, port) = authority.split_at(after_brackets + colon);
            let port = &port[1..];
            if port.is_empty() {
                return Some((host, None));
            }
            let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
            is_number
                .then(|| port.parse().ok())
                .flatten()
                .map(|port| (host, Some(port)))
        }
    }
}

fn encode_into(out: &mut String, target: &str) {
    let mut in_query = false;
    for character in target.chars() {
        in_query |= character == '?';
        let encode = match character {
            '\u{0}'..='\u{20}' | '\u{7f}'.. | '"' | '<' | '>' => true,
            '\'' => in_query,
            '^' | '`' | '{' | '}' => !in_query,
            _ => false,
        };
        if encode {
            let mut buffer = [0; 4];
            for byte in character.encode_utf8(&mut buffer).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        } else {
            out.push(character);
        }
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

    #[test]
    fn spellings_become_one() {
        for (text, expected) in [
            ("https://Example.TEST", "https://example.test/"),
            ("https://example.test:443/a?b#c", "https://example.test/a?b"),
            ("http://example.test:8080/", "http://example.test:8080/"),
            ("https://example.test?q=1", "https://example.test/?q=1"),
            ("https://user:pass@example.test/", "https://example.test/"),
            (
                "https://example.test/a b|c?d='e'{}",
                "https://example.test/a%20b|c?d=%27e%27{}",
            ),
            ("https://example.test/ü", "https://example.test/%C3%BC"),
            ("https://example.test/%7Ea", "https://example.test/%7Ea"),
            ("https://[2001:db8::1]:444/", "https://[2001:db8::1]:444/"),
        ] {
            let url: Url = text.parse().unwrap();
            assert_eq!(url.to_string(), expected, "{text}");
            assert_eq!(url.to_string().parse::<Url>().unwrap(), url);
        }
    }

    #[test]
    fn what_cannot_be_replayed_is_refused() {
        for text in [
            "",
            "urn:x",
            "dns://a/",
            "https://",
            "https://a:b/",
            "https://a:70000/",
            "https://ü/",
        ] {
            assert!(text.parse::<Url>().is_err(), "{text}");
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
        ] {
            assert_eq!(
                base.join(location).unwrap().to_string(),
                expected,
                "{location}"
            );
        }
    }
}
