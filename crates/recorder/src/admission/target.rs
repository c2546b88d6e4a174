//! A server, as a client names it.

use eyelevel_archive::Scheme;

/// A server, as a client names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// How it is spoken to.
    pub scheme: Scheme,
    /// An IPv6 address without brackets.
    pub host: String,
    /// Its port.
    pub port: u16,
}

impl Target {
    /// `host:port`, an IPv6 address in brackets.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.url_host(), self.port)
    }

    /// The host as a URL has it: an IPv6 address in brackets.
    pub fn url_host(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        }
    }
}
