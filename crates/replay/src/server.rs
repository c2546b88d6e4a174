use crate::dates::CacheAge;
use crate::matcher::Rules;
use crate::stack::{ChainBytes, NamedChainBytes};
use crate::tls::{Authority, ByAddress, Chains, server_config, strip_brackets};
use crate::{
    ClockNs, ConnectionLogs, EarlyHints, EventSink, HttpVersion, LiveOptions, ReplayError, Service,
    StackConfig, TlsVersion, quic, tcp,
};
use eyelevel_archive::{Origin, Scheme, Site};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tcp::ListenerScheme;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The addresses at which a site is served, and how.
#[derive(Clone)]
pub struct ServerOptions {
    /// Local addresses to bind: `0.0.0.0` and `::` serve every address that is local to the
    /// namespace (AnyIP), so that 60 origins cost as much as one.
    pub addresses: Vec<IpAddr>,
    /// Whether the kernel chooses the ports, for several servers on one machine;
    /// [`Server::bound_address`] returns them. Otherwise the recorded ports are bound.
    pub ports_ephemeral: bool,
    /// Rules of the matcher.
    pub rules: Rules,
    /// The age of the cache on the second visit; none: dates stay as recorded.
    pub cache_age: Option<CacheAge>,
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    pub now_ns: ClockNs,
    /// The receiver of every event.
    pub events: EventSink,
    /// The logs of connections.
    pub logs: ConnectionLogs,
    /// Early Hints for the page.
    pub early_hints: Option<EarlyHints>,
    /// A live build that answers for the page's own origin.
    pub live: Option<LiveOptions>,
}

/// A recorded site on bound sockets; clients that connect now are answered once it runs.
pub struct Server {
    service: Arc<Service>,
    stack: Arc<StackConfig>,
    /// The stack of the TCP listeners, which differs from `stack` over QUIC.
    over_tcp: Arc<StackConfig>,
    authority: Arc<Authority>,
    tls: ByAddress,
    tls_over_tcp: ByAddress,
    tcp: Vec<(TcpListener, ListenerScheme)>,
    quic: Vec<quic::Listener>,
    bound: BTreeMap<(Scheme, u16), SocketAddr>,
}

impl Server {
    /// Creates the certificate authority and binds every port of the site's origins, in the calling
    /// thread's network namespace. Must be called within the Tokio runtime that will run it.
    ///
    /// # Errors
    /// The part of the stack, the certificates or the sockets that failed.
    pub fn bind(
        site: Arc<Site>,
        stack: StackConfig,
        options: ServerOptions,
    ) -> Result<Self, ReplayError> {
        let unnamed = unnamed_hosts(&site);
        Self::bind_with(site, stack, options, unnamed)
    }

    fn bind_with(
        site: Arc<Site>,
        stack: StackConfig,
        options: ServerOptions,
        unnamed: HashMap<IpAddr, String>,
    ) -> Result<Self, ReplayError> {
        stack.validate()?;
        if stack.tls_version == TlsVersion::None {
            refuse_secure_origins(&site)?;
        }
        let authority = Arc::new(authority(&site, &stack)?);
        let secure = site.origins().iter();
        let secure = secure.filter(|origin| origin.scheme == Scheme::Https);
        authority.check_chains(secure.map(|origin| origin.host.as_str()))?;
        let configured = |stack: &StackConfig| {
            let mut tls = server_config(authority.clone(), stack)?;
            if let Some(keys) = &options.logs.keys {
                tls.key_log = keys.clone();
            }
            Ok::<_, ReplayError>(ByAddress::new(tls, &authority, unnamed.clone()))
        };
        let tls = configured(&stack)?;
        let over_tcp = stack.over_tcp();
        let tls_over_tcp = configured(&over_tcp)?;
        let origins = site.origins().iter();
        let ports: BTreeSet<(u16, Scheme)> =
            origins.map(|origin| (origin.port, origin.scheme)).collect();
        let ServerOptions {
            rules,
            cache_age,
            now_ns,
            events,
            logs,
            live,
            early_hints,
            ..
        } = options.clone();
        let service = Service::new(site, rules, &stack, now_ns, events).with_logs(logs);
        let mut server = Self {
            service: Arc::new(
                service
                    .with_cache_age(cache_age)
                    .with_early_hints(early_hints)
                    .with_live(live),
            ),
            tls,
            tls_over_tcp,
            stack: Arc::new(stack),
            over_tcp: Arc::new(over_tcp),
            authority,
            tcp: Vec::new(),
            quic: Vec::new(),
            bound: BTreeMap::new(),
        };
        for &(port, scheme) in &ports {
            let is_shared = server.has_tls_over_tcp() && ports.contains(&(port, Scheme::Http));
            let is_shared = is_shared && ports.contains(&(port, Scheme::Https));
            if is_shared && scheme == Scheme::Https {
                continue; // the listener of the http origins serves both
            }
            let (listener_scheme, schemes): (_, &[Scheme]) = match (is_shared, scheme) {
                (true, _) => (ListenerScheme::ByFirstByte, &[Scheme::Http, Scheme::Https]),
                (false, Scheme::Http) => (ListenerScheme::Always(scheme), &[Scheme::Http]),
                (false, Scheme::Https) => (ListenerScheme::Always(scheme), &[Scheme::Https]),
            };
            for address in &options.addresses {
                let bind_port = if options.ports_ephemeral { 0 } else { port };
                let address = SocketAddr::new(*address, bind_port);
                let bound = server.listen(listener_scheme, address)?;
                for scheme in schemes {
                    server.bound.entry((*scheme, port)).or_insert(bound);
                }
            }
        }
        Ok(server)
    }

