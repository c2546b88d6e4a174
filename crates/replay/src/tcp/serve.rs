use super::frames::{Http2Event, Http2Stream, OpenedStreams, Request as Handed};
use super::http1_heads::{request_head_bytes, response_head_bytes};
use super::interim::InterimHeads;
use super::observed::Observed;
use super::record::ConnectionRecord;
use super::turns::Turns;
use crate::exact_wait::wait_exactly;
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

/// The time limit of a handshake: over the slowest preset (760 ms, 6 % loss) it may need many
/// retransmissions.
pub(super) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(60);
/// The limit of concurrent streams, common to nginx and Chromium's default: at least 100 (RFC 9113,
/// section 6.5.2).
const H2_STREAMS_MAX: u32 = 100;
/// The limit of reset streams: a browser that leaves a page resets all its streams at once, which
/// is no attack here.
const H2_RESET_STREAMS_MAX: usize = 1000;
/// The bytes that rustls may hold and the kernel has not accepted: two records of 4 kB, one chunk
/// of a body.
const WRITE_BYTES_MAX: usize = 8 * 1024;
const H2_HEADER_BYTES_MAX: u32 = 64 * 1024;
/// The receive window for uploads, which are small in recordings.
const H2_RECEIVE_WINDOW_BYTES: u32 = 1024 * 1024;
/// The interval of checks for clients that do not read.
pub(crate) const STALL_INTERVAL: Duration = Duration::from_secs(5);

/// Serves one accepted connection of a secure port until it ends.
pub(super) async fn serve_tls(
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
    let failed = |error: io::Error| {
        let reason = format!("the TLS handshake failed: {error}");
        note(&reason);
        record_own_fault(&record, is_own_fault(&error), &reason);
    };
    // As much as one write holds, so that nothing waits in rustls's own buffer of 64 kB.
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
        let entrance = record_handshake(&record, version, tls, transport, Some(early));
        let turns = transport.cork();
        return serve_http(stream, turns, entrance, stack, service, record).await;
    }
    let accepting = acceptor.accept(stream).into_fallible();
    let mut stream = match tokio::time::timeout(HANDSHAKE_TIMEOUT, accepting).await {
        Ok(Ok(stream)) => stream,
        Ok(Err((error, _stream))) => return failed(error),
        Err(_) => return,
    };
    let (transport, tls) = stream.get_mut();
    tls.set_buffer_limit(Some(limit));
    let entrance = record_handshake(&record, version, tls, transport, None);
    let turns = transport.cork();
    serve_http(stream, turns, entrance, stack, service, record).await;
}

/// Records the result of the handshake.
fn record_handshake(
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

async fn serve_http<S>(
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
        HttpVersion::H1 => serve_http1(stream, &turns, entrance, service, record).await,
        // HTTP/3 is served by other listeners.
        HttpVersion::H2 | HttpVersion::H3 => {
            serve_http2(stream, &turns, entrance, service, stack, record).await;
        }
    }
}

/// Serves one accepted connection of a cleartext port until it ends.
pub(super) async fn serve_cleartext(stream: TcpStream, service: Arc<Service>) {
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
    let turns = stream.cork();
    serve_http1(stream, &turns, entrance, service, record).await;
}

async fn serve_http1<S>(
    stream: S,
    turns: &Turns,
    entrance: Entrance,
    service: Arc<Service>,
    record: Arc<Mutex<ConnectionRecord>>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let answer = service_fn(|request| {
        let context = HttpContext::Http1(record.clone());
        respond(request, entrance, service.clone(), context)
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), answer);
    if let Err(error) = turns.drive(connection).await {
        record_own_fault(&record, is_own_fault(&error), &error);
    }
}

async fn serve_http2<S>(
    stream: S,
    turns: &Turns,
    entrance: Entrance,
    service: Arc<Service>,
    stack: &StackConfig,
    record: Arc<Mutex<ConnectionRecord>>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let room = Room::for_stack(stack, two_chunks);
    let gate = Gate::new(stack.priorities, room);
    turns.set_gate(gate.clone());
    let opened = OpenedStreams::default();
    let table_bytes = stack.header_table();
    let report = {
        let record = record.clone();
        move |event| {
            let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
            record.on_http2_event(event);
        }
    };
    let interim = InterimHeads::default();
    let stream = Http2Stream::new(
        stream,
        gate.clone(),
        opened.clone(),
        table_bytes,
        interim.clone(),
        report,
    );
    let answer = service_fn(|request| {
        let context = HttpContext::Http2(gate.clone(), interim.clone(), opened.next());
        respond(request, entrance, service.clone(), context)
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
            ended = &mut connection => {
                if let Err(error) = ended {
                    record_own_fault(&record, is_own_fault(&error), &error);
                }
                return;
            }
            () = tokio::time::sleep(STALL_INTERVAL) => gate.check_stall(),
        }
    }
}

/// Records why the server ended a connection, if it was its own fault.
fn record_own_fault(record: &Mutex<ConnectionRecord>, is_own: bool, reason: impl ToString) {
    if is_own {
        let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
        record.on_server_error(reason);
    }
}

