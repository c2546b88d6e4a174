//! Records a body as it passes, and the rest of a response that its receiver abandons.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// The largest body that is recorded; larger ones are not part of a page and only pass through.
pub const BODY_BYTES_MAX: u64 = 256 << 20;
/// The memory for all bodies in transit together.
pub const IN_FLIGHT_BYTES_MAX: u64 = 1 << 30;

/// How much of an abandoned response is still read: about what was in flight anyway. An abandoned
/// video or a stream of events is not downloaded.
const REST_BYTES_MAX: u64 = 1 << 20;
const REST_TIMEOUT: Duration = Duration::from_secs(5);

/// The memory that bodies in transit use, bytes.
#[derive(Debug, Default)]
pub struct Budget(AtomicU64);

/// How a body ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// Complete, with its bytes.
    Whole(Bytes),
    /// Cut off: the sender or receiver disconnected, or the recording ended.
    Cut,
    /// Larger than the bounds.
    TooLarge,
}

type OnEnd = Box<dyn FnOnce(Ended) + Send>;

/// A body that is recorded as it passes; reports once how it ended, before its receiver sees the
/// end.
pub struct Tee {
    /// The body; `None` once its receiver is gone.
    passing: Option<Passing>,
    is_answer: bool,
}

struct Passing {
    inner: Incoming,
    kept: BytesMut,
    is_too_large: bool,
    budget: Arc<Budget>,
    on_end: Option<OnEnd>,
}

impl Tee {
    /// Creates an empty body, of which nothing is recorded.
    pub fn empty() -> Self {
        Self {
            passing: None,
            is_answer: false,
        }
    }

    /// Records a request's body as it passes. It is cut off if the server stops reading.
    pub fn of_request(
        inner: Incoming,
        budget: Arc<Budget>,
        on_end: impl FnOnce(Ended) + Send + 'static,
    ) -> Self {
        Self {
            passing: Some(Passing::new(inner, budget, Box::new(on_end))),
            is_answer: false,
        }
    }

    /// Records a response's body as it passes. The rest that a client abandons is read within
    /// bounds, because a replay's client may want all of it.
    pub fn of_answer(
        inner: Incoming,
        budget: Arc<Budget>,
        on_end: impl FnOnce(Ended) + Send + 'static,
    ) -> Self {
        Self {
            passing: Some(Passing::new(inner, budget, Box::new(on_end))),
            is_answer: true,
        }
    }
}

impl Passing {
    fn new(inner: Incoming, budget: Arc<Budget>, on_end: OnEnd) -> Self {
        let mut passing = Self {
            inner,
            kept: BytesMut::new(),
            is_too_large: false,
            budget,
            on_end: Some(on_end),
        };
        if passing.inner.is_end_stream() {
            passing.finish(true);
        }
        passing
    }

    fn has_ended(&self) -> bool {
        self.on_end.is_none()
    }

    fn poll_frame(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref() {
                    self.keep(data);
                }
                // The sender need not poll again after the last byte.
                if self.inner.is_end_stream() {
                    self.finish(true);
                }
            }
            Poll::Ready(None) => self.finish(true),
            Poll::Ready(Some(Err(_))) => self.finish(false),
            Poll::Pending => {}
        }
        polled
    }

    /// Reads the rest of an abandoned body, within bounds.
    async fn read_rest(mut self) {
        if self.inner.size_hint().lower() > REST_BYTES_MAX {
            return;
        }
        let mut bytes = 0;
        let reading = async {
            while !self.has_ended() && bytes <= REST_BYTES_MAX {
                let frame = poll_fn(|context| self.poll_frame(context)).await;
                let data = frame.and_then(|frame| frame.ok()?.into_data().ok());
                bytes += data.map_or(0, |data| data.len() as u64);
            }
        };
        // If it has not ended by then, dropping it marks it as cut off.
        let _ = timeout(REST_TIMEOUT, reading).await;
    }

    fn keep(&mut self, data: &[u8]) {
        if self.is_too_large {
            return;
        }
        let bytes = data.len() as u64;
        let held = self.budget.0.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.kept.extend_from_slice(data);
        if held > IN_FLIGHT_BYTES_MAX || self.kept.len() as u64 > BODY_BYTES_MAX {
            self.is_too_large = true;
            self.release();
        }
    }

    fn release(&mut self) -> Bytes {
        let kept = std::mem::take(&mut self.kept).freeze();
        self.budget
            .0
            .fetch_sub(kept.len() as u64, Ordering::Relaxed);
        kept
    }

    fn finish(&mut self, is_whole: bool) {
        let kept = self.release();
        if let Some(on_end) = self.on_end.take() {
            on_end(match (self.is_too_large, is_whole) {
                (true, _) => Ended::TooLarge,
                (false, true) => Ended::Whole(kept),
                (false, false) => Ended::Cut,
            });
        }
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        self.finish(false);
    }
}

impl Body for Tee {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.passing {
            Some(passing) => passing.poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    /// Whether the body has ended and is recorded: the receiver forwards the end at once.
    fn is_end_stream(&self) -> bool {
        self.passing.as_ref().is_none_or(Passing::has_ended)
    }

    fn size_hint(&self) -> SizeHint {
        let passing = self.passing.as_ref();
        passing.map_or(SizeHint::with_exact(0), |passing| passing.inner.size_hint())
    }
}

impl Drop for Tee {
    fn drop(&mut self) {
        let left = self.passing.take().filter(|passing| !passing.has_ended());
        // Without a runtime the recording has ended, too.
        if let (true, Some(passing), Ok(runtime)) = (self.is_answer, left, Handle::try_current()) {
            runtime.spawn(passing.read_rest());
        }
    }
}