    fn is_over_quic(&self) -> bool {
        self.stack.http_version == HttpVersion::H3
    }

    fn has_tls_over_tcp(&self) -> bool {
        !self.is_over_quic() || self.stack.is_discovered()
    }

    /// Listens on a port for QUIC, for TCP or, with the same number, for both.
    fn listen(
        &mut self,
        listener_scheme: ListenerScheme,
        address: SocketAddr,
    ) -> Result<SocketAddr, ReplayError> {
        let mut local = address;
        if listener_scheme != ListenerScheme::Always(Scheme::Http) && self.is_over_quic() {
            let listener = quic::Listener::bind(address, self.tls.clone(), &self.stack)?;
            local = listener.local_address().unwrap_or(address);
            self.quic.push(listener);
        }
        if listener_scheme == ListenerScheme::Always(Scheme::Http) || self.has_tls_over_tcp() {
            let listener = tcp::listen(local, &self.over_tcp)?;
            local = listener.local_addr().unwrap_or(local);
            self.tcp.push((listener, listener_scheme));
        }
        Ok(local)
    }

    /// Returns the base64 of the SHA-256 of every leaf certificate's key, for Chromium's flag
    /// `--ignore-certificate-errors-spki-list`.
    pub fn spki_sha256(&self) -> String {
        self.authority.spki_sha256()
    }

    /// Returns the authority that clients must trust.
    pub fn authority(&self) -> Arc<Authority> {
        self.authority.clone()
    }

    /// Returns the service, for its counts.
    pub fn service(&self) -> Arc<Service> {
        self.service.clone()
    }

    /// Returns the address at which a recorded port is served, on the first of the addresses.
    pub fn bound_address(&self, scheme: Scheme, port: u16) -> Option<SocketAddr> {
        self.bound.get(&(scheme, port)).copied()
    }

    /// Serves until `shutdown` ends; then every connection is dropped and has reported.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let mut accepting = JoinSet::new();
        for (listener, listener_scheme) in self.tcp {
            let (tls, stack) = (self.tls_over_tcp.clone(), self.over_tcp.clone());
            accepting.spawn(tcp::accept(
                listener,
                listener_scheme,
                tls,
                stack,
                self.service.clone(),
            ));
        }
        let (stop, stopping) = watch::channel(false);
        let mut saying_goodbye = JoinSet::new();
        for listener in self.quic {
            let (stack, service) = (self.stack.clone(), self.service.clone());
            saying_goodbye.spawn(listener.serve(stack, service, stopping.clone()));
        }
        shutdown.await;
        let _ = stop.send(true);
        while saying_goodbye.join_next().await.is_some() {}
        accepting.shutdown().await;
    }
}