/// Returns whether an error is the server's own: it could not process the input, or failed on its
/// own response. A client that disconnects early is none, nor is a path that accepts nothing more.
fn is_own_fault(error: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(io) = error.downcast_ref::<io::Error>() {
        // rustls could not parse it; every other kind is the socket's.
        return io.kind() == io::ErrorKind::InvalidData;
    }
    if let Some(http2) = error.downcast_ref::<h2::Error>() {
        return http2.is_library();
    }
    let is_gone = error.downcast_ref::<hyper::Error>().is_some_and(|error| {
        error.is_closed()
            || error.is_canceled()
            || error.is_incomplete_message()
            || error.is_shutdown()
    });
    !is_gone && error.source().is_none_or(is_own_fault)
}

/// The protocol by which a request arrived and its response is sent.
enum HttpContext {
    Http1(Arc<Mutex<ConnectionRecord>>),
    /// The connection's gate and interim heads, and the request's stream if it is known.
    Http2(Gate, InterimHeads, Option<Handed>),
}

async fn respond(
    request: Request<Incoming>,
    entrance: Entrance,
    service: Arc<Service>,
    context: HttpContext,
) -> Result<Response<ReplyBody>, Infallible> {
    let started_ns = service.now_ns();
    let (parts, body) = request.into_parts();
    let body = if matches!(parts.method, Method::GET | Method::HEAD) {
        Bytes::new()
    } else {
        read_body(body).await
    };
    let head_bytes = match &context {
        HttpContext::Http1(_) => Some(request_head_bytes(&parts)),
        HttpContext::Http2(.., handed) => handed.map(|request| request.head_bytes),
    };
    let head = RequestHead {
        method: &parts.method,
        uri: &parts.uri,
        headers: &parts.headers,
        head_bytes,
    };
    let reply = service.answer(entrance, &head, &body, started_ns).await;
    if let HttpContext::Http2(_, interim, Some(handed)) = &context
        && let Some(link) = &reply.early_hints
    {
        interim.send_early_hints(handed.stream, link);
    }
    if !reply.think.is_zero() {
        wait_exactly(reply.think).await;
    }
    let body = match &context {
        HttpContext::Http1(_) => ReplyBody::direct(reply.body, reply.stream),
        HttpContext::Http2(gate, _, handed) => {
            let stream = handed.map(|request| request.stream);
            let priority = service.priority(&parts.headers);
            ReplyBody::gated(reply.body, reply.stream, gate, stream, priority)
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    if let HttpContext::Http1(record) = &context {
        let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
        record.on_http2_event(Http2Event::RequestHead(head_bytes.unwrap_or_default()));
        record.on_http2_event(Http2Event::ResponseHead(response_head_bytes(&response)));
    }
    Ok(response)
}

/// Reads the whole body, so that the connection can continue, and returns its beginning.
async fn read_body(mut body: Incoming) -> Bytes {
    let mut body_start = BytesMut::new();
    while let Some(Ok(frame)) = body.frame().await {
        if let Ok(data) = frame.into_data() {
            let room = REQUEST_BODY_BYTES_MAX - body_start.len();
            body_start.extend_from_slice(&data[..data.len().min(room)]);
        }
    }
    body_start.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncWriteExt, DuplexStream, duplex};

    #[test]
    fn a_path_that_takes_nothing_and_a_client_that_goes_are_no_fault_of_the_server() {
        for kind in [
            io::ErrorKind::ConnectionReset,
            io::ErrorKind::BrokenPipe,
            io::ErrorKind::TimedOut,
            io::ErrorKind::UnexpectedEof,
        ] {
            assert!(!is_own_fault(&io::Error::from(kind)), "{kind}");
        }
        let unread = rustls::Error::DecryptError;
        assert!(is_own_fault(&io::Error::new(
            io::ErrorKind::InvalidData,
            unread
        )));
    }

    /// Serves these bytes, after which the client disconnects; returns whether an error is the
    /// server's own.
    async fn find_fault(sent: &'static [u8], version: HttpVersion) -> Option<bool> {
        let (mut client, server): (DuplexStream, _) = duplex(64 * 1024);
        let answer = service_fn(|_: Request<Incoming>| async {
            Ok::<_, Infallible>(Response::new(http_body_util::Empty::<Bytes>::new()))
        });
        let io = TokioIo::new(server);
        let serving = async {
            if version == HttpVersion::H1 {
                let server = hyper::server::conn::http1::Builder::new();
                server.serve_connection(io, answer).await
            } else {
                let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                server.serve_connection(io, answer).await
            }
        };
        let sending = async {
            client.write_all(sent).await.unwrap();
            client.shutdown().await.unwrap();
            let mut rest = Vec::new();
            let _ = tokio::io::AsyncReadExt::read_to_end(&mut client, &mut rest).await;
        };
        let (served, ()) = tokio::join!(serving, sending);
        served.err().map(|error| is_own_fault(&error))
    }

    #[tokio::test]
    async fn unreadable_input_is_the_servers_fault_and_an_early_end_is_not() {
        const PREFACE: &[u8] =
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";
        const EVEN_STREAM: &[u8] =
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00\
            \x00\x00\x01\x01\x05\x00\x00\x00\x02\x82";
        let (h1, h2) = (HttpVersion::H1, HttpVersion::H2);
        let sound = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";
        assert_ne!(find_fault(sound, h1).await, Some(true));
        assert_ne!(find_fault(b"GET / HTTP/1.1\r\nho", h1).await, Some(true));
        assert_eq!(
            find_fault(b"\x16\x03\x01 no request\r\n\r\n", h1).await,
            Some(true)
        );
        assert_ne!(find_fault(PREFACE, h2).await, Some(true));
        assert_eq!(find_fault(EVEN_STREAM, h2).await, Some(true));
    }
}
