use crate::quic::{H3Connection, H3Opener, client_endpoint, client_transport};
use crate::{HttpVersion, ReplayError};
use bytes::{Buf, Bytes, BytesMut};
use eyelevel_archive::{Exchange, Header};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use noq::crypto::rustls::QuicClientConfig;
use rustls::pki_types::ServerName;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

/// Fields of a recorded request that belong to its connection, or that are made anew.
const NOT_SENT: [&str; 12] = [
    "host",
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "content-length",
    "http2-settings",
    "expect",
    "upgrade-insecure-requests",
];
/// Chromium's packets, RFC 9000's least with room for the headers of IPv6.
const QUIC_PACKET_BYTES: u16 = 1250;

/// As Chromium gives over HTTP/2, and ours over QUIC.
const STREAM_RECEIVE_WINDOW_BYTES: u32 = 6 * 1024 * 1024;
const RECEIVE_WINDOW_BYTES: u32 = 15 * 1024 * 1024;

/// An answer as it came.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The status.
    pub status: u16,
    /// The fields.
    pub headers: HeaderMap,
    /// The body, as coded.
    pub body: Bytes,
}

/// One connection to a server. Dropping it closes the connection.
pub struct Client {
    pub(super) session: Session,
    /// Drives the connection; it ends with the client.
    _driver: JoinSet<()>,
}

pub(super) enum Session {
    H1(http1::SendRequest<Full<Bytes>>),
    H2(http2::SendRequest<Full<Bytes>>),
    H3(h3::client::SendRequest<H3Opener, Bytes>),
}

impl Client {
    /// Connects to `host` at `address` over TLS or QUIC. Where `tls` enables early data and holds a
    /// ticket, requests go out with the first flight.
    ///
    /// # Errors
    /// [`ReplayError::Socket`] or [`ReplayError::Configuration`], with the step that failed.
    pub async fn connect(
        address: SocketAddr,
        host: &str,
        version: HttpVersion,
        tls: rustls::ClientConfig,
    ) -> Result<Self, ReplayError> {
        if version == HttpVersion::H3 {
            return Self::connect_quic(address, host, tls).await;
        }
        let failed = ReplayError::socket("connecting over TCP and TLS", address);
        let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
            .map_err(|error| ReplayError::certificate(host, error))?;
        let early_data = tls.enable_early_data;
        let connector = TlsConnector::from(Arc::new(tls)).early_data(early_data);
        let connected = async {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            connector.connect(name, stream).await
        };
        Self::over(connected.await.map_err(failed)?, address, version).await
    }

    /// Connects to `address` without TLS, for HTTP/1.1.
    ///
    /// # Errors
    /// [`ReplayError::Socket`], with the step that failed.
    pub async fn connect_cleartext(address: SocketAddr) -> Result<Self, ReplayError> {
        let failed = ReplayError::socket("connecting over TCP", address);
        let stream = TcpStream::connect(address).await.map_err(failed)?;
        Self::over(stream, address, HttpVersion::H1).await
    }

