//! Which fields are kept of what passes.

use eyelevel_archive::Header;

/// Fields that tell who somebody is: not stored unless asked for.
const PRIVATE: [&str; 6] = [
    "authorization",
    "cookie",
    "cookie2",
    "proxy-authorization",
    "set-cookie",
    "set-cookie2",
];

/// Fields between a client and its proxy: never of an exchange with the server.
const OF_THE_PROXY: [&str; 2] = ["proxy-connection", "proxy-authorization"];

/// The field that our replay adds: a recording of a replay is the recording again.
const OF_A_REPLAY: &str = "x-eyelevel-match";

/// Whether the field is only between the client and the proxy.
pub fn is_of_the_proxy(name: &str) -> bool {
    OF_THE_PROXY
        .iter()
        .any(|each| each.eq_ignore_ascii_case(name))
}

/// The fields to store, in their order.
pub fn kept(headers: Vec<Header>, keep_cookies: bool) -> Vec<Header> {
    let is_kept = |header: &Header| {
        let is_private = PRIVATE.iter().any(|name| header.is(name));
        !is_of_the_proxy(&header.name) && !header.is(OF_A_REPLAY) && (keep_cookies || !is_private)
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
            let kept = kept(headers(), keep).into_iter();
            kept.map(|header| header.name).collect()
        };
        assert_eq!(names(false), ["Host", "x"]);
        assert_eq!(names(true), ["Host", "Cookie", "AUTHORIZATION", "x"]);
    }
}
