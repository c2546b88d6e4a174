use super::Authority;
use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

/// The servers' configuration by local address: a client's hello names no host that is an address
/// (RFC 6066, section 3), so only the connection's own address identifies it.
#[derive(Clone, Debug)]
pub(crate) struct ByAddress {
    configs: Arc<HashMap<IpAddr, Arc<ServerConfig>>>,
    otherwise: Arc<ServerConfig>,
}

impl ByAddress {
    /// Creates the configurations; `hosts` are those for clients that name none, by address;
    /// `config` applies elsewhere.
    pub fn new(
        config: ServerConfig,
        authority: &Arc<Authority>,
        hosts: HashMap<IpAddr, String>,
    ) -> Self {
        let configs = hosts.into_iter().map(|(address, host)| {
            let mut config = config.clone();
            config.cert_resolver = Arc::new(Unnamed {
                authority: authority.clone(),
                host,
            });
            (address, Arc::new(config))
        });
        Self {
            configs: Arc::new(configs.collect()),
            otherwise: Arc::new(config),
        }
    }

    /// Returns the configuration for a connection to this local address, if it is known.
    pub fn get(&self, local: Option<IpAddr>) -> &Arc<ServerConfig> {
        let config = local.and_then(|local| self.configs.get(&local));
        config.unwrap_or(&self.otherwise)
    }
}

/// The leaves of an authority at one address.
#[derive(Debug)]
struct Unnamed {
    authority: Arc<Authority>,
    host: String,
}

impl ResolvesServerCert for Unnamed {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let host = hello.server_name().unwrap_or(&self.host);
        self.authority.leaf(host).ok()
    }
}
