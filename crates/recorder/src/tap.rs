//! Keeps the heads of HTTP/1.1 messages as they are on the wire: hyper's map of fields has neither
//! their case nor the order of repeated ones.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Longest head that is kept; what Chromium accepts of a response. A longer one is stored as hyper
/// has it.
const HEAD_BYTES_MAX: usize = 256 * 1024;

/// The head of the message that is being read on a connection.
#[derive(Debug, Default)]
pub struct ReadHead {
    bytes: BytesMut,
    first_byte_at: Option<Instant>,
    /// Something was written since: what is read next is another message.
    is_over: bool,
    /// The head was taken; what follows is the body.
    is_taken: bool,
}

impl ReadHead {
    fn on_read(&mut self, data: &[u8]) {
        if self.is_over {
            *self = Self::default();
        }
        self.first_byte_at.get_or_insert_with(Instant::now);
        if !self.is_taken {
            let room = HEAD_BYTES_MAX - self.bytes.len();
            self.bytes.extend_from_slice(&data[..data.len().min(room)]);
        }
    }

    /// When the message's first byte was read.
    pub fn first_byte_at(&self) -> Option<Instant> {
        self.first_byte_at
    }

    /// The next head, its empty line included; what is read from then on is a body, unless the head
    /// was an interim response's.
    pub fn take(&mut self) -> Option<Bytes> {
        let end = self.bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = self.bytes.split_to(end + 4).freeze();
        let is_interim = head.starts_with(b"HTTP/1.1 1") && !head.starts_with(b"HTTP/1.1 101");
        if !is_interim {
            self.is_taken = true;
            self.bytes = BytesMut::new();
        }
        Some(head)
    }
}

/// A head that a connection's stream and its driver share.
#[derive(Debug, Clone, Default)]
pub struct SharedHead(Arc<Mutex<ReadHead>>);

impl SharedHead {
    /// The head, for one short moment.
    pub fn lock(&self) -> MutexGuard<'_, ReadHead> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream whose messages' heads are kept.
#[derive(Debug)]
pub struct Tap<S> {
    stream: S,
    head: SharedHead,
}

impl<S> Tap<S> {
    /// Wraps `stream`; the head is shared with whoever reads it.
    pub fn new(stream: S) -> (Self, SharedHead) {
        let head = SharedHead::default();
        let tap = Self {
            stream,
            head: head.clone(),
        };
        (tap, head)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Tap<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let read = &buffer.filled()[before..];
        if !read.is_empty() {
            self.head.lock().on_read(read);
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tap<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, data);
        if matches!(polled, Poll::Ready(Ok(1..))) {
            self.head.lock().is_over = true;
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_come_out_as_they_were_and_bodies_do_not() {
        let mut head = ReadHead::default();
        head.on_read(b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nB: 1\r\na");
        assert!(head.take().unwrap().starts_with(b"HTTP/1.1 103"));
        assert_eq!(head.take(), None);
        head.on_read(b": 2\r\n\r\nbody\r\n\r\n");
        let expected = &b"HTTP/1.1 200 OK\r\nB: 1\r\na: 2\r\n\r\n"[..];
        assert_eq!(head.take().as_deref(), Some(expected));
        head.on_read(b"more\r\n\r\n");
        assert_eq!(head.take(), None);
        head.is_over = true;
        head.on_read(b"HTTP/1.1 404 No\r\n\r\n");
        assert_eq!(
            head.take().as_deref(),
            Some(&b"HTTP/1.1 404 No\r\n\r\n"[..])
        );
    }
}