/// Creates the certificates for another server: an authority, one certificate's chain with every
/// host of the site, and its key, the last two as PEM.
///
/// # Errors
/// [`ReplayError::Certificate`] when the library refuses.
pub fn certificate_files(
    site: &Site,
    stack: &StackConfig,
) -> Result<(Authority, String, String), ReplayError> {
    let hosts: BTreeSet<String> = site.origins().iter().map(|o| o.host.clone()).collect();
    let first = site.main_url().host.clone();
    let authority = Authority::new(
        vec![hosts.into_iter().collect()],
        &first,
        stack.certificate_key,
        chains(site, stack),
    )?;
    let (chain, key) = authority.leaf_pem(&first)?;
    Ok((authority, chain, key))
}

/// Creates the authority with certificates as recorded; a host without one gets a certificate of
/// its own.
fn authority(site: &Site, stack: &StackConfig) -> Result<Authority, ReplayError> {
    let mut groups = Vec::new();
    let grouped = site.origins().iter().filter(|_| stack.coalescing);
    for origin in grouped {
        if !origin.certificate_names.is_empty() {
            // A recording made through a proxy may have a name that the certificate lacks.
            let mut names = origin.certificate_names.clone();
            if !covers(&names, &origin.host) {
                names.push(origin.host.clone());
            }
            // The host comes first, so that a certificate shared under a wildcard is found by it.
            names.retain(|name| *name != origin.host);
            names.insert(0, origin.host.clone());
            groups.push(names);
        }
    }
    let fallback = site.main_url().host.clone();
    Authority::new(
        groups,
        &fallback,
        stack.certificate_key,
        chains(site, stack),
    )
}

/// Returns the hosts for clients that send no name, by the address that they connect to: of the
/// hosts at that address, the one that is an address itself, else the page's, else the first.
fn unnamed_hosts(site: &Site) -> HashMap<IpAddr, String> {
    let page = &site.main_url().host;
    let origins = site.origins().iter().rev();
    let mut secure: Vec<&Origin> = origins.filter(|o| o.scheme == Scheme::Https).collect();
    let is_address = |host: &str| strip_brackets(host).parse::<IpAddr>().is_ok();
    secure.sort_by_key(|origin| (is_address(&origin.host), origin.host == *page));
    let hosts = secure.into_iter();
    // Of an address's hosts, the last one stays.
    hosts
        .map(|origin| (origin.address, origin.host.clone()))
        .collect()
}

fn chains(site: &Site, stack: &StackConfig) -> Chains {
    match stack.certificate_chain_bytes {
        None => Chains::Short,
        Some(ChainBytes::Given(bytes)) => Chains::All(bytes),
        Some(ChainBytes::Named(NamedChainBytes::Recorded)) => {
            let recorded = site.provenance().certificate_chain_bytes.iter();
            let by_name = recorded.map(|(host, bytes)| (strip_brackets(host).to_owned(), *bytes));
            Chains::Recorded(by_name.collect())
        }
    }
}

/// Refuses secure origins over cleartext, which would need other URLs than the page's own links
/// have.
fn refuse_secure_origins(site: &Site) -> Result<(), ReplayError> {
    let secure = |origin: &&Origin| origin.scheme == Scheme::Https;
    match site.origins().iter().find(secure) {
        None => Ok(()),
        Some(origin) => Err(ReplayError::Site {
            reason: format!(
                "the stack is without TLS and https://{} was recorded; its links would have to be \
                 rewritten, and it would be another page: choose a recording of http origins, or \
                 a stack with TLS",
                origin.host
            ),
        }),
    }
}

