//! Servers to probe in the lab, with behaviour that tests need and public servers rarely have.
//!
//! They implement just enough HTTP to answer one request: a status of 200 and no body.

mod certificate;
mod quic;
mod resolver;
mod tcp;
mod work;

use crate::ProbeError;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::{self, kx_group};
use serde::Deserialize;
use socket2::{Domain, Protocol, Socket, Type};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

pub use certificate::Certificate;
pub use resolver::Zone;
pub use work::{Work, WorkMin};

/// The accept backlog, enough for thousands of probes that begin at once.
const BACKLOG: i32 = 8192;
/// The most early data accepted over TCP.
const EARLY_BYTES_MAX: u32 = 16 * 1024;

/// The servers' behaviour, as one line of JSON.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TargetConfig {
    /// The address to bind; `::` is both families.
    pub address: IpAddr,
    /// The port, both for TCP and UDP.
    pub port: u16,
    /// The names in the certificate.
    pub names: Vec<String>,
    /// Size of the certificate as DER, in bytes that do not compress; `None`: unpadded.
    pub certificate_bytes: Option<usize>,
    /// TLS versions over TCP.
    pub tls_versions: Vec<String>,
    /// Whether to send a Retry to every QUIC client.
    pub retry: bool,
    /// Whether to accept early data.
    pub early_data: bool,
    /// Whether to allow key exchange with P-384 alone, which no client sends a share of and thus
    /// needs a HelloRetryRequest.
    pub hello_retry: bool,
    /// QUIC versions.
    pub quic_versions: Vec<u32>,
    /// An address to forward TCP connections to, without TLS, as a splitting proxy does.
    pub forward_to: Option<SocketAddr>,
    /// Whether to request real-time priority, which the starter of the servers does.
    pub realtime: bool,
    /// A table of names to answer from over UDP, without TLS.
    pub zone: Option<Zone>,
}

impl Default for TargetConfig {
    fn default() -> Self {
        Self {
            address: IpAddr::from([0; 16]),
            port: 443,
            names: vec!["lab".into()],
            certificate_bytes: None,
            tls_versions: vec!["1.2".into(), "1.3".into()],
            retry: false,
            early_data: false,
            hello_retry: false,
            quic_versions: vec![1],
            forward_to: None,
            realtime: false,
            zone: None,
        }
    }
}

/// Running servers; they end when it is dropped.
#[derive(Debug)]
pub struct Target {
    /// The authority to trust, as PEM.
    pub authority_pem: String,
    /// The address where they listen.
    pub address: SocketAddr,
    /// The servers' time of cryptography.
    pub work: Arc<Work>,
    _tasks: tokio::task::JoinSet<()>,
}

impl Target {
    /// Listens and serves on the current runtime.
    ///
    /// # Errors
    /// [`ProbeError`], with the step that failed.
    pub async fn start(config: &TargetConfig) -> Result<Self, ProbeError> {
        crate::tls::warm_up();
        let certificate = Certificate::new(&config.names, config.certificate_bytes)?;
        let mut tasks = tokio::task::JoinSet::new();
        let work = Arc::new(Work::default());
        let mut address = SocketAddr::new(config.address, config.port);
        if let Some(zone) = &config.zone {
            let socket = resolver::bind(address).await?;
            address = socket
                .local_addr()
                .map_err(ProbeError::system("ask for", "the port"))?;
            tasks.spawn(resolver::answer(socket, zone.clone()));
            return Ok(Self {
                authority_pem: certificate.authority_pem,
                address,
                work,
                _tasks: tasks,
            });
        }
        let listener = tcp::listen(address, BACKLOG)?;
        address = listener
            .local_addr()
            .map_err(ProbeError::system("ask for", "the port"))?;
        match config.forward_to {
            Some(to) => drop(tasks.spawn(tcp::forward(listener, to))),
            None => {
                let mut tls = server_config(config, &certificate, &tls_versions(config))?;
                tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
                tls.max_early_data_size = if config.early_data {
                    EARLY_BYTES_MAX
                } else {
                    0
                };
                tasks.spawn(tcp::accept(listener, Arc::new(tls), work.clone()));
                let mut tls = server_config(config, &certificate, &[&rustls::version::TLS13])?;
                tls.alpn_protocols = vec![b"h3".to_vec()];
                // The only value that QUIC allows besides 0 (RFC 9001, section 4.6.1).
                tls.max_early_data_size = if config.early_data { u32::MAX } else { 0 };
                let endpoint = quic::endpoint(config, address, tls)?;
                tasks.spawn(quic::accept(endpoint, config.retry, work.clone()));
            }
        }
        Ok(Self {
            authority_pem: certificate.authority_pem,
            address,
            work,
            _tasks: tasks,
        })
    }
}

fn tls_versions(config: &TargetConfig) -> Vec<&'static rustls::SupportedProtocolVersion> {
    let has = |name: &str| config.tls_versions.iter().any(|version| version == name);
    let all = [
        ("1.3", &rustls::version::TLS13),
        ("1.2", &rustls::version::TLS12),
    ];
    all.into_iter()
        .filter(|(name, _)| has(name))
        .map(|(_, version)| version)
        .collect()
}

fn server_config(
    config: &TargetConfig,
    certificate: &Certificate,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> Result<ServerConfig, ProbeError> {
    let failed = |error: rustls::Error| ProbeError::Configuration(error.to_string());
    let mut provider = aws_lc_rs::default_provider();
    provider.kx_groups.insert(0, kx_group::X25519MLKEM768);
    if config.hello_retry {
        provider.kx_groups = vec![kx_group::SECP384R1];
    }
    // Sessions are stored by the server, rustls's default: it accepts early data only with those.
    ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(versions)
        .map_err(failed)?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.leaf.clone()], certificate.key.clone_key())
        .map_err(failed)
}

fn socket(address: SocketAddr, kind: Type, protocol: Protocol) -> std::io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), kind, Some(protocol))?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.set_nonblocking(true)?;
    Ok(socket)
}
