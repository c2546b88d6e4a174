//! A body that is kept while it passes.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

/// Largest body that is kept: larger ones are no part of a page, and pass through.
pub const BODY_BYTES_MAX: u64 = 256 << 20;
/// Bodies on their way that are kept in memory, all together.
pub const IN_FLIGHT_BYTES_MAX: u64 = 1 << 30;

/// Bytes that are held by bodies on their way.
#[derive(Debug, Default)]
pub struct Budget(AtomicU64);

/// How a body ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// Here it is.
    Whole(Bytes),
    /// The sender or the receiver went away, or it was still on its way at the end.
    Cut,
    /// It did not fit the bounds.
    TooLarge,
}

type OnEnd = Box<dyn FnOnce(Ended) + Send>;

/// A body that is kept while it passes; tells once how it ended.
pub struct Tee {
    inner: Incoming,
    kept: BytesMut,
    is_too_large: bool,
    budget: Arc<Budget>,
    on_end: Option<OnEnd>,
}

impl Tee {
    /// Keeps `inner` as it passes.
    pub fn new(
        inner: Incoming,
        budget: Arc<Budget>,
        on_end: impl FnOnce(Ended) + Send + 'static,
    ) -> Self {
        let mut tee = Self {
            inner,
            kept: BytesMut::new(),
            is_too_large: false,
            budget,
            on_end: Some(Box::new(on_end)),
        };
        if tee.inner.is_end_stream() {
            tee.finish(true);
        }
        tee
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

impl Body for Tee {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref() {
                    self.keep(data);
                }
                // Whoever sends the body on need not ask again after its last byte.
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

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for Tee {
    fn drop(&mut self) {
        self.finish(false);
    }
}
