//! Implements the traits of crate `h3` for a QUIC connection of crate `noq`.

mod convert;
mod reorder;
mod stream;

pub use stream::{H3Bidirectional, H3Recv, H3Send};

use bytes::Buf;
use convert::{connection_error, error_code, stream_lost};
use h3::quic::{self, ConnectionErrorIncoming, StreamErrorIncoming};
use noq::{ConnectionError, RecvStream, SendStream};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A future that outlives the poll which created it, since noq's own borrow their connection.
type Waiting<T> = Pin<Box<dyn Future<Output = Result<T, ConnectionError>> + Send + Sync>>;
type Bidirectional = (SendStream, RecvStream);

/// A QUIC connection with h3's traits, for either end; the server has its own HTTP/3 code, so our
/// client alone uses it.
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
        Poll::Ready(stream.map(H3Recv::new).map_err(connection_error))
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
        Poll::Ready(
            streams
                .map(H3Bidirectional::accepted)
                .map_err(connection_error),
        )
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

/// An opener of a connection's streams.
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
        Poll::Ready(streams.map(H3Bidirectional::opened).map_err(stream_lost))
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
