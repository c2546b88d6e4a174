use noq::{SendStream, WriteError};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

/// One of our instruction streams, with the bytes to write to it in order.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    stream: Option<SendStream>,
    pending: Vec<u8>,
    /// Tasks to wake once everything is written.
    waiting: Vec<Waker>,
    /// Bytes that were written.
    pub sent: u64,
}

impl Outgoing {
    /// Attaches the stream; `head` is its first bytes.
    pub fn on_opened(&mut self, stream: SendStream, head: &[u8]) {
        self.stream = Some(stream);
        self.pending.splice(..0, head.iter().copied());
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// Returns whether QUIC has accepted everything so far.
    pub fn is_written(&self) -> bool {
        self.stream.is_some() && self.pending.is_empty()
    }

    /// Writes what can be written.
    pub fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<Result<(), WriteError>> {
        let Some(stream) = &mut self.stream else {
            return Poll::Ready(Ok(()));
        };
        while !self.pending.is_empty() {
            let written = ready!(Pin::new(&mut *stream).poll_write(context, &self.pending))?;
            self.pending.drain(..written);
            self.sent += written as u64;
        }
        for waker in self.waiting.drain(..) {
            waker.wake();
        }
        Poll::Ready(Ok(()))
    }

    /// Returns ready once QUIC has accepted everything; the driver of the connection writes it.
    pub fn poll_written(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.pending.is_empty() {
            return Poll::Ready(());
        }
        self.waiting.push(context.waker().clone());
        Poll::Pending
    }
}
