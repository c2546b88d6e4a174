use super::{Gate, Priority, StreamId};
use crate::live::LiveBody;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A response's body: a slice of the recording, or what a live build sends, released by the
/// connection's [`Gate`] or, if a connection carries one response at a time (HTTP/1.1), at once.
#[derive(Debug)]
pub struct ReplyBody {
    rest: Bytes,
    /// What comes after `rest`.
    stream: Option<LiveBody>,
    gated: Option<(Gate, StreamId)>,
}

impl ReplyBody {
    /// Creates a body that is sent at once.
    pub fn direct(body: Bytes, stream: Option<LiveBody>) -> Self {
        Self {
            rest: body,
            stream,
            gated: None,
        }
    }

    /// Creates a body that is sent by chunks, each when the scheduler grants it. `stream` is the
    /// protocol's, if it is known.
    pub fn gated(
        body: Bytes,
        live: Option<LiveBody>,
        gate: &Gate,
        stream: Option<u64>,
        priority: Priority,
    ) -> Self {
        let open = || {
            let id = gate.open(stream, priority, body.len() as u64);
            (gate.clone(), id)
        };
        Self {
            gated: (!body.is_empty() || live.is_some()).then(open),
            rest: body,
            stream: live,
        }
    }

    /// Waits until there are bytes to send; false at the end.
    fn poll_more(&mut self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        if !self.rest.is_empty() {
            return Poll::Ready(Ok(true));
        }
        let Some(stream) = &mut self.stream else {
            return Poll::Ready(Ok(false));
        };
        let Some(bytes) = ready!(stream.poll_next(context))? else {
            self.stream = None;
            return Poll::Ready(Ok(false));
        };
        if let Some((gate, id)) = &self.gated {
            gate.extend(*id, bytes.len() as u64);
        }
        self.rest = bytes;
        Poll::Ready(Ok(true))
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if !ready!(self.poll_more(context))? {
            return Poll::Ready(None);
        }
        let data = match &self.gated {
            None => std::mem::take(&mut self.rest),
            Some((gate, id)) => {
                let bytes = ready!(gate.poll_grant(*id, context));
                let (gate, id) = (gate.clone(), *id);
                let bytes = self.rest.split_to(bytes);
                Bytes::from_owner(Chunk { bytes, gate, id })
            }
        };
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.stream.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match self.stream {
            None => SizeHint::with_exact(self.rest.len() as u64),
            Some(_) => SizeHint::default(),
        }
    }
}

impl Drop for ReplyBody {
    fn drop(&mut self) {
        if let Some((gate, id)) = &self.gated {
            gate.close(*id);
        }
    }
}

/// A chunk of bytes that notifies the gate when the transport drops it: hyper once it is written to
/// the socket, h3 once it is written to the QUIC stream, both when the stream is reset.
struct Chunk {
    bytes: Bytes,
    gate: Gate,
    id: StreamId,
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        self.gate.on_taken(self.id, self.bytes.len());
    }
}
