use super::convert::{error_code, read_error, reorder_error, stream_id, write_error};
use super::reorder::Reordered;
use bytes::{Buf, Bytes};
use h3::quic::{self, ConnectionErrorIncoming, StreamErrorIncoming, StreamId, WriteBuf};
use noq::{RecvStream, SendStream};
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

/// Both directions of a request's stream.
pub struct H3Bidirectional<B: Buf> {
    send: H3Send<B>,
    receive: H3Recv,
}

impl<B: Buf> H3Bidirectional<B> {
    /// Wraps a stream that the peer opened, as a client does for a request.
    pub(super) fn accepted((send, receive): (SendStream, RecvStream)) -> Self {
        Self {
            send: H3Send::new(send),
            receive: H3Recv::new(receive),
        }
    }

    /// Wraps a stream of our client's request, whose response may be large and full of gaps.
    pub(super) fn opened((send, receive): (SendStream, RecvStream)) -> Self {
        Self {
            send: H3Send::new(send),
            receive: H3Recv {
                source: Source::Unordered(Reordered::new(receive.into_unordered())),
            },
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
    pub(super) fn new(stream: SendStream) -> Self {
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
        // It fails only if the stream is closed already, and then nothing is left to reset.
        let _ = self.stream.reset(error_code(code));
    }

    fn send_id(&self) -> StreamId {
        stream_id(self.stream.id())
    }
}

/// The receiving side of a stream.
pub struct H3Recv {
    source: Source,
}

enum Source {
    Ordered(RecvStream),
    Unordered(Reordered),
}

impl H3Recv {
    pub(super) fn new(stream: RecvStream) -> Self {
        Self {
            source: Source::Ordered(stream),
        }
    }
}

impl quic::RecvStream for H3Recv {
    type Buf = Bytes;

    fn poll_data(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, StreamErrorIncoming>> {
        let chunk = match &mut self.source {
            // Safe to drop when pending: noq keeps the waker with the connection, not in the future.
            Source::Ordered(stream) => {
                ready!(pin!(stream.read_chunk(usize::MAX)).poll(context)).map_err(read_error)
            }
            Source::Unordered(stream) => ready!(stream.poll_chunk(context)).map_err(reorder_error),
        };
        Poll::Ready(chunk)
    }

    fn stop_sending(&mut self, code: u64) {
        // It fails only if the stream is closed already, and then nothing more arrives.
        let _ = match &mut self.source {
            Source::Ordered(stream) => stream.stop(error_code(code)),
            Source::Unordered(stream) => stream.stream.stop(error_code(code)),
        };
    }

    fn recv_id(&self) -> StreamId {
        stream_id(match &self.source {
            Source::Ordered(stream) => stream.id(),
            Source::Unordered(stream) => stream.stream.id(),
        })
    }
}
