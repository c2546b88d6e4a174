//! The server that a client names.

use eyelevel_archive::Scheme;

/// The server that a client names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// The scheme, http or https.
    pub scheme: Scheme,
    /// The host; an IPv6 address has no brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl Target {
    /// Returns `host:port`, with an IPv6 address in brackets.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.url_host(), self.port)
    }

    /// Returns the host as in a URL, with an IPv6 address in brackets.
    pub fn url_host(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        }
    }
}
