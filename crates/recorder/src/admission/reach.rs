//! The servers that a page may reach: public ones, and those allowed on the command line.

use std::net::{IpAddr, SocketAddr};

use eyelevel_addresses::{Prefix, special};
use eyelevel_archive::Url;

use crate::admission::target::Target;

/// The rule that each address is checked against, after its lookup and before connecting.
///
/// A public name allows no private address, because its owner may change the address between
/// lookups. A page's own URL allows only an address that it names literally, at its port.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    named: Vec<Named>,
    own: Vec<IpAddr>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Named {
    /// The address in a URL, allowed only for requests that name it literally.
    Address { address: IpAddr, port: u16 },
    /// `localhost` or a name below it (RFC 6761, section 6.3), if it resolves to loopback.
    Localhost { host: String, port: u16 },
    /// A host at any address; `None` allows any port.
    Host { host: String, port: Option<u16> },
    /// A range of addresses, with any host name.
    Range { range: Prefix, port: Option<u16> },
}

impl Reach {
    /// Creates a rule that allows only public servers, and none of this machine's `own` addresses,
    /// which may be public.
    pub fn new(own: Vec<IpAddr>) -> Self {
        Self {
            named: Vec::new(),
            own,
        }
    }

    /// Allows the URL of a page to record.
    pub fn allow_page(&mut self, url: &Url) {
        let (host, port) = (url.host.trim_matches(['[', ']']).to_owned(), url.port);
        if let Ok(address) = host.parse() {
            self.named.push(Named::Address { address, port });
        } else if is_localhost(&host) {
            self.named.push(Named::Localhost { host, port });
        }
    }

    /// Allows `HOST`, `HOST:PORT`, an address, also with a port (IPv6 in brackets), or a range.
    ///
    /// # Errors
    ///
    /// Returns a sentence if the text is none of these.
    pub fn allow(&mut self, text: &str) -> Result<(), String> {
        self.named.push(parse(text).ok_or_else(|| {
            format!(
                "--allow {text:?}: write HOST, HOST:PORT, an address such as 192.168.7.1 or \
                 [fd00::1]:8000, or a range such as 192.168.7.0/24"
            )
        })?);
        Ok(())
    }

    /// Checks whether the server may be connected to at the address; the error states why not.
    pub(crate) fn judge(&self, target: &Target, address: SocketAddr) -> Result<(), String> {
        let ip = address.ip().to_canonical();
        let is_own = || self.own.iter().any(|own| own.to_canonical() == ip);
        let reason = match special(address.ip()) {
            Some(special) => special.to_string(),
            None if is_own() => "this machine's own".to_owned(),
            None => return Ok(()),
        };
        if self.named.iter().any(|named| named.covers(target, ip)) {
            return Ok(());
        }
        let server = target.authority();
        let is_literal = target.host.parse::<IpAddr>().is_ok();
        Err(match is_literal {
            true => format!("{server} is {reason}"),
            false => format!("{server} is at {ip}, {reason}"),
        })
    }
}

impl Named {
    fn covers(&self, target: &Target, ip: IpAddr) -> bool {
        match self {
            Self::Address { address, port } => {
                let is_itself = target.host.parse() == Ok(*address);
                is_itself && ip == address.to_canonical() && target.port == *port
            }
            Self::Localhost { host, port } => {
                target.host == *host && target.port == *port && ip.is_loopback()
            }
            Self::Host { host, port } => {
                target.host == *host && port.is_none_or(|port| target.port == port)
            }
            Self::Range { range, port } => {
                range.contains(ip) && port.is_none_or(|port| target.port == port)
            }
        }
    }
}

