//! Times when the head of each HTTP/2 request left and that of its response arrived, observed
//! between TLS and hyper, which reports neither.
//!
//! hyper does not report a request's stream, either, but opens streams in the order of its
//! requests. So each request is registered first, and after that it is not cancelled before its
//! HEADERS have left. If that order may be lost, no more times are reported.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, ready};

use eyelevel_netns::socket_times::monotonic_ns;
use eyelevel_replay::wire::{H2Event, H2Frames};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;

use crate::stamped::answers::{Answers, Checked, Part};
use crate::stamped::arrival::Arrival;

/// The most requests whose HEADERS have not left; a connection with more is not timed.
const WAITING_MAX: usize = 1024;

/// When a request's last byte left and its response's first byte arrived, nanoseconds of
/// `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    pub sent_ns: u64,
    pub first_byte_ns: u64,
}

/// The streams of a connection.
#[derive(Debug, Clone, Default)]
pub struct Streams(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    open: HashMap<u64, Weak<Mutex<Seen>>>,
    is_lost: bool,
}

#[derive(Debug)]
struct Waiting {
    seen: Weak<Mutex<Seen>>,
    left: oneshot::Sender<()>,
}

#[derive(Debug, Default)]
struct Seen {
    sent_ns: Option<u64>,
    head_ns: Option<u64>,
    checked: Checked,
}

/// A registered request, which is passed to hyper next.
#[derive(Debug, Clone)]
pub struct Expected {
    streams: Streams,
    seen: Arc<Mutex<Seen>>,
}

impl Streams {
    /// Registers the next request; the receiver resolves when its HEADERS have left, or when that
    /// no longer matters.
    pub fn expect(&self) -> (Expected, oneshot::Receiver<()>) {
        let seen = Arc::<Mutex<Seen>>::default();
        let (left, has_left) = oneshot::channel();
        let mut state = lock(&self.0);
        if state.waiting.len() >= WAITING_MAX {
            state.lose();
        }
        if !state.is_lost {
            state.waiting.push_back(Waiting {
                seen: Arc::downgrade(&seen),
                left,
            });
        }
        drop(state);
        let streams = self.clone();
        (Expected { streams, seen }, has_left)
    }

    /// Stops reporting times: the request that left may not be the registered one.
    pub fn lose(&self) {
        lock(&self.0).lose();
    }

    fn on_request(&self, stream: u64, at_ns: u64) {
        let mut state = lock(&self.0);
        let Some(Waiting { seen, left }) = state.waiting.pop_front() else {
            return;
        };
        state.open.retain(|_, seen| seen.strong_count() > 0);
        if let Some(seen) = seen.upgrade() {
            lock(&seen).sent_ns = Some(at_ns);
            state.open.insert(stream, Arc::downgrade(&seen));
        }
        let _ = left.send(()); // nobody waits for it who is still waiting for an answer
    }

    fn on_part(&self, stream: u64, part: Part) {
        let state = lock(&self.0);
        if let Some(seen) = state.open.get(&stream).and_then(Weak::upgrade) {
            lock(&seen).checked.on(part);
        }
    }

    /// Sets the arrival time. Of interim responses and the final one the last counts, because
    /// replays send no interim responses.
    fn on_head(&self, stream: u64, at_ns: u64) {
        let state = lock(&self.0);
        if let Some(seen) = state.open.get(&stream).and_then(Weak::upgrade) {
            lock(&seen).head_ns = Some(at_ns);
        }
    }
}

impl State {
    fn lose(&mut self) {
        self.is_lost = true;
        self.waiting.clear();
        self.open.clear();
    }
}

impl Expected {
    /// Returns both times once hyper has the response's head, or `None` if they are unknown.
    pub fn times(&self) -> Option<Times> {
        if lock(&self.streams.0).is_lost {
            return None;
        }
        let seen = lock(&self.seen);
        Some(Times {
            sent_ns: seen.sent_ns?,
            first_byte_ns: seen.head_ns?,
        })
    }

