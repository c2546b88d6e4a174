use eyelevel_archive::Scheme;
use http::HeaderMap;

/// A request as the matcher sees it, whatever the protocol was.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The method, in the case in which it was sent.
    pub method: &'a str,
    /// Whether it came in over TLS or QUIC.
    pub scheme: Scheme,
    /// The host of `Host` or `:authority`, in lower case.
    pub host: &'a str,
    /// Its port, the scheme's own where none was given.
    pub port: u16,
    /// Begins with `/`; the query included.
    pub path_and_query: &'a str,
    /// The fields.
    pub headers: &'a HeaderMap,
    /// The body; empty where there was none.
    pub body: &'a [u8],
}

impl Request<'_> {
    /// The URL, its port written only where it is not the scheme's own.
    pub fn url(&self) -> String {
        let Self {
            scheme,
            host,
            port,
            path_and_query,
            ..
        } = self;
        if *port == scheme.default_port() {
            format!("{scheme}://{host}{path_and_query}")
        } else {
            format!("{scheme}://{host}:{port}{path_and_query}")
        }
    }

    /// The first field called `name`, as text; empty where there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.and_then(|value| value.to_str().ok()).unwrap_or("")
    }

    /// Whether the client has a copy and asks whether it still holds (RFC 9110, section 13.1).
    pub(super) fn is_conditional(&self) -> bool {
        self.headers.contains_key("if-none-match") || self.headers.contains_key("if-modified-since")
    }

    /// Whether a script may not send this before the server allowed it (Fetch, section 3.2.2).
    pub(super) fn is_preflight(&self) -> bool {
        self.method == "OPTIONS"
            && self.headers.contains_key("origin")
            && self.headers.contains_key("access-control-request-method")
    }
}
