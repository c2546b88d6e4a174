use super::frames::{Http2Stream, Opened, Passed, Request as Handed};
use super::http1_heads::{request_head_bytes, response_head_bytes};
use super::observed::Observed;
use super::record::ConnectionRecord;
use super::turns::Turns;
use crate::exact_wait::exact_wait;
use crate::scheduler::{Gate, ReplyBody, Room, two_chunks};
use crate::service::{Entrance, REQUEST_BODY_BYTES_MAX, RequestHead, Service};
use crate::tls::accept_early;
use crate::{HttpVersion, StackConfig};
use bytes::{Bytes, BytesMut};
use eyelevel_archive::Scheme;
use http::{Method, Request, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ServerConnection;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

/// A handshake over the slowest preset (760 ms, 6 % loss) may take many retransmissions.
pub(super) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(60);
/// What nginx and Chromium's own default have in common: at least 100 (RFC 9113, section 6.5.2).
const H2_STREAMS_MAX: u32 = 100;
/// A browser that leaves a page resets all its streams at once; that is no attack here.
const H2_RESET_STREAMS_MAX: usize = 1000;
/// What rustls may hold that the kernel has not taken: two records of 4 kB, one chunk of a body.
const WRITE_BYTES_MAX: usize = 8 * 1024;
const H2_HEADER_BYTES_MAX: u32 = 64 * 1024;
/// Room for uploads, which are small in recordings.
const H2_RECEIVE_WINDOW_BYTES: u32 = 1024 * 1024;
/// How often a connection looks for clients that do not read.
pub(crate) const STALL_INTERVAL: Duration = Duration::from_secs(5);

/// Serves one accepted connection of a secure port until it ends.
pub(super) async fn secure(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    stack: &StackConfig,
    service: Arc<Service>,
) {
    let version = stack.http_version;
    let (stream, record) =
        Observed::new(stream, service.clone(), version.protocol(), Scheme::Https);
    let note = |reason: &str| {
        let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
        record.on_failure(reason);
    };
    let failed = |error: io::Error| note(&format!("the TLS handshake failed: {error}"));
    // As much as one write holds, so that nothing waits behind rustls's own 64 kB.
    let limit = WRITE_BYTES_MAX.max(stack.tls_record_bytes);
    if stack.early_data {
        let accepting = accept_early(stream, acceptor.config().clone(), limit);
        let mut stream = match tokio::time::timeout(HANDSHAKE_TIMEOUT, accepting).await {
            Ok(Ok(stream)) => stream,
            Ok(Err((error, _stream))) => return failed(error),
            Err(_) => return,
        };
        let (transport, tls) = stream.get_mut();
        let early = tls.early_data().is_some();
        let entrance = entrance(&record, version, tls, transport, Some(early));
        let turns = transport.hold_ends();
        return http(stream, turns, entrance, stack, service, record).await;
    }
    let accepting = acceptor.accept(stream).into_fallible();
    let mut stream = match tokio::time::timeout(HANDSHAKE_TIMEOUT, accepting).await {
        Ok(Ok(stream)) => stream,
        Ok(Err((error, _stream))) => return failed(error),
        Err(_) => return,
    };
    let (transport, tls) = stream.get_mut();
    tls.set_buffer_limit(Some(limit));
    let entrance = entrance(&record, version, tls, transport, None);
    let turns = transport.hold_ends();
    http(stream, turns, entrance, stack, service, record).await;
}

/// Notes what the handshake agreed on.
fn entrance(
    record: &Mutex<ConnectionRecord>,
    version: HttpVersion,
    tls: &ServerConnection,
    transport: &Observed,
    early_data_accepted: Option<bool>,
) -> Entrance {
    let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
    record.on_handshake(tls, transport.ready(), early_data_accepted);
    Entrance {
        connection: record.connection(),
        protocol: version.protocol(),
        scheme: Scheme::Https,
    }
}

async fn http<S>(
    stream: S,
    turns: Turns,
    entrance: Entrance,
    stack: &StackConfig,
    service: Arc<Service>,
    record: Arc<Mutex<ConnectionRecord>>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    match stack.http_version {
        HttpVersion::H1 => http1(stream, &turns, entrance, service, record).await,
        // HTTP/3 is served by other listeners.
        HttpVersion::H2 | HttpVersion::H3 => {
            http2(stream, &turns, entrance, service, stack, record).await;
        }
    }
}

/// Serves one accepted connection of a cleartext port until it ends.
pub(super) async fn cleartext(stream: TcpStream, service: Arc<Service>) {
    let protocol = HttpVersion::H1.protocol();
    let (mut stream, record) = Observed::new(stream, service.clone(), protocol, Scheme::Http);
    let connection = record
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .connection();
    let entrance = Entrance {
        connection,
        protocol,
        scheme: Scheme::Http,
    };
    let turns = stream.hold_ends();
    http1(stream, &turns, entrance, service, record).await;
}

async fn http1<S>(
    stream: S,
    turns: &Turns,
    entrance: Entrance,
    service: Arc<Service>,
    record: Arc<Mutex<ConnectionRecord>>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let answer = service_fn(|request| {
        let way = Way::Http1(record.clone());
        respond(request, entrance, service.clone(), way)
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), answer);
    // A client that goes away in the middle is no fault of the server, and its requests say so.
    let _ = turns.drive(connection).await;
}

async fn http2<S>(
    stream: S,
    turns: &Turns,
    entrance: Entrance,
    service: Arc<Service>,
    stack: &StackConfig,
    record: Arc<Mutex<ConnectionRecord>>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let room = Room::of(stack, two_chunks);
    let gate = Gate::new(stack.priorities, room);
    turns.set_gate(gate.clone());
    let opened = Opened::default();
    let table_bytes = stack.header_table();
    let tell = move |passed| {
        let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
        record.on_passed(passed);
    };
    let stream = Http2Stream::new(stream, gate.clone(), opened.clone(), table_bytes, tell);
    let answer = service_fn(|request| {
        let way = Way::Http2(gate.clone(), opened.next());
        respond(request, entrance, service.clone(), way)
    });
    let connection = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .auto_date_header(false)
        .max_concurrent_streams(H2_STREAMS_MAX)
        .max_pending_accept_reset_streams(H2_RESET_STREAMS_MAX)
        .max_local_error_reset_streams(H2_RESET_STREAMS_MAX)
        .max_header_list_size(H2_HEADER_BYTES_MAX)
        .initial_stream_window_size(H2_RECEIVE_WINDOW_BYTES)
        .initial_connection_window_size(H2_RECEIVE_WINDOW_BYTES)
        .header_table_size(table_bytes)
        .max_send_buf_size(room.pending_bytes_max)
        .serve_connection(TokioIo::new(stream), answer);
    let connection = turns.drive(connection);
    tokio::pin!(connection);
    loop {
        tokio::select! {
            _ = &mut connection => return,
            () = tokio::time::sleep(STALL_INTERVAL) => gate.look_for_stall(),
        }
    }
}

/// How a request came, and its response goes.
enum Way {
    Http1(Arc<Mutex<ConnectionRecord>>),
    /// With the connection's gate, and the request's stream where it is known.
    Http2(Gate, Option<Handed>),
}

async fn respond(
    request: Request<Incoming>,
    entrance: Entrance,
    service: Arc<Service>,
    way: Way,
) -> Result<Response<ReplyBody>, Infallible> {
    let started_ns = service.now_ns();
    let (parts, body) = request.into_parts();
    let body = if matches!(parts.method, Method::GET | Method::HEAD) {
        Bytes::new()
    } else {
        read_body(body).await
    };
    let head_bytes = match &way {
        Way::Http1(_) => Some(request_head_bytes(&parts)),
        Way::Http2(_, handed) => handed.map(|request| request.head_bytes),
    };
    let head = RequestHead {
        method: &parts.method,
        uri: &parts.uri,
        headers: &parts.headers,
        head_bytes,
    };
    let reply = service.answer(entrance, &head, &body, started_ns);
    if !reply.think.is_zero() {
        exact_wait(reply.think).await;
    }
    let body = match &way {
        Way::Http1(_) => ReplyBody::direct(reply.body),
        Way::Http2(gate, handed) => {
            let stream = handed.map(|request| request.stream);
            ReplyBody::gated(reply.body, gate, stream, service.priority(&parts.headers))
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    if let Way::Http1(record) = &way {
        let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
        record.on_passed(Passed::RequestHead(head_bytes.unwrap_or_default()));
        record.on_passed(Passed::ResponseHead(response_head_bytes(&response)));
    }
    Ok(response)
}

/// The whole body is read, so that the connection can go on; its beginning is kept.
async fn read_body(mut body: Incoming) -> Bytes {
    let mut kept = BytesMut::new();
    while let Some(Ok(frame)) = body.frame().await {
        if let Ok(data) = frame.into_data() {
            let room = REQUEST_BODY_BYTES_MAX - kept.len();
            kept.extend_from_slice(&data[..data.len().min(room)]);
        }
    }
    kept.freeze()
}
