//! HTTP/3's view (crate `h3`) of a QUIC connection (crate `noq`).

use bytes::{Buf, Bytes};
use h3::quic::{self, ConnectionErrorIncoming, StreamErrorIncoming, StreamId, WriteBuf};
use noq::{ConnectionError, ReadError, RecvStream, SendStream, VarInt, WriteError};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A future that outlives the poll which made it, since noq's own borrow their connection.
type Waiting<T> = Pin<Box<dyn Future<Output = Result<T, ConnectionError>> + Send + Sync>>;
type Bidirectional = (SendStream, RecvStream);

/// A QUIC connection as h3 wants it, at either end.
pub struct H3Connection {
    connection: noq::Connection,
    accepting_bidirectional: Option<Waiting<Bidirectional>>,
    accepting_unidirectional: Option<Waiting<RecvStream>>,
    opener: H3Opener,
}

impl H3Connection {
    /// Takes over an established connection; a clone of the handle may be kept to read statistics.
    pub fn new(connection: noq::Connection) -> Self {
        Self {
            opener: H3Opener::new(connection.clone()),
            connection,
            accepting_bidirectional: None,
            accepting_unidirectional: None,
        }
    }
}

impl<B: Buf> quic::Connection<B> for H3Connection {
    type RecvStream = H3Recv;
    type OpenStreams = H3Opener;

