//! The client side: proxy requests, tunnels, and TLS termination.

use std::convert::Infallible;
use std::fmt;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use eyelevel_archive::Scheme;
use eyelevel_replay::tls::Authority;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::server::{Acceptor, ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_rustls::LazyConfigAcceptor;

use crate::RecordError;
use crate::admission::credentials::CHALLENGE;
use crate::admission::target::Target;
use crate::connect::connect;
use crate::forward::{Reply, forward, respond_refused, respond_with};
use crate::peeked_tunnel::PeekedTunnel;
use crate::shared::Shared;
use crate::stamped::arrival::Arrival;
use crate::stamped::tap::{SharedHead, Tap};
use crate::upstream::{ALPN_H1, ALPN_H2, Upstream};

/// The limit for a local client to start, and to finish, its handshake.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(30);
/// The first byte of a TLS handshake record (RFC 8446, section 5.1).
const TLS_HANDSHAKE: u8 = 22;
const H2_STREAMS_MAX: u32 = 256;
const H2_HEADER_BYTES_MAX: u32 = 256 * 1024;

/// Serves one connection to the proxy.
pub async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let (stream, head) = Tap::new(stream, Arrival::default());
    let last: Mutex<Option<Arc<Upstream>>> = Mutex::new(None);
    let last = &last;
    let answer = service_fn(|request: Request<Incoming>| {
        let (shared, head) = (shared.clone(), head.clone());
        async move {
            if let Some(credentials) = &shared.credentials
                && !credentials.match_request(request.headers())
            {
                return Ok(challenge(&shared));
            }
            if request.method() == Method::CONNECT {
                return Ok::<_, Infallible>(open_tunnel(request, shared).await);
            }
            let Some(target) = parse_target(&request) else {
                let text = "this is a proxy: set it as one, and ask for http:// or https:// URLs\n";
                return Ok(respond_with(StatusCode::BAD_REQUEST, text));
            };
            let upstream = {
                let mut last = last.lock().await;
                match &*last {
                    Some(upstream) if *upstream.target() == target => upstream.clone(),
                    _ => last
                        .insert(Arc::new(Upstream::plain(shared.clone(), target)))
                        .clone(),
                }
            };
            Ok(forward(shared, upstream, request, Some(head)).await)
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .auto_date_header(false)
        .preserve_header_case(true)
        .serve_connection(TokioIo::new(stream), answer)
        .with_upgrades();
    // A client may disconnect at any time; its requests are noted.
    let _ = connection.await;
}

/// Returns the response for a client without this run's credentials.
fn challenge(shared: &Shared) -> Reply {
    shared.store.turn_away();
    let status = StatusCode::PROXY_AUTHENTICATION_REQUIRED;
    let mut reply = respond_with(
        status,
        "this proxy needs the credentials that it has printed\n",
    );
    let challenge = HeaderValue::from_static(CHALLENGE);
    reply
        .headers_mut()
        .insert(header::PROXY_AUTHENTICATE, challenge);
    reply
}

fn parse_target(request: &Request<Incoming>) -> Option<Target> {
    let uri = request.uri();
    let host = uri.host()?.trim_matches(['[', ']']).to_ascii_lowercase();
    (uri.scheme_str() == Some("http")).then(|| Target {
        scheme: Scheme::Http,
        host,
        port: uri.port_u16().unwrap_or(80),
    })
}

/// Connects to the server before the response to CONNECT, so that the response can report a
/// failure.
async fn open_tunnel(mut request: Request<Incoming>, shared: Arc<Shared>) -> Reply {
    let (Some(host), Some(port)) = (request.uri().host(), request.uri().port_u16()) else {
        return respond_with(StatusCode::BAD_REQUEST, "CONNECT needs host:port\n");
    };
    let target = Target {
        scheme: Scheme::Https,
        host: host.trim_matches(['[', ']']).to_ascii_lowercase(),
        port,
    };
    match connect(&shared, &target).await {
        Err(error @ RecordError::Refused { .. }) => respond_refused(&error),
        Err(error) => {
            shared.store.leave_out(error.to_string());
            respond_with(StatusCode::BAD_GATEWAY, &format!("{error}\n"))
        }
        Ok(server) => {
            let upgrade = hyper::upgrade::on(&mut request);
            tokio::spawn(tunnel(upgrade, server, target, shared));
            Response::new(Either::Right(Full::default()))
        }
    }
}

async fn tunnel(upgrade: OnUpgrade, server: TcpStream, target: Target, shared: Arc<Shared>) {
    let Ok(upgraded) = upgrade.await else { return };
    let Ok(Ok((first, stream))) = timeout(CLIENT_TIMEOUT, PeekedTunnel::peek(upgraded)).await
    else {
        return; // a preconnect that was never used
    };
    if first == TLS_HANDSHAKE {
        if let Err(sentence) = secure(stream, server, target, shared.clone()).await {
            shared.store.leave_out(sentence);
        }
    } else {
        // Unencrypted WebSockets also use a tunnel.
        let target = Target {
            scheme: Scheme::Http,
            ..target
        };
        let upstream = Arc::new(Upstream::plain(shared.clone(), target));
        http1(stream, shared, upstream).await;
    }
}

/// Terminates the client's TLS with the protocol that the server chooses from those that the client
/// offers.
async fn secure(
    stream: PeekedTunnel,
    server: TcpStream,
    target: Target,
    shared: Arc<Shared>,
) -> Result<(), String> {
    let host = target.host.clone();
    let failed = |reason: String| format!("the client's TLS handshake for {host}: {reason}");
    let accepting = LazyConfigAcceptor::new(Acceptor::default(), stream);
    let start = match timeout(CLIENT_TIMEOUT, accepting).await {
        Ok(Ok(start)) => start,
        Ok(Err(error)) if error.kind() != ErrorKind::InvalidData => return Ok(()),
        Ok(Err(error)) => return Err(failed(error.to_string())),
        Err(_) => return Err(failed("no hello in 30 s".to_owned())),
    };
    let spoken = |name: &[u8]| [ALPN_H2, ALPN_H1].contains(&name);
    let alpn: Vec<Vec<u8>> = match start.client_hello().alpn() {
        Some(names) => names
            .filter(|name| spoken(name))
            .map(<[u8]>::to_vec)
            .collect(),
        None => vec![ALPN_H1.to_vec()],
    };
    let upstream = Upstream::secure(shared.clone(), target, server, alpn)
        .await
        .map_err(|error| error.to_string())?;
    let is_h2 = upstream.is_h2();
    let resolver = HostResolver {
        authority: shared.authority.clone(),
        host: host.clone(),
    };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(error.to_string()))?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(resolver));
    let chosen = if is_h2 { ALPN_H2 } else { ALPN_H1 };
    config.alpn_protocols = vec![chosen.to_vec()];
    let accepting = timeout(CLIENT_TIMEOUT, start.into_stream(Arc::new(config)));
    let stream = match accepting.await {
        Ok(Ok(stream)) => stream,
        // A browser abandons connections that it opened in advance; only a refusal is worth a note.
        Ok(Err(error)) if error.kind() != ErrorKind::InvalidData => return Ok(()),
        Ok(Err(error)) => return Err(failed(error.to_string())),
        Err(_) => return Err(failed("it did not end in 30 s".to_owned())),
    };
    let upstream = Arc::new(upstream);
    if is_h2 {
        http2(stream, shared, upstream).await;
    } else {
        http1(stream, shared, upstream).await;
    }
    Ok(())
}

async fn http1<S>(stream: S, shared: Arc<Shared>, upstream: Arc<Upstream>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (stream, head) = Tap::new(stream, Arrival::default());
    let answer = service_fn(|request| pass(&shared, &upstream, request, Some(head.clone())));
    let connection = hyper::server::conn::http1::Builder::new()
        .auto_date_header(false)
        .preserve_header_case(true)
        .serve_connection(TokioIo::new(stream), answer)
        .with_upgrades();
    let _ = connection.await;
}

async fn http2<S>(stream: S, shared: Arc<Shared>, upstream: Arc<Upstream>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let answer = service_fn(|request| pass(&shared, &upstream, request, None));
    let connection = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .auto_date_header(false)
        .max_concurrent_streams(H2_STREAMS_MAX)
        .max_header_list_size(H2_HEADER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), answer);
    let _ = connection.await;
}

fn pass(
    shared: &Arc<Shared>,
    upstream: &Arc<Upstream>,
    request: Request<Incoming>,
    head: Option<SharedHead>,
) -> impl Future<Output = Result<Reply, Infallible>> + Send + 'static {
    let (shared, upstream) = (shared.clone(), upstream.clone());
    async move { Ok(forward(shared, upstream, request, head).await) }
}

/// A resolver of leaf certificates for the SNI name or else the host of the tunnel, since addresses
/// have no SNI.
struct HostResolver {
    authority: Arc<Authority>,
    host: String,
}

impl ResolvesServerCert for HostResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name().unwrap_or(&self.host);
        self.authority.leaf(name).ok()
    }
}

impl fmt::Debug for HostResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostResolver").finish_non_exhaustive()
    }
}
