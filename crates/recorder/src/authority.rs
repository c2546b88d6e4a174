//! Whom a request is for: a client must not name another server than the one that it is sent to.

use http::uri::Authority;
use http::{Request, header};

use crate::target::Target;

/// Holds every authority that the request names (its URI's, `:authority`, each `Host`) against the
/// server that it goes to; a request may name none.
///
/// # Errors
/// The first that is another one, cut to what fits into a sentence.
pub fn check_authority<B>(request: &Request<B>, target: &Target) -> Result<(), String> {
    let of_uri = request.uri().authority().map(Authority::as_str);
    let hosts = request.headers().get_all(header::HOST);
    let of_fields = hosts
        .iter()
        .map(|value| value.to_str().unwrap_or("\u{fffd}"));
    match of_uri
        .into_iter()
        .chain(of_fields)
        .find(|named| !is_of(named, target))
    {
        Some(other) => Err(other.chars().take(NAMED_CHARACTERS_MAX).collect()),
        None => Ok(()),
    }
}

const NAMED_CHARACTERS_MAX: usize = 100;

fn is_of(named: &str, target: &Target) -> bool {
    let Ok(authority) = named.parse::<Authority>() else {
        return false;
    };
    let host = authority.host().trim_matches(['[', ']']);
    let has_port = named
        .rsplit_once(':')
        .is_some_and(|(_, port)| !port.ends_with(']'));
    let port = match has_port {
        true => authority.port_u16(),
        false => Some(target.scheme.default_port()),
    };
    !named.contains('@') && host.eq_ignore_ascii_case(&target.host) && port == Some(target.port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eyelevel_archive::Scheme;

    fn target(scheme: Scheme, host: &str, port: u16) -> Target {
        Target {
            scheme,
            host: host.to_owned(),
            port,
        }
    }

    fn named(uri: &str, hosts: &[&str], target: &Target) -> Result<(), String> {
        let mut request = Request::builder().uri(uri);
        for host in hosts {
            request = request.header("host", *host);
        }
        check_authority(&request.body(()).unwrap(), target)
    }

    #[test]
    fn a_request_names_the_server_that_it_goes_to_or_none() {
        let secure = target(Scheme::Https, "a.example", 443);
        for hosts in [
            &[][..],
            &["a.example"],
            &["A.Example:443"],
            &["a.example", "a.example"],
        ] {
            assert_eq!(named("/x", hosts, &secure), Ok(()), "{hosts:?}");
        }
        for (hosts, told) in [
            (&["b.example"][..], "b.example"),
            (&["a.example", "b.example"], "b.example"),
            (&["a.example:444"], "a.example:444"),
            (&["a.example:"], "a.example:"),
            (&["a.example:80"], "a.example:80"),
            (&["a.example."], "a.example."),
            (&["x@a.example"], "x@a.example"),
            (&["a.example/x"], "a.example/x"),
            (&[""], ""),
        ] {
            assert_eq!(named("/x", hosts, &secure), Err(told.to_owned()));
        }
        assert!(named("https://a.example/x", &["b.example"], &secure).is_err());
        assert!(named("https://b.example/x", &["a.example"], &secure).is_err());
        assert!(named("https://b.example/x", &[], &secure).is_err());
        assert!(named("https://a.example/x", &["a.example"], &secure).is_ok());
        let six = target(Scheme::Http, "::1", 8000);
        assert!(named("/", &["[::1]:8000"], &six).is_ok());
        assert!(named("/", &["[::1]"], &six).is_err());
        let six = target(Scheme::Http, "::1", 80);
        assert!(named("/", &["[::1]"], &six).is_ok());
        assert_eq!(
            named("/", &[&"a".repeat(500)], &secure).unwrap_err().len(),
            100
        );
    }
}