    /// Returns what h2 refuses in the response, as far as it has arrived.
    pub fn fault(&self) -> Option<String> {
        lock(&self.seen).checked.fault().map(str::to_owned)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The client's end of an HTTP/2 connection, whose frames are observed.
#[derive(Debug)]
pub struct Watched<S> {
    stream: S,
    arrival: Arrival,
    received: H2Frames,
    sent: H2Frames,
    answers: Answers,
    streams: Streams,
}

impl<S> Watched<S> {
    /// Wraps `stream`; `arrival` is that of the underlying TCP connection.
    pub fn new(stream: S, arrival: Arrival) -> (Self, Streams) {
        let streams = Streams::default();
        let watched = Self {
            stream,
            arrival,
            received: H2Frames::server(),
            sent: H2Frames::client(),
            answers: Answers::default(),
            streams: streams.clone(),
        };
        (watched, streams)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
        let (at_ns, read) = (this.arrival.last_ns(), &buffer.filled()[before..]);
        this.received.feed(read, |seen| {
            if let H2Event::Head(stream, _) = seen {
                this.streams.on_head(stream, at_ns);
            }
        });
        this.answers
            .feed(read, |stream, came| this.streams.on_part(stream, came));
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let at_ns = monotonic_ns();
        let written = ready!(Pin::new(&mut this.stream).poll_write(context, data))?;
        this.sent.feed(&data[..written], |seen| {
            if let H2Event::Head(stream, _) = seen {
                this.streams.on_request(stream, at_ns);
            }
        });
        Poll::Ready(Ok(written))
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

    fn times(sent_ns: u64, first_byte_ns: u64) -> Option<Times> {
        Some(Times {
            sent_ns,
            first_byte_ns,
        })
    }

    #[test]
    fn each_request_has_the_times_of_its_own_stream() {
        let streams = Streams::default();
        let [first, second, third] = [(); 3].map(|()| streams.expect().0);
        streams.on_request(1, 10);
        streams.on_request(3, 20);
        assert_eq!(second.times(), None);
        streams.on_head(3, 120);
        streams.on_head(1, 130);
        assert_eq!((first.times(), third.times()), (times(10, 130), None));
        assert_eq!(second.times(), times(20, 120));
        // After 103 (Early Hints) comes the final response.
        streams.on_head(3, 190);
        assert_eq!(second.times(), times(20, 190));
        // A request whose client has left keeps its place until its HEADERS have left.
        drop(third);
        let (fourth, mut has_left) = streams.expect();
        streams.on_request(5, 30);
        assert!(has_left.try_recv().is_err());
        streams.on_request(7, 40);
        streams.on_head(5, 200);
        streams.on_head(7, 210);
        assert_eq!(
            (fourth.times(), has_left.try_recv()),
            (times(40, 210), Ok(()))
        );
    }

    #[test]
    fn no_times_are_reported_after_the_order_is_lost() {
        let streams = Streams::default();
        let (first, _left) = streams.expect();
        streams.on_request(1, 10);
        streams.on_head(1, 20);
        assert_eq!(first.times(), times(10, 20));
        streams.lose();
        assert_eq!(first.times(), None);
        let (later, mut has_left) = streams.expect();
        assert!(has_left.try_recv().is_err());
        streams.on_request(3, 30);
        streams.on_head(3, 40);
        assert_eq!(later.times(), None);
    }

    #[test]
    fn a_server_that_lets_too_many_wait_is_not_timed() {
        let streams = Streams::default();
        let expected: Vec<_> = (0..=WAITING_MAX).map(|_| streams.expect()).collect();
        assert!(lock(&streams.0).waiting.is_empty());
        for (expected, mut left) in expected {
            assert!(left.try_recv().is_err());
            assert_eq!(expected.times(), None);
        }
    }

    #[tokio::test]
    async fn heads_are_seen_as_they_pass() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        // RFC 9113, section 4.1: length, HEADERS, END_HEADERS, stream 1, one byte of fields.
        let head = [0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88];
        let (near, mut far) = tokio::io::duplex(1024);
        let arrival = Arrival::default();
        arrival.set_ns(77);
        let (mut watched, streams) = Watched::new(near, arrival);
        let (expected, has_left) = streams.expect();
        let before_ns = monotonic_ns();
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
        watched.write_all(preface).await.unwrap();
        watched.write_all(&head).await.unwrap();
        has_left.await.unwrap();
        far.write_all(&head).await.unwrap();
        watched.read_exact(&mut [0; 10]).await.unwrap();
        let found = expected.times().unwrap();
        assert_eq!(found.first_byte_ns, 77);
        assert!((before_ns..=monotonic_ns()).contains(&found.sent_ns));
    }
}
