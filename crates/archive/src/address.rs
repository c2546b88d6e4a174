//! Addresses of servers as recorders write them.

use std::net::{IpAddr, SocketAddr};

/// Parses an address, in brackets or with a port as some writers have it.
pub fn parse_address(text: &str) -> Option<IpAddr> {
    let alone = text.trim_matches(['[', ']']).parse().ok();
    alone.or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_in_brackets_and_with_ports() {
        for (text, address) in [
            ("192.0.2.1", Some("192.0.2.1")),
            ("192.0.2.1:443", Some("192.0.2.1")),
            ("2001:db8::1", Some("2001:db8::1")),
            ("[2001:db8::1]", Some("2001:db8::1")),
            ("[2001:db8::1]:443", Some("2001:db8::1")),
            ("a.test", None),
            ("", None),
        ] {
            let expected = address.map(|address| address.parse().unwrap());
            assert_eq!(parse_address(text), expected, "{text}");
        }
    }
}
