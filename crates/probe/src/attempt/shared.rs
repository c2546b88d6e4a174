use crate::tls::TlsStream;
use crate::{Failure, FailureClass};
use rustls::ProtocolVersion;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The size of a read while waiting for a ticket; bodies that arrive meanwhile are discarded.
const READ_BYTES: usize = 4096;

/// A stream shared between HTTP and code that reads the TLS state.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<TlsStream>>);

impl Shared {
    /// Shares a stream.
    pub fn new(stream: TlsStream) -> Self {
        Self(Arc::new(Mutex::new(stream)))
    }

    /// Locks the stream, to read the TLS state.
    pub fn lock(&self) -> MutexGuard<'_, TlsStream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads until the server has sent a ticket; TLS 1.2's arrives with the handshake.
    ///
    /// # Errors
    /// The class and a description.
    pub async fn wait_for_ticket(&self) -> Result<(), Failure> {
        let mut room = [0; READ_BYTES];
        std::future::poll_fn(|context| {
            loop {
                let mut stream = self.lock();
                let tls = stream.tls();
                if tls.tls13_tickets_received() > 0
                    || tls.protocol_version() == Some(ProtocolVersion::TLSv1_2)
                {
                    return Poll::Ready(Ok(()));
                }
                let mut buffer = ReadBuf::new(&mut room);
                match ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer)) {
                    Ok(()) if buffer.filled().is_empty() => {
                        let detail = "the server closed and gave no ticket";
                        return Poll::Ready(Err(Failure::new(FailureClass::NoSession, detail)));
                    }
                    Ok(()) => {}
                    Err(error) => return Poll::Ready(Err(stream.failure(&error))),
                }
            }
        })
        .await
    }
}

impl AsyncRead for Shared {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.lock()).poll_read(context, buffer)
    }
}

impl AsyncWrite for Shared {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.lock()).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.lock()).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.lock()).poll_shutdown(context)
    }
}
