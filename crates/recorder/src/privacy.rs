//! Selects the fields to store.

use eyelevel_archive::Header;

/// Fields that identify a user: not stored by default.
const PRIVATE_FIELDS: [&str; 6] = [
    "authorization",
    "cookie",
    "cookie2",
    "proxy-authorization",
    "set-cookie",
    "set-cookie2",
];

/// Fields between a client and its proxy, which are not part of the exchange with the server.
const PROXY_FIELDS: [&str; 2] = ["proxy-connection", "proxy-authorization"];

/// A field that a replay adds, dropped so that recording a replay gives the same recording.
const REPLAY_FIELD: &str = "x-eyelevel-match";

/// Whether the field is only between client and proxy.
pub fn is_proxy_field(name: &str) -> bool {
    PROXY_FIELDS
        .iter()
        .any(|each| each.eq_ignore_ascii_case(name))
}

/// Returns the fields to store, in their order.
pub fn select_stored(headers: Vec<Header>, keep_cookies: bool) -> Vec<Header> {
    let is_kept = |header: &Header| {
        let is_private = PRIVATE_FIELDS.iter().any(|name| header.is(name));
        !is_proxy_field(&header.name) && !header.is(REPLAY_FIELD) && (keep_cookies || !is_private)
    };
    headers.into_iter().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_and_credentials_are_dropped_unless_asked_for() {
        let headers = || {
            let names = ["Host", "Cookie", "AUTHORIZATION", "Proxy-Connection", "x"];
            let all = names.into_iter().chain(["X-Eyelevel-Match"]);
            all.map(|name| Header::new(name, "1")).collect()
        };
        let names = |keep| -> Vec<String> {
            let kept = select_stored(headers(), keep).into_iter();
            kept.map(|header| header.name).collect()
        };
        assert_eq!(names(false), ["Host", "x"]);
        assert_eq!(names(true), ["Host", "Cookie", "AUTHORIZATION", "x"]);
    }
}