/// Whether `host` is `localhost` or a name below it.
pub(crate) fn is_localhost(host: &str) -> bool {
    let rest = host.trim_end_matches('.').strip_suffix("localhost");
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

fn parse(text: &str) -> Option<Named> {
    if let Ok(range) = text.trim_matches(['[', ']']).parse() {
        return Some(Named::Range { range, port: None });
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (host, Some(port.parse().ok()?)),
        None => (text, None),
    };
    if let Ok(range) = host.trim_matches(['[', ']']).parse() {
        return Some(Named::Range { range, port });
    }
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name = !host.is_empty() && host.bytes().all(is_of_name);
    is_name.then(|| Named::Host {
        host: host.to_ascii_lowercase(),
        port,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use eyelevel_archive::Scheme;

    /// Whether `server` (`host:port`) is allowed at the looked-up `address`.
    fn is_reached(reach: &Reach, server: &str, address: &str) -> bool {
        let (host, port) = server.rsplit_once(':').unwrap();
        let target = Target {
            scheme: Scheme::Http,
            host: host.trim_matches(['[', ']']).to_owned(),
            port: port.parse().unwrap(),
        };
        let address = SocketAddr::new(address.parse().unwrap(), target.port);
        reach.judge(&target, address).is_ok()
    }

    fn page(url: &str) -> Reach {
        let mut reach = Reach::new(vec!["8.8.4.4".parse().unwrap()]);
        reach.allow_page(&url.parse().unwrap());
        reach
    }

    #[test]
    fn localhost_and_all_below_it_are_local() {
        for host in ["localhost", "tags.localhost", "a.b.localhost."] {
            assert!(is_localhost(host), "{host}");
        }
        for host in ["mylocalhost", "localhost.example", "", "."] {
            assert!(!is_localhost(host), "{host}");
        }
    }

    #[test]
    fn a_public_page_opens_nothing_that_is_not_public() {
        let reach = page("http://a.example/");
        for (server, address, expected) in [
            ("a.example:80", "93.184.215.14", true),
            ("a.example:80", "2606:2800:21f::1", true),
            // The name's owner changes its address before the next lookup.
            ("a.example:80", "127.0.0.1", false),
            ("a.example:80", "::ffff:127.0.0.1", false),
            ("a.example:80", "169.254.169.254", false),
            ("a.example:80", "64:ff9b::169.254.169.254", false),
            ("a.example:80", "fd00:ec2::254", false),
            ("2130706433:80", "127.0.0.1", false),
            ("0177.1:80", "127.0.0.1", false),
            ("0x7f.0.0.1:80", "127.0.0.1", false),
            ("[::1]:80", "::1", false),
            ("localhost:80", "127.0.0.1", false),
            ("a.example:80", "8.8.4.4", false), // a public address of this machine
            ("a.example:80", "::ffff:8.8.4.4", false),
        ] {
            assert_eq!(
                is_reached(&reach, server, address),
                expected,
                "{server} {address}"
            );
        }
    }

    #[test]
    fn a_page_at_an_address_opens_that_one_at_its_port() {
        let reach = page("http://127.0.0.1:8000/x");
        assert!(is_reached(&reach, "127.0.0.1:8000", "127.0.0.1"));
        for (server, address) in [
            ("127.0.0.1:8001", "127.0.0.1"),
            ("127.0.0.2:8000", "127.0.0.2"),
            ("a.example:8000", "127.0.0.1"),
            ("localhost:8000", "127.0.0.1"),
            ("[::ffff:127.0.0.1]:8000", "127.0.0.1"),
        ] {
            assert!(!is_reached(&reach, server, address), "{server} {address}");
        }
        assert!(is_reached(&page("http://[::1]:8000/"), "[::1]:8000", "::1"));
        assert!(is_reached(
            &page("http://8.8.4.4/"),
            "8.8.4.4:80",
            "8.8.4.4"
        ));
        assert!(is_reached(
            &page("http://[::ffff:a00:1]/"),
            "[::ffff:10.0.0.1]:80",
            "::ffff:10.0.0.1"
        ));
        let localhost = page("http://localhost:8000/");
        assert!(is_reached(&localhost, "localhost:8000", "::1"));
        assert!(!is_reached(&localhost, "localhost:8000", "10.0.0.1"));
        assert!(!is_reached(&localhost, "127.0.0.1:8000", "127.0.0.1"));
    }

    #[test]
    fn allowed_servers_are_hosts_addresses_or_ranges() {
        for (text, server, address, expected) in [
            ("intranet.lan", "intranet.lan:8443", "10.1.2.3", true),
            ("Intranet.lan:80", "intranet.lan:80", "10.1.2.3", true),
            ("intranet.lan:80", "intranet.lan:81", "10.1.2.3", false),
            ("intranet.lan", "x.intranet.lan:80", "10.1.2.3", false),
            ("10.1.2.3", "a.example:80", "10.1.2.3", true),
            ("10.1.2.3:80", "a.example:81", "10.1.2.3", false),
            ("10.1.0.0/16", "a.example:80", "::ffff:10.1.2.3", true),
            ("10.1.0.0/16", "a.example:80", "10.2.2.3", false),
            ("[fd00::1]:8000", "a.example:8000", "fd00::1", true),
            ("fd00::1", "a.example:8000", "fd00::1", true),
            ("fd00::1", "a.example:8000", "fd00::2", false),
        ] {
            let mut reach = Reach::default();
            reach.allow(text).unwrap();
            assert_eq!(
                is_reached(&reach, server, address),
                expected,
                "{text} {server}"
            );
        }
        for text in [
            "",
            ":80",
            "a b",
            "http://a/",
            "a:b",
            "a:80:90",
            "10.0.0.0/33",
        ] {
            assert!(Reach::default().allow(text).is_err(), "{text}");
        }
    }
}
