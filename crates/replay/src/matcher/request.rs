use eyelevel_archive::Scheme;
use http::HeaderMap;

/// A request as the matcher sees it, independent of the protocol.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The method, in the case in which it was sent.
    pub method: &'a str,
    /// `https` if it arrived over TLS or QUIC.
    pub scheme: Scheme,
    /// The host of `Host` or `:authority`, in lower case.
    pub host: &'a str,
    /// Its port; the scheme's default if none was given.
    pub port: u16,
    /// The target, which begins with `/` and includes the query.
    pub path_and_query: &'a str,
    /// The fields.
    pub headers: &'a HeaderMap,
    /// The body; empty if there is none.
    pub body: &'a [u8],
}

impl Request<'_> {
    /// Returns the URL, with its port only if it is not the scheme's default.
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

    /// Returns the first field called `name`, as text; empty if there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.and_then(|value| value.to_str().ok()).unwrap_or("")
    }

    /// Returns whether the client has a copy to revalidate (RFC 9110, section 13.1).
    pub(super) fn is_conditional(&self) -> bool {
        self.headers.contains_key("if-none-match") || self.headers.contains_key("if-modified-since")
    }

    /// Returns whether it is a CORS preflight (Fetch, section 3.2.2).
    pub(super) fn is_preflight(&self) -> bool {
        self.method == "OPTIONS"
            && self.headers.contains_key("origin")
            && self.headers.contains_key("access-control-request-method")
    }
}
