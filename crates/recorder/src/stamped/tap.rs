//! Captures the heads of HTTP/1.1 messages as they are on the wire: hyper's map of fields loses
//! their case and the order of repeated ones.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use eyelevel_netns::socket_times::monotonic_ns;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::head_repair::{Beginning, find_end_of_head, find_head, is_interim, repair_head};
use crate::refused::HEAD_BYTES_MAX;
use crate::stamped::arrival::Arrival;
use crate::stamped::streams::Times;

/// The size of a read while the head of a response is incomplete.
const READ_BYTES: usize = 8 * 1024;

/// The head of the message that is being read on a connection.
#[derive(Debug, Default)]
pub struct ReadHead {
    bytes: BytesMut,
    /// When the last byte before the message was written.
    written_ns: Option<u64>,
    times: Option<Times>,
    /// Whether something was written since, so that another message follows.
    is_over: bool,
    /// Whether the head was taken, so that a body follows.
    is_taken: bool,
    /// Whether a request has no response yet; only then is a head repaired.
    is_expected: bool,
}

impl ReadHead {
    fn on_read(&mut self, data: &[u8], at_ns: u64) {
        if self.is_over {
            *self = Self {
                written_ns: self.written_ns,
                is_expected: self.is_expected,
                ..Self::default()
            };
        }
        if self.times.is_none() || self.has_interims_alone() {
            self.times = self.written_ns.map(|sent_ns| Times {
                sent_ns,
                first_byte_ns: at_ns,
            });
        }
        if !self.is_taken {
            let room = HEAD_BYTES_MAX - self.bytes.len();
            self.bytes.extend_from_slice(&data[..data.len().min(room)]);
        }
    }

    fn on_written(&mut self, at_ns: u64) {
        self.is_over = true;
        self.written_ns = Some(at_ns);
    }

    /// Whether interim responses have arrived completely and nothing of the final one. Replays send
    /// no interim responses, so the final one's first byte counts.
    fn has_interims_alone(&self) -> bool {
        let mut rest = &self.bytes[..];
        while let Some(end) = find_end_of_head(rest).filter(|_| is_interim(rest)) {
            rest = &rest[end..];
        }
        rest.is_empty() && !self.bytes.is_empty()
    }

    /// Announces that the next message responds to a request that is sent now.
    pub fn expect(&mut self) {
        self.is_expected = true;
    }

    /// Returns the times of a message that responds to a request.
    pub fn times(&self) -> Option<Times> {
        self.times
    }

