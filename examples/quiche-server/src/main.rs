//! A server for the QUIC interop runner over quiche, by tokio-quiche, with their defaults.
//!
//! It serves the files of `/www` over HTTP/3 on UDP port 443, with the certificate in `/certs`.
//! Clients are not asked to prove their addresses by a Retry, unless `--retry` is given. Requests'
//! priorities do not reach quiche, so that page loads would measure this file and not the library.

use std::error::Error;
use std::path::{Component, Path, PathBuf};

use futures_util::{SinkExt, StreamExt};
use quiche::h3::{Header, NameValue};
use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tokio::net::UdpSocket;
use tokio_quiche::buf_factory::BufFactory;
use tokio_quiche::http3::driver::{
    IncomingH3Headers, OutboundFrame, OutboundFrameSender, ServerH3Event,
};
use tokio_quiche::http3::settings::Http3Settings;
use tokio_quiche::metrics::DefaultMetrics;
use tokio_quiche::settings::{CertificateKind, Hooks, QuicSettings, TlsCertificatePaths};
use tokio_quiche::{ConnectionParams, ServerH3Driver, listen};

const ROOT: &str = "/www";
const ADDRESS: &str = "[::]:443";
const CERTIFICATES: TlsCertificatePaths<'static> = TlsCertificatePaths {
    cert: "/certs/cert.pem",
    private_key: "/certs/priv.key",
    kind: CertificateKind::X509,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut settings = QuicSettings::default();
    settings.disable_client_ip_validation = match std::env::args().nth(1).as_deref() {
        None => true,
        Some("--retry") => false,
        Some(other) => return Err(format!("{other}: the only option is --retry").into()),
    };
    let socket = UdpSocket::bind(ADDRESS)
        .await
        .map_err(|error| format!("binding UDP {ADDRESS}: {error}; it needs that port and IPv6"))?;
    let parameters = ConnectionParams::new_server(settings, CERTIFICATES, Hooks::default());
    let mut listeners = listen([socket], parameters, DefaultMetrics).map_err(|error| {
        format!("reading cert.pem and priv.key in /certs: {error}; a lab has them there")
    })?;
    while let Some(accepted) = listeners[0].next().await {
        let Ok(connection) = accepted else { continue };
        let (driver, mut controller) = ServerH3Driver::new(Http3Settings::default());
        connection.start(driver);
        tokio::spawn(async move {
            while let Some(event) = controller.event_receiver_mut().recv().await {
                if let ServerH3Event::Headers {
                    incoming_headers, ..
                } = event
                {
                    tokio::spawn(respond(incoming_headers));
                }
            }
        });
    }
    Ok(())
}

/// Responds to a request with its file, or with 404 if there is none.
async fn respond(request: IncomingH3Headers) {
    let IncomingH3Headers {
        headers, mut send, ..
    } = request;
    let path = headers.iter().find(|field| field.name() == b":path");
    let file = match path.and_then(|field| find_file(field.value())) {
        Some(path) => File::open(path).await.ok(),
        None => None,
    };
    let sent = match file {
        Some(file) => send_file(&mut send, file).await,
        None => send_missing(&mut send).await,
    };
    if sent.is_none() {
        // A stream that cannot be completed is reset; the connection may be gone already.
        let _ = send.send(OutboundFrame::PeerStreamError).await;
    }
}

/// Returns the file of a request's target, without its query; none outside of the root.
fn find_file(target: &[u8]) -> Option<PathBuf> {
    let target = std::str::from_utf8(target).ok()?;
    let path = Path::new(target.split('?').next()?.strip_prefix('/')?);
    let is_inside = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let file = Path::new(ROOT).join(path);
    (is_inside && file.is_file()).then_some(file)
}

async fn send_file(send: &mut OutboundFrameSender, mut file: File) -> Option<()> {
    let mut left = file.metadata().await.ok()?.len();
    send_head(send, "200", left).await?;
    while left > 0 {
        let mut chunk = vec![0; BufFactory::MAX_BUF_SIZE];
        let size = file.read(&mut chunk).await.ok().filter(|size| *size > 0)?;
        chunk.truncate(size);
        left = left.checked_sub(size as u64)?;
        send.send(OutboundFrame::Body(chunk.into(), false))
            .await
            .ok()?;
    }
    end(send).await
}

async fn send_missing(send: &mut OutboundFrameSender) -> Option<()> {
    send_head(send, "404", 0).await?;
    end(send).await
}

async fn send_head(send: &mut OutboundFrameSender, status: &str, size: u64) -> Option<()> {
    let head = vec![
        Header::new(b":status", status.as_bytes()),
        Header::new(b"content-length", size.to_string().as_bytes()),
    ];
    send.send(OutboundFrame::Headers(head, None)).await.ok()
}

async fn end(send: &mut OutboundFrameSender) -> Option<()> {
    send.send(OutboundFrame::Body(Default::default(), true))
        .await
        .ok()
}
