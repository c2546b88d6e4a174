//! A TCP stream with arrival times. On a busy machine a reading task wakes up milliseconds after
//! its bytes arrive, so the kernel timestamps each packet.

use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use eyelevel_netns::socket_times as kernel;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

/// The size of a read, about three packets, since its timestamp is that of its last byte.
const READ_BYTES_MAX: usize = 4096;

/// The arrival time of the bytes that were read last, shared by a stream and the layers above it.
#[derive(Debug, Clone, Default)]
pub struct Arrival(Arc<AtomicU64>);

impl Arrival {
    /// Returns the time in nanoseconds of `CLOCK_MONOTONIC`, or now for a stream without
    /// timestamps.
    pub fn last_ns(&self) -> u64 {
        match self.0.load(Ordering::Relaxed) {
            0 => kernel::monotonic_ns(),
            arrived_ns => arrived_ns,
        }
    }

    /// Sets the arrival time of the bytes just read.
    pub fn set_ns(&self, arrived_ns: u64) {
        self.0.store(arrived_ns, Ordering::Relaxed);
    }
}

/// A TCP connection that records arrival times.
#[derive(Debug)]
pub struct Stamped {
    tcp: TcpStream,
    arrival: Arrival,
}

impl Stamped {
    /// Enables kernel timestamps; if there are none, the reader's own clock is used.
    pub fn new(tcp: TcpStream) -> Self {
        let _ = kernel::enable_timestamps(tcp.as_fd());
        let arrival = Arrival::default();
        Self { tcp, arrival }
    }

    /// Returns the arrival time that this connection updates.
    pub fn arrival(&self) -> Arrival {
        self.arrival.clone()
    }
}

impl AsyncRead for Stamped {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let room = buffer.remaining().min(READ_BYTES_MAX);
        let tcp = &self.tcp;
        loop {
            let unfilled = buffer.initialize_unfilled_to(room);
            let read = || kernel::receive(tcp.as_fd(), unfilled);
            match tcp.try_io(Interest::READABLE, read) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready!(tcp.poll_read_ready(context))?;
                }
                result => {
                    let received = result?;
                    self.arrival.set_ns(received.at_ns);
                    buffer.advance(received.bytes);
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}

impl AsyncWrite for Stamped {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(context, data)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(context)
    }
}