    /// Returns the bytes of heads that were not taken.
    pub fn read(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes the next head, including its empty line. A body follows, unless the head is an interim
    /// response's.
    pub fn take(&mut self) -> Option<Bytes> {
        let end = find_end_of_head(&self.bytes)?;
        let head = self.bytes.split_to(end).freeze();
        if !is_interim(&head) {
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
    /// Locks the head; hold it only briefly.
    pub fn lock(&self) -> MutexGuard<'_, ReadHead> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream that captures the heads of its messages. Heads of expected responses are read
/// completely and passed on in a form that hyper accepts.
#[derive(Debug)]
pub struct Tap<S> {
    stream: S,
    arrival: Arrival,
    head: SharedHead,
    /// The bytes of a response with an incomplete head.
    held: BytesMut,
    /// Bytes that were read and not passed on yet.
    passing: BytesMut,
}

impl<S> Tap<S> {
    /// Wraps `stream` with its `arrival` times; returns the head to share.
    pub fn new(stream: S, arrival: Arrival) -> (Self, SharedHead) {
        let head = SharedHead::default();
        let tap = Self {
            stream,
            arrival,
            head: head.clone(),
            held: BytesMut::new(),
            passing: BytesMut::new(),
        };
        (tap, head)
    }

    /// Adds bytes of an expected response, and passes them on once its head is complete or invalid.
    fn on_answer(&mut self, data: &[u8]) {
        self.held.extend_from_slice(data);
        let mut head = self.head.lock();
        while head.is_expected {
            match find_head(&self.held) {
                Beginning::Head(start) => {
                    let Some(end) = find_end_of_head(&self.held[start..]) else {
                        break;
                    };
                    let mut whole = self.held.split_to(start + end);
                    let whole = whole.split_off(start);
                    self.passing.extend_from_slice(&repair_head(&whole));
                    head.is_expected = is_interim(&whole);
                }
                Beginning::Unclear => break,
                Beginning::Other => head.is_expected = false,
            }
        }
        // hyper refuses a head that is too large or ends early.
        if self.held.len() > HEAD_BYTES_MAX || data.is_empty() {
            head.is_expected = false;
        }
        if !head.is_expected {
            self.passing.extend_from_slice(&self.held.split());
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Tap<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.passing.is_empty() && self.head.lock().is_expected {
            let mut piece = [0; READ_BYTES];
            let mut piece = ReadBuf::new(&mut piece);
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut piece))?;
            let read = piece.filled();
            if !read.is_empty() {
                self.head.lock().on_read(read, self.arrival.last_ns());
            }
            self.on_answer(read);
        }
        if !self.passing.is_empty() {
            let length = self.passing.len().min(buffer.remaining());
            buffer.put_slice(&self.passing.split_to(length));
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let read = &buffer.filled()[before..];
        if !read.is_empty() {
            self.head.lock().on_read(read, self.arrival.last_ns());
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
        let at_ns = monotonic_ns();
        let polled = Pin::new(&mut self.stream).poll_write(context, data);
        if matches!(polled, Poll::Ready(Ok(1..))) {
            self.head.lock().on_written(at_ns);
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
    fn only_heads_are_captured() {
        let mut head = ReadHead::default();
        head.on_read(
            b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nB: 1\r\na",
            0,
        );
        assert!(head.take().unwrap().starts_with(b"HTTP/1.1 103"));
        assert_eq!(head.take(), None);
        head.on_read(b": 2\r\n\r\nbody\r\n\r\n", 0);
        let expected = &b"HTTP/1.1 200 OK\r\nB: 1\r\na: 2\r\n\r\n"[..];
        assert_eq!(head.take().as_deref(), Some(expected));
        head.on_read(b"more\r\n\r\n", 0);
        assert_eq!(head.take(), None);
        head.on_written(0);
        head.on_read(b"HTTP/1.1 404 No\r\n\r\n", 0);
        assert_eq!(
            head.take().as_deref(),
            Some(&b"HTTP/1.1 404 No\r\n\r\n"[..])
        );
    }

    /// hyper reads one byte at a time or much more, and a head comes in pieces of any size.
    #[tokio::test]
    async fn only_heads_of_expected_responses_are_repaired() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let head = "http/1.1  103 Hints\r\n\r\nhttp/1.1 200 OK\r\nContent-Length: +1\r\n\r\n";
        let body = "http/1.1  200 OK\r\n\r\n";
        let right = "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
        for size in [1, 7, 1000] {
            let (near, mut far) = tokio::io::duplex(10_000);
            let (mut tap, shared) = Tap::new(near, Arrival::default());
            for _ in 0..2 {
                shared.lock().expect();
                tap.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
                far.read_exact(&mut [0; 18]).await.unwrap();
                let answer = [head, body].concat();
                let mut read = vec![0; right.len() + body.len()];
                let sending = async {
                    for piece in answer.as_bytes().chunks(size) {
                        far.write_all(piece).await.unwrap();
                        tokio::task::yield_now().await;
                    }
                };
                let (_, count) = tokio::join!(sending, tap.read_exact(&mut read));
                count.unwrap();
                assert_eq!(String::from_utf8(read).unwrap(), [right, body].concat());
                let raw: Vec<_> = std::iter::from_fn(|| shared.lock().take()).collect();
                assert_eq!(raw.concat(), head.as_bytes());
            }
            // Without an expected response, everything passes unchanged.
            far.write_all(b"http/1.1  200 OK\r\n\r\n").await.unwrap();
            drop(far);
            let mut rest = Vec::new();
            tap.read_to_end(&mut rest).await.unwrap();
            assert_eq!(rest, b"http/1.1  200 OK\r\n\r\n");
        }
    }

    #[test]
    fn times_are_of_the_last_write_and_the_first_byte_of_the_response() {
        let times = |head: &ReadHead| head.times().map(|each| (each.sent_ns, each.first_byte_ns));
        let mut head = ReadHead::default();
        head.on_read(b"of a client, which answers nothing", 1);
        assert_eq!(times(&head), None);
        let mut head = ReadHead::default();
        head.on_written(5);
        head.on_written(10);
        head.on_read(b"HTTP/1.1 103 Early Hints\r\n\r\n", 20);
        assert_eq!(times(&head), Some((10, 20)));
        head.on_read(b"HTTP/1.1 200", 60);
        head.on_read(b" OK\r\n\r\n", 70);
        head.on_read(b"body", 80);
        assert_eq!(times(&head), Some((10, 60)));
        head.on_written(90);
        head.on_read(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", 95);
        head.on_read(b"body", 99);
        assert_eq!(times(&head), Some((90, 95)));
    }
}
