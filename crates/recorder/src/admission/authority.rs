//! Checks that a request names only the server that it is sent to.

use http::uri::Authority;
use http::{Request, header};

use crate::admission::target::Target;

/// Checks every authority that the request names (in its URI, `:authority` and each `Host`) against
/// the server that it is sent to. It may name none.
///
/// # Errors
///
/// Returns the first that differs, shortened to fit in a sentence.
pub fn check_authority<B>(request: &Request<B>, target: &Target) -> Result<(), String> {
    let of_uri = request.uri().authority().map(Authority::as_str);
    let hosts = request.headers().get_all(header::HOST);
    let of_fields = hosts
        .iter()
        .map(|value| value.to_str().unwrap_or("\u{fffd}"));
    match of_uri
        .into_iter()
        .chain(of_fields)
        .find(|named| !names_target(named, target))
    {
        Some(other) => Err(other.chars().take(NAMED_CHARACTERS_MAX).collect()),
        None => Ok(()),
    }
}

const NAMED_CHARACTERS_MAX: usize = 100;

/// Whether `named` is exactly `HOST` or `HOST:PORT` of the target. A URI parser would ignore text
/// after the brackets of an IPv6 address.
fn names_target(named: &str, target: &Target) -> bool {
    let with_port = named.rsplit_once(':').filter(|(_, port)| is_port(port));
    let (host, port) = match with_port {
        Some((host, port)) => (host, port.parse().ok()),
        None => (named, Some(target.scheme.default_port())),
    };
    let host = match target.host.contains(':') {
        true => host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']')),
        false => Some(host),
    };
    let is_host = |host: &str| host.is_ascii() && host.eq_ignore_ascii_case(&target.host);
    port == Some(target.port) && host.is_some_and(is_host)
}

fn is_port(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
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

    fn check(uri: &str, hosts: &[&str], target: &Target) -> Result<(), String> {
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
            assert_eq!(check("/x", hosts, &secure), Ok(()), "{hosts:?}");
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
            assert_eq!(check("/x", hosts, &secure), Err(told.to_owned()));
        }
        // The replacement character for a field that is not text must not match a host.
        let no_text = target(Scheme::Https, "\u{fffd}", 443);
        assert!(!names_target("\u{fffd}", &no_text));
        assert!(check("https://a.example/x", &["b.example"], &secure).is_err());
        assert!(check("https://b.example/x", &["a.example"], &secure).is_err());
        assert!(check("https://b.example/x", &[], &secure).is_err());
        assert!(check("https://a.example/x", &["a.example"], &secure).is_ok());
        let six = target(Scheme::Http, "::1", 8000);
        assert!(check("/", &["[::1]:8000"], &six).is_ok());
        for other in [
            "[::1]",
            "[::1]S:8000",
            "::1:8000",
            "[::1]:+8000",
            "[[::1]]:8000",
        ] {
            assert!(check("/", &[other], &six).is_err(), "{other}");
        }
        let six = target(Scheme::Http, "::1", 80);
        assert!(check("/", &["[::1]"], &six).is_ok());
        assert_eq!(
            check("/", &[&"a".repeat(500)], &secure).unwrap_err().len(),
            100
        );
    }
}
