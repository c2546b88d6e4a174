use super::client::{Client, Session};
use crate::quic::{H3Connection, client_endpoint, client_transport};
use crate::{Ecn, HttpVersion, ReplayError};
use bytes::Bytes;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use noq::crypto::rustls::QuicClientConfig;
use rustls::pki_types::{CertificateDer, ServerName};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

/// Chromium's packet size: RFC 9000's minimum with room for the headers of IPv6.
const QUIC_PACKET_BYTES: u16 = 1250;

/// The window that Chromium grants over HTTP/2, and our client over QUIC.
const STREAM_RECEIVE_WINDOW_BYTES: u32 = 6 * 1024 * 1024;
const RECEIVE_WINDOW_BYTES: u32 = 15 * 1024 * 1024;

/// Chromium's limit for a response's head (`kMaxHeaderBufSize`), and more fields than all but the
/// oddest heads of that size have; hyper needs a bound.
const HEAD_BYTES_MAX: usize = 256 * 1024;
const FIELDS_MAX: usize = 16_384;

impl Client {
    /// Connects to `host` at `address` over TLS or QUIC. If `tls` enables early data and holds a
    /// ticket, requests are sent with the first flight.
    ///
    /// # Errors
    /// [`ReplayError::Socket`] or [`ReplayError::Configuration`], with the step that failed.
    pub async fn connect(
        address: SocketAddr,
        host: &str,
        version: HttpVersion,
        tls: rustls::ClientConfig,
    ) -> Result<Self, ReplayError> {
        Self::connect_with(address, host, version, tls, Ecn::Off).await
    }

    /// Connects as [`Self::connect`] does, with or without ECN over QUIC; over TCP the kernel
    /// decides.
    pub(super) async fn connect_with(
        address: SocketAddr,
        host: &str,
        version: HttpVersion,
        tls: rustls::ClientConfig,
        ecn: Ecn,
    ) -> Result<Self, ReplayError> {
        if version == HttpVersion::H3 {
            return Self::connect_quic(address, host, tls, ecn).await;
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
        let stream = connected.await.map_err(failed)?;
        let certificates = chain_bytes(stream.get_ref().1.peer_certificates());
        let mut client = Self::handshake(stream, address, version).await?;
        client.certificate_bytes = certificates;
        Ok(client)
    }

    /// Connects to `address` without TLS, for HTTP/1.1.
    ///
    /// # Errors
    /// [`ReplayError::Socket`], with the step that failed.
    pub async fn connect_cleartext(address: SocketAddr) -> Result<Self, ReplayError> {
        let failed = ReplayError::socket("connecting over TCP", address);
        let stream = TcpStream::connect(address).await.map_err(failed)?;
        Self::handshake(stream, address, HttpVersion::H1).await
    }

    async fn handshake<S>(
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
                .max_header_list_size(HEAD_BYTES_MAX as u32)
                .handshake(stream)
                .await
                .map_err(failed)?;
            driver.spawn(async move {
                let _ = connection.await;
            });
            Session::H2(session)
        } else {
            let (session, connection) = http1::Builder::new()
                .max_headers(FIELDS_MAX)
                .max_header_size(HEAD_BYTES_MAX)
                .handshake(stream)
                .await
                .map_err(failed)?;
            driver.spawn(async move {
                let _ = connection.await;
            });
            Session::H1(session)
        };
        Ok(Self {
            session,
            _driver: driver,
            certificate_bytes: 0,
            tickets: None,
        })
    }

    async fn connect_quic(
        address: SocketAddr,
        host: &str,
        tls: rustls::ClientConfig,
        ecn: Ecn,
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
        let endpoint = client_endpoint(SocketAddr::new(unspecified, 0), ecn)?;
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
        let identity = connection
            .peer_identity()
            .and_then(|identity| identity.downcast::<Vec<CertificateDer<'static>>>().ok());
        let certificate_bytes = chain_bytes(identity.as_deref().map(Vec::as_slice));
        let (mut connection, session) = h3::client::builder()
            .send_grease(false)
            .max_field_section_size(HEAD_BYTES_MAX as u64)
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
            certificate_bytes,
            tickets: None,
        })
    }
}

fn chain_bytes(chain: Option<&[CertificateDer<'static>]>) -> u64 {
    let sizes = chain.unwrap_or_default().iter();
    sizes.map(|certificate| certificate.len() as u64).sum()
}
