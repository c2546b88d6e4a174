use crate::kernel::{self, Received};
use crate::{Failure, FailureClass, Timeline};
use rustls::ClientConnection;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

/// The size of a read: a TLS record and its header.
const READ_BYTES: usize = 17 * 1024;
/// The most early data: more than a request of ours takes.
const EARLY_BYTES_MAX: usize = 16 * 1024;

/// The observations of a stream, shared with other tasks.
#[derive(Debug, Default)]
pub struct Observed {
    /// The handshake's times and sizes.
    pub timeline: Timeline,
    /// Time inside the TLS library until the handshake was complete.
    pub crypto_ns: u64,
    /// The read that completed the handshake.
    pub completing: Option<Received>,
    /// Time when the first byte of a request was sent.
    pub first_request_byte_ns: Option<u64>,
    /// Time when the data read last had arrived.
    pub last_arrival_ns: Option<u64>,
    /// The error of TLS, which the stream's own error hides.
    pub tls_error: Option<Failure>,
}

/// TLS over TCP, driven by reads and writes, with early data if the session allows it.
#[derive(Debug)]
pub struct TlsStream {
    tcp: TcpStream,
    tls: ClientConnection,
    observed: Arc<Mutex<Observed>>,
    /// Bytes sent as early data, to be sent again if the server rejects them.
    early: Vec<u8>,
    has_request: bool,
}

impl TlsStream {
    /// Creates a stream whose handshake begins with the first read or write.
    pub fn new(tcp: TcpStream, tls: ClientConnection) -> Self {
        Self {
            tcp,
            tls,
            observed: Arc::default(),
            early: Vec::new(),
            has_request: false,
        }
    }

    /// Returns the observations, which continue to be updated.
    pub fn observed(&self) -> Arc<Mutex<Observed>> {
        self.observed.clone()
    }

    /// Returns the state of TLS.
    pub fn tls(&self) -> &ClientConnection {
        &self.tls
    }

    /// Drives the handshake to its end.
    ///
    /// # Errors
    /// The class and a description.
    pub async fn handshake(&mut self) -> Result<(), Failure> {
        let done = std::future::poll_fn(|context| {
            while self.tls.is_handshaking() {
                ready!(self.poll_send(context))?;
                if self.tls.is_handshaking() && ready!(self.poll_fill(context))? == 0 {
                    return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
                }
            }
            self.poll_send(context)
        });
        done.await.map_err(|error| self.failure(&error))
    }

    /// Returns the reason behind an error of this stream.
    pub fn failure(&self, error: &io::Error) -> Failure {
        let known = self.lock().tls_error.clone();
        known.unwrap_or_else(|| Failure::from_socket(error, FailureClass::TlsProtocol))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Observed> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes all records that TLS has ready.
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.tls.wants_write() {
            let at_ns = kernel::monotonic_ns();
            let mut output = Output { tcp: &self.tcp };
            match self.tls.write_tls(&mut output) {
                Ok(bytes) => {
                    let mut observed = self.lock();
                    observed.timeline.sent(at_ns, bytes);
                    if self.has_request {
                        observed.first_request_byte_ns.get_or_insert(at_ns);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready!(self.tcp.poll_write_ready(context))?;
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Reads from the socket once and has TLS process the bytes; 0 at the end.
    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        // Not kept: thousands of connections are open at once.
        let mut buffer = [0; READ_BYTES];
        let received = loop {
            let tcp = &self.tcp;
            match tcp.try_io(Interest::READABLE, || {
                kernel::receive(tcp.as_fd(), &mut buffer)
            }) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready!(self.tcp.poll_read_ready(context))?;
                }
                result => break result?,
            }
        };
        let was_handshaking = self.tls.is_handshaking();
        let began_ns = kernel::monotonic_ns();
        let result = feed(&mut self.tls, &buffer[..received.bytes]);
        let took_ns = kernel::monotonic_ns() - began_ns;
        let is_complete = was_handshaking && result.is_ok() && !self.tls.is_handshaking();
        let mut observed = self.lock();
        observed.last_arrival_ns = Some(received.at_ns);
        if received.bytes > 0 {
            let (at_ns, read_ns) = (received.at_ns, received.read_ns);
            observed.timeline.received(at_ns, read_ns, received.bytes);
        }
        if was_handshaking {
            observed.crypto_ns += took_ns;
        }
        if is_complete {
            observed.timeline.complete(received.at_ns + took_ns);
            observed.completing = Some(received);
        }
        if let Err(error) = &result {
            observed.tls_error.get_or_insert(Failure::from_tls(error));
        }
        drop(observed);
        if let Err(error) = result {
            // Sends the alert with the reason; whether it arrives does not matter here.
            let _ = self.poll_send(context);
            return Poll::Ready(Err(io::Error::other(error)));
        }
        if is_complete {
            self.settle_early()?;
        }
        Poll::Ready(Ok(received.bytes))
    }

    /// Sends early data again that the server rejected (RFC 8446, section 4.2.10).
    fn settle_early(&mut self) -> io::Result<()> {
        let early = std::mem::take(&mut self.early);
        if !early.is_empty() && !self.tls.is_early_data_accepted() {
            self.tls.writer().write_all(&early)?;
        }
        Ok(())
    }
}

pub(super) fn feed(tls: &mut ClientConnection, mut bytes: &[u8]) -> Result<(), rustls::Error> {
    if bytes.is_empty() {
        return Ok(());
    }
    while !bytes.is_empty() {
        let taken = tls.read_tls(&mut bytes);
        tls.process_new_packets()?;
        if taken.is_err() {
            break; // Its buffer of plaintext is full; a response's head never gets there.
        }
    }
    Ok(())
}

/// The socket as a plain writer, with tokio's readiness kept up to date.
struct Output<'a> {
    tcp: &'a TcpStream,
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.tcp.try_write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsyncRead for TlsStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            match this.tls.reader().read(buffer.initialize_unfilled()) {
                Ok(bytes) => {
                    buffer.advance(bytes);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
            ready!(this.poll_send(context))?;
            let bytes = ready!(this.poll_fill(context))?;
            if bytes == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncWrite for TlsStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.has_request = true;
        if this.tls.is_handshaking() {
            let room = EARLY_BYTES_MAX.saturating_sub(this.early.len());
            let part = &bytes[..bytes.len().min(room)];
            let taken = match this.tls.early_data() {
                Some(mut early) if !part.is_empty() => early.write(part)?,
                _ => 0,
            };
            if taken > 0 {
                this.early.extend_from_slice(&part[..taken]);
                return Poll::Ready(Ok(taken));
            }
        }
        while this.tls.is_handshaking() {
            ready!(this.poll_send(context))?;
            if this.tls.is_handshaking() && ready!(this.poll_fill(context))? == 0 {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
        }
        let taken = this.tls.writer().write(bytes)?;
        if taken == 0 {
            ready!(this.poll_send(context))?;
            return Poll::Ready(this.tls.writer().write(bytes));
        }
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_send(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.tls.send_close_notify();
        this.poll_send(context)
    }
}
