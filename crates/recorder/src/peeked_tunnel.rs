//! A tunnel whose first byte is peeked at to detect its protocol.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

/// A tunnel whose first byte was peeked at.
pub struct PeekedTunnel {
    first: Option<u8>,
    stream: TokioIo<Upgraded>,
}

impl PeekedTunnel {
    /// Reads the first byte of a tunnel, which will be read again with the rest.
    pub async fn peek(upgraded: Upgraded) -> io::Result<(u8, Self)> {
        let mut stream = TokioIo::new(upgraded);
        let first = stream.read_u8().await?;
        let peeked_tunnel = Self {
            first: Some(first),
            stream,
        };
        Ok((first, peeked_tunnel))
    }
}

impl AsyncRead for PeekedTunnel {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buffer.remaining() > 0
            && let Some(first) = self.first.take()
        {
            buffer.put_slice(&[first]);
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for PeekedTunnel {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