    async fn over<S>(
        stream: S,
        address: SocketAddr,
        version: HttpVersion,
    ) -> Result<Self, ReplayError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let failed = |error: hyper::Error| {
            ReplayError::socket("beginning HTTP", address)(std::io::Error::other(error))
        };
        let stream = TokioIo::new(stream);
        let mut driver = JoinSet::new();
        let session = if version == HttpVersion::H2 {
            let (session, connection) = http2::Builder::new(TokioExecutor::new())
                .initial_stream_window_size(STREAM_RECEIVE_WINDOW_BYTES)
                .initial_connection_window_size(RECEIVE_WINDOW_BYTES)
                .handshake(stream)
                .await
                .map_err(failed)?;
            driver.spawn(async move {
                let _ = connection.await;
            });
            Session::H2(session)
        } else {
            let (session, connection) = http1::handshake(stream).await.map_err(failed)?;
            driver.spawn(async move {
                let _ = connection.await;
            });
            Session::H1(session)
        };
        Ok(Self {
            session,
            _driver: driver,
        })
    }

    async fn connect_quic(
        address: SocketAddr,
        host: &str,
        tls: rustls::ClientConfig,
    ) -> Result<Self, ReplayError> {
        let other = |error: &dyn ToString| {
            let error = std::io::Error::other(error.to_string());
            ReplayError::socket("connecting over QUIC", address)(error)
        };
        let early_data = tls.enable_early_data;
        let tls = QuicClientConfig::try_from(tls)
            .map_err(|error| ReplayError::configuration("TLS of QUIC", error))?;
        let mut config = noq::ClientConfig::new(Arc::new(tls));
        config.transport_config(Arc::new(client_transport(QUIC_PACKET_BYTES)));
        let unspecified: IpAddr = match address {
            SocketAddr::V4(_) => [0; 4].into(),
            SocketAddr::V6(_) => [0; 16].into(),
        };
        let endpoint = client_endpoint(SocketAddr::new(unspecified, 0))?;
        let connecting = endpoint
            .connect_with(config, address, host.trim_matches(['[', ']']))
            .map_err(|error| other(&error))?;
        let connection = if early_data {
            match connecting.into_0rtt() {
                Ok((connection, _)) => connection,
                Err(connecting) => connecting.await.map_err(|error| other(&error))?,
            }
        } else {
            connecting.await.map_err(|error| other(&error))?
        };
        let (mut connection, session) = h3::client::builder()
            .send_grease(false)
            .build::<_, _, Bytes>(H3Connection::new(connection))
            .await
            .map_err(|error| other(&error))?;
        let mut driver = JoinSet::new();
        driver.spawn(async move {
            connection.wait_idle().await;
            drop(endpoint);
        });
        Ok(Self {
            session: Session::H3(session),
            _driver: driver,
        })
    }

    /// Asks for one recorded exchange, with its recorded fields and body.
    ///
    /// # Errors
    /// One line: what failed.
    pub async fn fetch_exchange(&mut self, exchange: &Exchange) -> Result<Fetched, String> {
        let mut headers = HeaderMap::new();
        for field in &exchange.request_headers {
            if let Some((name, value)) = request_field(field) {
                headers.append(name, value);
            }
        }
        let method = Method::from_bytes(exchange.method.as_bytes())
            .map_err(|_| format!("the method {:?} cannot be sent", exchange.method))?;
        self.fetch(
            method,
            &exchange.url.to_string(),
            headers,
            exchange.request_body.clone(),
        )
        .await
    }

    /// Asks for a URL.
    ///
    /// # Errors
    /// One line: what failed.
    pub async fn fetch(
        &mut self,
        method: Method,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Fetched, String> {
        let uri: Uri = url
            .parse()
            .map_err(|error| format!("the URL cannot be sent: {error}"))?;
        let mut request = Request::new(());
        *request.method_mut() = method;
        *request.headers_mut() = headers;
        if !body.is_empty() {
            let length = HeaderValue::from(body.len());
            request.headers_mut().insert("content-length", length);
        }
        let failed = |error: hyper::Error| format!("the request failed: {error}");
        match &mut self.session {
            Session::H1(session) => {
                let authority = uri.authority().map_or("", |authority| authority.as_str());
                let host = HeaderValue::from_str(authority).map_err(|error| error.to_string())?;
                request.headers_mut().insert("host", host);
                let target = uri.path_and_query().map_or("/", |target| target.as_str());
                *request.uri_mut() = target.parse().map_err(|_| "the path cannot be sent")?;
                session.ready().await.map_err(failed)?;
                let sent = session.send_request(request.map(|()| Full::new(body)));
                collect(sent.await.map_err(failed)?).await
            }
            Session::H2(session) => {
                *request.uri_mut() = uri;
                session.ready().await.map_err(failed)?;
                let sent = session.send_request(request.map(|()| Full::new(body)));
                collect(sent.await.map_err(failed)?).await
            }
            Session::H3(session) => {
                *request.uri_mut() = uri;
                fetch_h3(session, request, body)
                    .await
                    .map_err(|error| format!("the request failed: {error}"))
            }
        }
    }

    /// A second handle on the same connection, for parallel requests; HTTP/1.1 has none.
    pub fn share(&self) -> Option<Self> {
        let session = match &self.session {
            Session::H1(_) => return None,
            Session::H2(session) => Session::H2(session.clone()),
            Session::H3(session) => Session::H3(session.clone()),
        };
        Some(Self {
            session,
            _driver: JoinSet::new(),
        })
    }
}

fn request_field(field: &Header) -> Option<(HeaderName, HeaderValue)> {
    let is_pseudo = field.name.starts_with(':');
    if is_pseudo || NOT_SENT.iter().any(|name| field.is(name)) {
        return None;
    }
    let name = HeaderName::from_bytes(field.name.as_bytes()).ok()?;
    Some((name, HeaderValue::from_bytes(&field.value).ok()?))
}

async fn collect(response: http::Response<hyper::body::Incoming>) -> Result<Fetched, String> {
    let (parts, body) = response.into_parts();
    let body = body
        .collect()
        .await
        .map_err(|error| format!("the body broke off: {error}"))?;
    Ok(Fetched {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: body.to_bytes(),
    })
}

async fn fetch_h3(
    session: &mut h3::client::SendRequest<H3Opener, Bytes>,
    request: Request<()>,
    body: Bytes,
) -> Result<Fetched, h3::error::StreamError> {
    let mut stream = session.send_request(request).await?;
    if !body.is_empty() {
        stream.send_data(body).await?;
    }
    stream.finish().await?;
    let response = stream.recv_response().await?;
    let mut body = BytesMut::new();
    while let Some(mut data) = stream.recv_data().await? {
        while data.has_remaining() {
            let chunk = data.chunk();
            body.extend_from_slice(chunk);
            let length = chunk.len();
            data.advance(length);
        }
    }
    let (parts, ()) = response.into_parts();
    Ok(Fetched {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: body.freeze(),
    })
}
