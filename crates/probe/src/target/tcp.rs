use super::{Work, socket};
use crate::{ProbeError, kernel};
use rustls::{ServerConfig, ServerConnection};
use socket2::{Protocol, Type};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// The time limit of a client; a slower one is gone.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(60);
/// The most connections at once; others wait in the backlog.
const CONNECTIONS_MAX: usize = 20_000;
const REQUEST_BYTES_MAX: usize = 16 * 1024;
const READ_BYTES: usize = 17 * 1024;
/// The pause after an error of accept (too many open files, say), so that a persistent one does not
/// cause a busy loop.
const ACCEPT_REST: Duration = Duration::from_millis(10);

const RESPONSE_H1: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\nalt-svc: h3=\":443\"\r\n\r\n";
/// The HTTP/2 response (RFC 9113): empty SETTINGS; HEADERS of stream 1, which end it, with the
/// static entry `:status: 200` and `alt-svc` as a literal (RFC 7541, section 6.2.2).
const RESPONSE_H2: &[u8] =
    b"\0\0\0\x04\0\0\0\0\0\0\0\x14\x01\x05\0\0\0\x01\x88\0\x07alt-svc\x09h3=\":443\"";
const PREFACE_H2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADERS_H2: u8 = 1;

pub(super) fn listen(address: SocketAddr, backlog: i32) -> Result<TcpListener, ProbeError> {
    let listen = || {
        let socket = socket(address, Type::STREAM, Protocol::TCP)?;
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        socket.listen(backlog)?;
        TcpListener::from_std(socket.into())
    };
    listen().map_err(ProbeError::system("listen on", address))
}

pub(super) async fn accept(listener: TcpListener, config: Arc<ServerConfig>, work: Arc<Work>) {
    let served = move |stream| serve(stream, config.clone(), work.clone());
    serve_each(listener, served).await;
}

/// Forwards bytes in both directions: TCP's handshake ends here, TLS's beyond.
pub(super) async fn forward(listener: TcpListener, to: SocketAddr) {
    serve_each(listener, move |mut near| async move {
        let mut far = TcpStream::connect(to).await?;
        far.set_nodelay(true)?;
        tokio::io::copy_bidirectional(&mut near, &mut far)
            .await
            .map(drop)
    })
    .await;
}

async fn serve_each<F>(listener: TcpListener, serve: impl Fn(TcpStream) -> F)
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= CONNECTIONS_MAX {
            connections.join_next().await;
        }
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_REST).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let served = serve(stream);
        connections.spawn(async move { drop(tokio::time::timeout(CLIENT_TIMEOUT, served).await) });
    }
}

async fn serve(
    mut stream: TcpStream,
    config: Arc<ServerConfig>,
    work: Arc<Work>,
) -> io::Result<()> {
    let mut tls = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut request = Vec::new();
    let mut buffer = vec![0; READ_BYTES];
    let mut is_answered = false;
    let mut crypto_ns = 0;
    loop {
        take_plaintext(&mut tls, &mut request)?;
        if !is_answered && is_complete(&request) && tls.alpn_protocol().is_some() {
            let is_h2 = tls.alpn_protocol() == Some(b"h2");
            tls.writer()
                .write_all(if is_h2 { RESPONSE_H2 } else { RESPONSE_H1 })?;
            is_answered = true;
        }
        let mut output = Vec::new();
        while tls.wants_write() {
            tls.write_tls(&mut output)?;
        }
        if !output.is_empty() {
            stream.write_all(&output).await?;
        }
        // The client closes first: the closing end keeps the port for a minute, and the client has
        // more.
        let bytes = stream.read(&mut buffer).await?;
        if bytes == 0 {
            return Ok(());
        }
        let mut rest = &buffer[..bytes];
        while !rest.is_empty() {
            tls.read_tls(&mut rest)?;
            let was_handshaking = tls.is_handshaking();
            let began_ns = kernel::monotonic_ns();
            let processed = tls.process_new_packets();
            if was_handshaking {
                crypto_ns += kernel::monotonic_ns() - began_ns;
                if !tls.is_handshaking() {
                    work.note_tls(tls.protocol_version(), crypto_ns);
                }
            }
            if let Err(error) = processed {
                let mut alert = Vec::new();
                let _ = tls.write_tls(&mut alert);
                stream.write_all(&alert).await?;
                return Err(io::Error::other(error));
            }
        }
    }
}

fn take_plaintext(tls: &mut ServerConnection, request: &mut Vec<u8>) -> io::Result<()> {
    let mut part = [0; 4096];
    while request.len() < REQUEST_BYTES_MAX {
        let early = tls
            .early_data()
            .map_or(Ok(0), |mut early| early.read(&mut part))?;
        let bytes = if early > 0 {
            early
        } else {
            match tls.reader().read(&mut part) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                result => result?,
            }
        };
        if bytes == 0 {
            return Ok(());
        }
        request.extend_from_slice(&part[..bytes]);
    }
    Ok(())
}

/// Returns whether the request is complete: in HTTP/1.1 an empty line, in HTTP/2 a HEADERS frame
/// after the preface.
fn is_complete(request: &[u8]) -> bool {
    let Some(mut frames) = request.strip_prefix(PREFACE_H2) else {
        return request.windows(4).any(|end| end == b"\r\n\r\n");
    };
    while let [a, b, c, kind, ..] = frames {
        if *kind == HEADERS_H2 {
            return true;
        }
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        frames = frames.get(9 + length..).unwrap_or_default();
    }
    false
}
