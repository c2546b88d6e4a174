//! One large transfer, whose bytes are counted and discarded.

use super::client::{Client, Session};
use super::tickets::Tickets;
use crate::tls::client_config_trusting;
use crate::{Ecn, HttpVersion, ReplayError, TlsVersion};
use bytes::{Buf, Bytes};
use http::{Request, Uri};
use http_body_util::{BodyExt, Full};
use rustls::client::Resumption;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde::Serialize;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The bytes that a transfer moved, and its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Transfer {
    /// The bytes of the body that arrived.
    pub body_bytes: u64,
    /// Time from the request to the body's first byte; 0 if none arrived.
    pub first_byte_ms: f64,
    /// Time from the request to the last byte that counts.
    pub duration_ms: f64,
    /// Time from the request to the last byte that counts, by the share of the body that had
    /// arrived, in tenths of `bytes_max`.
    pub tenths_ms: [f64; 10],
    /// Whether `bytes_max` bytes or the whole body arrived before `duration_max`.
    pub complete: bool,
}

/// A counter of bytes against the two bounds of a transfer.
struct Meter {
    started: Instant,
    bytes_max: u64,
    transfer: Transfer,
}

impl Meter {
    /// Adds bytes, and returns whether more are expected.
    fn on_bytes(&mut self, bytes: u64) -> bool {
        let ms = self.started.elapsed().as_secs_f64() * 1e3;
        let transfer = &mut self.transfer;
        if transfer.body_bytes == 0 {
            transfer.first_byte_ms = ms;
        }
        transfer.body_bytes += bytes;
        transfer.duration_ms = ms;
        let reached = transfer.body_bytes.saturating_mul(10) / self.bytes_max.max(1);
        for tenth in &mut transfer.tenths_ms[..usize::try_from(reached).unwrap_or(10).min(10)] {
            if *tenth == 0.0 {
                *tenth = ms;
            }
        }
        transfer.complete = transfer.body_bytes >= self.bytes_max;
        !transfer.complete
    }
}

impl Client {
    /// Connects for `url` at `address`: in cleartext if its scheme is http, else trusting
    /// `authority_pem` alone. `ecn` applies to QUIC; over TCP the kernel decides.
    ///
    /// # Errors
    /// [`ReplayError`], with the step that failed.
    pub async fn connect_for(
        url: &str,
        address: SocketAddr,
        version: HttpVersion,
        tls_version: TlsVersion,
        ecn: Ecn,
        authority_pem: &[u8],
    ) -> Result<Self, ReplayError> {
        let wrong = |what| ReplayError::configuration("the client", what);
        let uri: Uri = url.parse().map_err(|_| wrong("the URL cannot be sent"))?;
        if uri.scheme_str() == Some("http") {
            return Self::connect_cleartext(address).await;
        }
        let root = CertificateDer::from_pem_slice(authority_pem)
            .map_err(|_| wrong("the authority's certificate is no PEM"))?;
        let mut tls = client_config_trusting(root, version, tls_version)?;
        let tickets = Arc::new(Tickets::default());
        tls.resumption = Resumption::store(tickets.clone());
        let host = uri.host().ok_or_else(|| wrong("the URL has no host"))?;
        let mut client = Self::connect_with(address, host, version, tls, ecn).await?;
        client.tickets = Some(tickets);
        Ok(client)
    }

    /// Gets `url` and counts the body until `bytes_max` or `duration_max`, whichever is first.
    ///
    /// # Errors
    /// One line that names what failed.
    pub async fn transfer(
        &mut self,
        url: &str,
        bytes_max: u64,
        duration_max: Duration,
    ) -> Result<Transfer, String> {
        let uri: Uri = url
            .parse()
            .map_err(|error| format!("the URL cannot be sent: {error}"))?;
        let mut meter = Meter {
            started: Instant::now(),
            bytes_max,
            transfer: Transfer::default(),
        };
        let run = self.run(uri, &mut meter);
        match tokio::time::timeout(duration_max, run).await {
            Ok(done) => done?,
            Err(_) => meter.transfer.duration_ms = duration_max.as_secs_f64() * 1e3,
        }
        Ok(meter.transfer)
    }

    async fn run(&mut self, uri: Uri, meter: &mut Meter) -> Result<(), String> {
        let failed = |error: hyper::Error| format!("the transfer failed: {error}");
        let mut request = Request::new(());
        let body = match &mut self.session {
            Session::H1(session) => {
                let authority = uri.authority().map_or("", |authority| authority.as_str());
                let host = authority.parse().map_err(|_| "the host cannot be sent")?;
                request.headers_mut().insert("host", host);
                let target = uri.path_and_query().map_or("/", |target| target.as_str());
                *request.uri_mut() = target.parse().map_err(|_| "the path cannot be sent")?;
                let request = request.map(|()| Full::new(Bytes::new()));
                session.send_request(request).await.map_err(failed)?
            }
            Session::H2(session) => {
                *request.uri_mut() = uri;
                let request = request.map(|()| Full::new(Bytes::new()));
                session.send_request(request).await.map_err(failed)?
            }
            Session::H3(session) => {
                *request.uri_mut() = uri;
                return run_h3(session, request, meter)
                    .await
                    .map_err(|error| format!("the transfer failed: {error}"));
            }
        };
        let mut body = body.into_body();
        while let Some(frame) = body.frame().await {
            let data = frame.map_err(failed)?.into_data();
            if data.is_ok_and(|data| !meter.on_bytes(data.len() as u64)) {
                break;
            }
        }
        Ok(())
    }
}

async fn run_h3(
    session: &mut h3::client::SendRequest<crate::quic::H3Opener, Bytes>,
    request: Request<()>,
    meter: &mut Meter,
) -> Result<(), h3::error::StreamError> {
    let mut stream = session.send_request(request).await?;
    stream.finish().await?;
    stream.recv_response().await?;
    while let Some(data) = stream.recv_data().await? {
        if !meter.on_bytes(data.remaining() as u64) {
            break;
        }
    }
    Ok(())
}
