//! A live build's body on its way to the browser, as it comes.

use super::Counts;
use super::rewrite::Rewriter;
use bytes::Bytes;
use http_body::Body;
use hyper::body::Incoming;
use sha2::{Digest, Sha256};
use std::fmt::{self, Write};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Asks the server for more only as fast as the browser takes it.
pub struct LiveBody {
    incoming: Incoming,
    rewriter: Option<Rewriter>,
    /// Of the page's document alone.
    digest: Option<Sha256>,
    is_over: bool,
    counts: Arc<Counts>,
}

impl LiveBody {
    pub(super) fn new(
        incoming: Incoming,
        rewriter: Option<Rewriter>,
        is_document: bool,
        counts: Arc<Counts>,
    ) -> Self {
        Self {
            incoming,
            rewriter,
            digest: is_document.then(Sha256::new),
            is_over: false,
            counts,
        }
    }

    /// The next bytes, never none of them; `Ok(None)` at the end.
    ///
    /// # Errors
    /// Where the server broke off.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Option<Bytes>>> {
        while !self.is_over {
            let came = match ready!(Pin::new(&mut self.incoming).poll_frame(context)) {
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                Some(Err(error)) => {
                    self.is_over = true;
                    self.counts.fail(format!("its body broke off: {error}"));
                    return Poll::Ready(Err(io::Error::other(error)));
                }
                None => {
                    self.is_over = true;
                    self.end()
                }
            };
            let out = if self.is_over { came } else { self.take(came) };
            if !out.is_empty() {
                return Poll::Ready(Ok(Some(out)));
            }
        }
        Poll::Ready(Ok(None))
    }

    fn take(&mut self, came: Bytes) -> Bytes {
        if let Some(digest) = &mut self.digest {
            digest.update(&came);
        }
        match &mut self.rewriter {
            Some(rewriter) => rewriter.feed(came),
            None => came,
        }
    }

    fn end(&mut self) -> Bytes {
        if let Some(digest) = self.digest.take() {
            let mut text = String::new();
            for byte in digest.finalize() {
                let _ = write!(text, "{byte:02x}");
            }
            self.counts.document(text);
        }
        let Some(rewriter) = &mut self.rewriter else {
            return Bytes::new();
        };
        let rest = rewriter.finish();
        self.counts.rewrote(rewriter.replaced());
        rest
    }
}

impl fmt::Debug for LiveBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveBody")
            .field("is_over", &self.is_over)
            .finish_non_exhaustive()
    }
}
