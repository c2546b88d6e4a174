//! TLS over TCP that passes a request on before the handshake is complete: tokio-rustls reads early
//! data only after the client's second flight, a round trip late.

use rustls::ServerConnection;
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A secured stream from the moment when a request may arrive.
#[derive(Debug)]
pub(crate) struct EarlyStream<S> {
    stream: S,
    session: ServerConnection,
}

/// Waits until the handshake is complete or early data were accepted, whichever is first.
///
/// # Errors
/// The error of the handshake or the stream, with the stream.
pub(crate) async fn accept_early<S>(
    stream: S,
    config: Arc<rustls::ServerConfig>,
    buffer_limit: usize,
) -> Result<EarlyStream<S>, (io::Error, S)>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut session = match ServerConnection::new(config) {
        Ok(session) => session,
        Err(error) => return Err((io::Error::other(error), stream)),
    };
    session.set_buffer_limit(Some(buffer_limit));
    let mut accepting = EarlyStream { stream, session };
    let done = poll_fn(|context| accepting.poll_accept(context)).await;
    match done {
        Ok(()) => Ok(accepting),
        Err(error) => Err((error, accepting.stream)),
    }
}

impl<S> EarlyStream<S> {
    /// Returns the transport and the session.
    pub fn get_mut(&mut self) -> (&mut S, &mut ServerConnection) {
        (&mut self.stream, &mut self.session)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> EarlyStream<S> {
    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            // What the transport does not accept now is sent with the next call.
            let _ = self.poll_send(context)?;
            if !self.session.is_handshaking() || self.session.early_data().is_some() {
                return Poll::Ready(Ok(()));
            }
            if ready!(self.poll_receive(context))? == 0 {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }

    /// Writes records to the transport until it accepts no more.
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.session.wants_write() {
            let mut writer = Transport {
                stream: &mut self.stream,
                context,
            };
            match self.session.write_tls(&mut writer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                result => result?,
            };
        }
        Poll::Ready(Ok(()))
    }

    /// Reads from the transport and decrypts; 0 at its end.
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut reader = Transport {
            stream: &mut self.stream,
            context,
        };
        let bytes = match self.session.read_tls(&mut reader) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
            result => result?,
        };
        if let Err(error) = self.session.process_new_packets() {
            // Sends the alert with the reason; the connection ends in any case.
            let _ = self.poll_send(context);
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error)));
        }
        Poll::Ready(Ok(bytes))
    }

    fn read_early(&mut self, buffer: &mut ReadBuf<'_>) -> io::Result<usize> {
        let Some(mut early) = self.session.early_data() else {
            return Ok(0);
        };
        let bytes = early.read(buffer.initialize_unfilled())?;
        buffer.advance(bytes);
        Ok(bytes)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for EarlyStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            if self.read_early(buffer)? > 0 {
                return Poll::Ready(Ok(()));
            }
            match self.session.reader().read(buffer.initialize_unfilled()) {
                Ok(bytes) => {
                    buffer.advance(bytes);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Browsers close without close_notify (RFC 8446, section 6.1).
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Poll::Ready(Ok(()));
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
            let received = self.poll_receive(context);
            // Reading may require an answer: the rest of the handshake, a new key.
            let _ = self.poll_send(context)?;
            ready!(received)?;
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for EarlyStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            let bytes = self.session.writer().write(data)?;
            let sent = self.poll_send(context)?;
            if bytes > 0 || data.is_empty() {
                return Poll::Ready(Ok(bytes));
            }
            ready!(sent);
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.session.writer().flush()?;
        ready!(self.poll_send(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.session.send_close_notify();
        ready!(self.poll_send(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The transport with the blocking traits that rustls uses: operations that would wait return
/// `WouldBlock`, and the waker is registered.
struct Transport<'a, 'b, S> {
    stream: &'a mut S,
    context: &'a mut Context<'b>,
}

fn now<T>(poll: Poll<io::Result<T>>) -> io::Result<T> {
    match poll {
        Poll::Ready(result) => result,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}

impl<S: AsyncRead + Unpin> Read for Transport<'_, '_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(buffer);
        now(Pin::new(&mut *self.stream).poll_read(self.context, &mut buffer))?;
        Ok(buffer.filled().len())
    }
}

impl<S: AsyncWrite + Unpin> Write for Transport<'_, '_, S> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        now(Pin::new(&mut *self.stream).poll_write(self.context, data))
    }

    fn flush(&mut self) -> io::Result<()> {
        now(Pin::new(&mut *self.stream).poll_flush(self.context))
    }
}
