//! The requests of a connection, each answered by the service.

use super::H3Connection;
use crate::Service;
use crate::scheduler::{Gate, ReplyBody};
use crate::service::{Entrance, REQUEST_BODY_BYTES_MAX, RequestHead};
use bytes::{Buf, Bytes, BytesMut};
use h3::server::{RequestResolver, RequestStream};
use http::{Method, Response};
use http_body_util::BodyExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::task::JoinSet;

const H3_HEADER_BYTES_MAX: u64 = 64 * 1024;

/// Whether requests come before the handshake is complete.
#[derive(Debug, Default)]
pub(super) struct EarlyRequests {
    pub complete: AtomicBool,
    pub seen: AtomicBool,
}

/// Answers what is asked for until the client goes away.
pub(super) async fn requests(
    connection: H3Connection,
    entrance: Entrance,
    service: Arc<Service>,
    gate: &Gate,
    early: &EarlyRequests,
) {
    let mut builder = h3::server::builder();
    // No reserved frames and streams, since HTTP/2 here sends none either.
    builder
        .max_field_section_size(H3_HEADER_BYTES_MAX)
        .send_grease(false);
    let Ok(mut connection) = builder.build::<_, Bytes>(connection).await else {
        return;
    };
    let mut running = JoinSet::new();
    // A client that goes away is no fault of the server; its requests say how far they came.
    while let Ok(Some(resolver)) = connection.accept().await {
        while running.try_join_next().is_some() {}
        if !early.complete.load(Ordering::Relaxed) {
            early.seen.store(true, Ordering::Relaxed);
        }
        running.spawn(respond(resolver, entrance, service.clone(), gate.clone()));
    }
}

async fn respond(
    resolver: RequestResolver<H3Connection, Bytes>,
    entrance: Entrance,
    service: Arc<Service>,
    gate: Gate,
) {
    let Ok((request, mut stream)) = resolver.resolve_request().await else {
        return;
    };
    let started_ns = service.now_ns();
    let body = if matches!(*request.method(), Method::GET | Method::HEAD) {
        Bytes::new()
    } else {
        read_body(&mut stream).await
    };
    let head = RequestHead {
        method: request.method(),
        uri: request.uri(),
        headers: request.headers(),
    };
    let reply = service.answer(entrance, &head, &body, started_ns);
    if !reply.think.is_zero() {
        tokio::time::sleep(reply.think).await;
    }
    let mut response = Response::new(());
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    let mut body = ReplyBody::gated(
        reply.body,
        &gate,
        Some(stream.id().into_inner()),
        service.priority(request.headers()),
    );
    if stream.send_response(response).await.is_err() {
        return;
    }
    while let Some(Ok(frame)) = body.frame().await {
        if let Ok(data) = frame.into_data()
            && stream.send_data(data).await.is_err()
        {
            return;
        }
    }
    let _ = stream.finish().await;
}

/// The whole body is read, so that the client may go on; its beginning is kept.
async fn read_body<S>(stream: &mut RequestStream<S, Bytes>) -> Bytes
where
    S: h3::quic::RecvStream,
{
    let mut kept = BytesMut::new();
    while let Ok(Some(mut data)) = stream.recv_data().await {
        while data.has_remaining() {
            let chunk = data.chunk();
            let room = REQUEST_BODY_BYTES_MAX - kept.len();
            kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
            let length = chunk.len();
            data.advance(length);
        }
    }
    kept.freeze()
}