    fn poll_accept_recv(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Self::RecvStream, ConnectionErrorIncoming>> {
        let connection = &self.connection;
        let stream = ready!(poll_waiting(
            &mut self.accepting_unidirectional,
            context,
            || {
                let connection = connection.clone();
                Box::pin(async move { connection.accept_uni().await })
            }
        ));
        Poll::Ready(stream.map(H3Recv).map_err(connection_error))
    }

    fn poll_accept_bidi(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Self::BidiStream, ConnectionErrorIncoming>> {
        let connection = &self.connection;
        let streams = ready!(poll_waiting(
            &mut self.accepting_bidirectional,
            context,
            || {
                let connection = connection.clone();
                Box::pin(async move { connection.accept_bi().await })
            }
        ));
        Poll::Ready(streams.map(H3Bidirectional::new).map_err(connection_error))
    }

    fn opener(&self) -> Self::OpenStreams {
        H3Opener::new(self.connection.clone())
    }
}

impl<B: Buf> quic::OpenStreams<B> for H3Connection {
    type BidiStream = H3Bidirectional<B>;
    type SendStream = H3Send<B>;

    fn poll_open_bidi(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Self::BidiStream, StreamErrorIncoming>> {
        self.opener.poll_open_bidi(context)
    }

    fn poll_open_send(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Self::SendStream, StreamErrorIncoming>> {
        self.opener.poll_open_send(context)
    }

    fn close(&mut self, code: h3::error::Code, reason: &[u8]) {
        quic::OpenStreams::<B>::close(&mut self.opener, code, reason);
    }
}

/// Opens streams of a connection.
pub struct H3Opener {
    connection: noq::Connection,
    opening_bidirectional: Option<Waiting<Bidirectional>>,
    opening_unidirectional: Option<Waiting<SendStream>>,
}

impl H3Opener {
    fn new(connection: noq::Connection) -> Self {
        Self {
            connection,
            opening_bidirectional: None,
            opening_unidirectional: None,
        }
    }
}

impl Clone for H3Opener {
    fn clone(&self) -> Self {
        Self::new(self.connection.clone())
    }
}

impl<B: Buf> quic::OpenStreams<B> for H3Opener {
    type BidiStream = H3Bidirectional<B>;
    type SendStream = H3Send<B>;

    fn poll_open_bidi(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Self::BidiStream, StreamErrorIncoming>> {
        let connection = &self.connection;
        let streams = ready!(poll_waiting(
            &mut self.opening_bidirectional,
            context,
            || {
                let connection = connection.clone();
                Box::pin(async move { connection.open_bi().await })
            }
        ));
        Poll::Ready(streams.map(H3Bidirectional::new).map_err(stream_lost))
    }

    fn poll_open_send(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Self::SendStream, StreamErrorIncoming>> {
        let connection = &self.connection;
        let stream = ready!(poll_waiting(
            &mut self.opening_unidirectional,
            context,
            || {
                let connection = connection.clone();
                Box::pin(async move { connection.open_uni().await })
            }
        ));
        Poll::Ready(stream.map(H3Send::new).map_err(stream_lost))
    }

    fn close(&mut self, code: h3::error::Code, reason: &[u8]) {
        self.connection.close(error_code(code.value()), reason);
    }
}

/// Both directions of a request's stream.
pub struct H3Bidirectional<B: Buf> {
    send: H3Send<B>,
    receive: H3Recv,
}

impl<B: Buf> H3Bidirectional<B> {
    fn new((send, receive): Bidirectional) -> Self {
        Self {
            send: H3Send::new(send),
            receive: H3Recv(receive),
        }
    }
}

impl<B: Buf> quic::BidiStream<B> for H3Bidirectional<B> {
    type SendStream = H3Send<B>;
    type RecvStream = H3Recv;

    fn split(self) -> (Self::SendStream, Self::RecvStream) {
        (self.send, self.receive)
    }
}

impl<B: Buf> quic::RecvStream for H3Bidirectional<B> {
    type Buf = Bytes;

    fn poll_data(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, StreamErrorIncoming>> {
        self.receive.poll_data(context)
    }

    fn stop_sending(&mut self, code: u64) {
        self.receive.stop_sending(code);
    }

    fn recv_id(&self) -> StreamId {
        self.receive.recv_id()
    }
}

impl<B: Buf> quic::SendStream<B> for H3Bidirectional<B> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        self.send.poll_ready(context)
    }

    fn send_data<T: Into<WriteBuf<B>>>(&mut self, data: T) -> Result<(), StreamErrorIncoming> {
        self.send.send_data(data)
    }

    fn poll_finish(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        self.send.poll_finish(context)
    }

    fn reset(&mut self, code: u64) {
        self.send.reset(code);
    }

    fn send_id(&self) -> StreamId {
        self.send.send_id()
    }
}

/// The sending side of a stream; holds at most one frame that is not yet written.
pub struct H3Send<B: Buf> {
    stream: SendStream,
    writing: Option<WriteBuf<B>>,
}

impl<B: Buf> H3Send<B> {
    fn new(stream: SendStream) -> Self {
        Self {
            stream,
            writing: None,
        }
    }
}

impl<B: Buf> quic::SendStream<B> for H3Send<B> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        while let Some(data) = &mut self.writing {
            if !data.has_remaining() {
                self.writing = None;
                break;
            }
            let write = Pin::new(&mut self.stream).poll_write(context, data.chunk());
            let written = ready!(write).map_err(write_error)?;
            data.advance(written);
        }
        Poll::Ready(Ok(()))
    }

    fn send_data<T: Into<WriteBuf<B>>>(&mut self, data: T) -> Result<(), StreamErrorIncoming> {
        if self.writing.is_some() {
            let connection_error = ConnectionErrorIncoming::InternalError(
                "a frame was given before the last one was written".into(),
            );
            return Err(StreamErrorIncoming::ConnectionErrorIncoming { connection_error });
        }
        self.writing = Some(data.into());
        Ok(())
    }

    fn poll_finish(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        ready!(self.poll_ready(context))?;
        let finished = self.stream.finish();
        Poll::Ready(finished.map_err(|error| StreamErrorIncoming::Unknown(Box::new(error))))
    }

    fn reset(&mut self, code: u64) {
        self.writing = None;
        // It fails only where the stream is closed already, and then nothing is left to reset.
        let _ = self.stream.reset(error_code(code));
    }

    fn send_id(&self) -> StreamId {
        stream_id(self.stream.id())
    }
}

/// The receiving side of a stream.
pub struct H3Recv(RecvStream);

impl quic::RecvStream for H3Recv {
    type Buf = Bytes;

    fn poll_data(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, StreamErrorIncoming>> {
        // Safe to drop when pending: noq keeps the waker with the connection, not in the future.
        let chunk = pin!(self.0.read_chunk(usize::MAX)).poll(context);
        chunk.map_err(read_error)
    }

    fn stop_sending(&mut self, code: u64) {
        // It fails only where the stream is closed already, and then nothing more arrives.
        let _ = self.0.stop(error_code(code));
    }

    fn recv_id(&self) -> StreamId {
        stream_id(self.0.id())
    }
}

fn poll_waiting<T>(
    slot: &mut Option<Waiting<T>>,
    context: &mut Context<'_>,
    start: impl FnOnce() -> Waiting<T>,
) -> Poll<Result<T, ConnectionError>> {
    let waiting = slot.get_or_insert_with(start);
    let result = ready!(waiting.as_mut().poll(context));
    *slot = None;
    Poll::Ready(result)
}

/// Codes of HTTP/3 are far below 2^62; a larger one would be a fault of h3.
fn error_code(code: u64) -> VarInt {
    VarInt::from_u64(code).unwrap_or(VarInt::MAX)
}

fn stream_id(id: noq::StreamId) -> StreamId {
    // Both count to 2^62 - 1 (RFC 9000, section 2.1), so every one fits the other.
    StreamId::try_from(u64::from(VarInt::from(id))).expect("a stream id below 2^62")
}

fn connection_error(error: ConnectionError) -> ConnectionErrorIncoming {
    match error {
        ConnectionError::ApplicationClosed(close) => ConnectionErrorIncoming::ApplicationClose {
            error_code: close.error_code.into_inner(),
        },
        ConnectionError::TimedOut => ConnectionErrorIncoming::Timeout,
        other => ConnectionErrorIncoming::Undefined(Arc::new(other)),
    }
}

fn stream_lost(error: ConnectionError) -> StreamErrorIncoming {
    StreamErrorIncoming::ConnectionErrorIncoming {
        connection_error: connection_error(error),
    }
}

fn write_error(error: WriteError) -> StreamErrorIncoming {
    match error {
        WriteError::Stopped(code) => StreamErrorIncoming::StreamTerminated {
            error_code: code.into_inner(),
        },
        WriteError::ConnectionLost(error) => stream_lost(error),
        other => StreamErrorIncoming::Unknown(Box::new(other)),
    }
}

fn read_error(error: ReadError) -> StreamErrorIncoming {
    match error {
        ReadError::Reset(code) => StreamErrorIncoming::StreamTerminated {
            error_code: code.into_inner(),
        },
        ReadError::ConnectionLost(error) => stream_lost(error),
        other => StreamErrorIncoming::Unknown(Box::new(other)),
    }
}