/// Returns whether the names cover a host; a wildcard replaces one whole label (RFC 6125, section
/// 6.4.3).
fn covers(names: &[String], host: &str) -> bool {
    let parent = host.split_once('.').map(|(_, parent)| parent);
    names.iter().any(|name| {
        name == host || (name.strip_prefix("*.").is_some() && name.strip_prefix("*.") == parent)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Client;
    use crate::tls::client_config;

    /// Creates a site of one response per URL, from its server's address if that is given.
    fn site(recorded: &[(&str, Option<&str>)]) -> Arc<Site> {
        let mut warc = String::new();
        for (number, (url, address)) in recorded.iter().enumerate() {
            let address = address.map(|address| format!("WARC-IP-Address: {address}\r\n"));
            warc += &format!(
                "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number:032}>\r\n\
                 WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: {url}\r\n{}\
                 Content-Type: application/http; msgtype=response\r\nContent-Length: 40\r\n\r\n\
                 HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok\r\n\r\n",
                address.unwrap_or_default(),
            );
        }
        Arc::new(Site::from_bytes("test.warc", warc.into()).unwrap())
    }

    #[test]
    fn a_client_that_names_no_host_means_the_one_at_its_address() {
        let (here, there) = (Some("192.0.2.7"), Some("192.0.2.8"));
        let site = site(&[
            ("https://z.test/", there),
            ("https://a.test/", there),
            ("https://b.test/", here),
            ("https://192.0.2.7/", None),
            ("https://d.test/", Some("192.0.2.9")),
            ("https://c.test/", Some("192.0.2.9")),
            ("https://[2001:db8::7]/", None),
            ("http://e.test/", Some("192.0.2.10")),
        ]);
        let hosts: BTreeMap<IpAddr, String> = unnamed_hosts(&site).into_iter().collect();
        let expected = [
            ("192.0.2.7", "192.0.2.7"),
            ("192.0.2.8", "z.test"),
            ("192.0.2.9", "c.test"),
            ("2001:db8::7", "[2001:db8::7]"),
        ];
        let expected = expected.map(|(address, host)| (address.parse().unwrap(), host.to_owned()));
        assert_eq!(hosts, BTreeMap::from(expected));
    }

    /// Connects with real clients, which like browsers and curl send no name in their hello for an
    /// address.
    #[tokio::test]
    async fn without_a_name_the_certificate_is_of_the_host_at_the_address() {
        let site = site(&[("https://page.test/", None), ("https://other.test/", None)]);
        let unnamed = [
            ("127.0.3.7", "127.0.3.7"),
            ("127.0.3.8", "other.test"),
            ("::1", "[::1]"),
        ];
        let unnamed = unnamed.map(|(address, host)| (address.parse().unwrap(), host.to_owned()));
        for version in [HttpVersion::H1, HttpVersion::H2, HttpVersion::H3] {
            for any in ["0.0.0.0", "::1"] {
                let options = ServerOptions {
                    addresses: vec![any.parse().unwrap()],
                    ports_ephemeral: true,
                    rules: Rules::default(),
                    cache_age: None,
                    early_hints: None,
                    now_ns: || 0,
                    logs: ConnectionLogs::default(),
                    live: None,
                    events: Arc::new(|_| ()),
                };
                let stack = StackConfig::tuned("test", version);
                let unnamed = unnamed.iter().cloned().collect();
                let server = Server::bind_with(site.clone(), stack, options, unnamed).unwrap();
                let port = server.bound_address(Scheme::Https, 443).unwrap().port();
                let authority = server.authority();
                let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
                let running = tokio::spawn(server.run(async move {
                    let _ = stopped.await;
                }));
                let reaches = async |address: &str, name: &str, is_named: bool| {
                    let address = SocketAddr::new(address.parse().unwrap(), port);
                    let mut tls = client_config(&authority, version, TlsVersion::Tls13).unwrap();
                    tls.enable_sni = is_named;
                    let client = Client::connect(address, name, version, tls).await;
                    client.is_ok()
                };
                let cases: &[(&str, &str, bool, bool)] = match any {
                    "::1" => &[
                        ("::1", "[::1]", true, true),
                        ("::1", "page.test", false, false),
                    ],
                    _ => &[
                        ("127.0.3.7", "127.0.3.7", true, true),
                        ("127.0.3.7", "page.test", false, false),
                        ("127.0.3.7", "page.test", true, true),
                        ("127.0.3.8", "other.test", false, true),
                        ("127.0.3.8", "page.test", false, false),
                        ("127.0.3.8", "page.test", true, true),
                        ("127.0.3.9", "page.test", false, true),
                        ("127.0.3.9", "other.test", true, true),
                    ],
                };
                for &(address, name, is_named, expected) in cases {
                    let reached = reaches(address, name, is_named).await;
                    assert_eq!(reached, expected, "{version:?} {address} {name} {is_named}");
                }
                drop(stop);
                running.await.unwrap();
            }
        }
    }
}
