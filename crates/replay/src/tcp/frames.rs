//! Adds what hyper lacks to HTTP/2's bytes between TLS and hyper: the parts of RFC 9218, and interim
//! responses.

use super::interim::InterimHeads;
use super::offer::{Offer, offered_table};
use crate::scheduler::{Gate, H2Event, H2Frames};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const FRAME_HEADER_BYTES: usize = 9;
const SETTINGS: u8 = 0x04;
/// The size of the first read; Chromium's preface, settings and first window update have 100 bytes.
const FIRST_READ_BYTES: usize = 512;
/// `SETTINGS_NO_RFC7540_PRIORITIES` = 1 (RFC 9218, section 2.1.1): Chromium then sends changes of
/// priority in PRIORITY_UPDATE frames, as it does over HTTP/3.
const NO_RFC7540_PRIORITIES: [u8; 6] = [0, 9, 0, 0, 0, 1];

/// Streams that the client has opened and hyper has not yet passed on, in order.
///
/// hyper does not expose a request's stream, but passes requests on in the order of their HEADERS;
/// those that it resets without passing them on are removed.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenedStreams(Arc<Mutex<VecDeque<Request>>>);

/// A request's stream, and the coded bytes of its head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub stream: u64,
    pub head_bytes: u64,
}

/// A passing event for the connection's record.
#[derive(Clone, Copy, Debug)]
pub(super) enum Http2Event {
    /// A change of priority.
    Update,
    /// The bytes of a request's head.
    RequestHead(u64),
    /// The bytes of a response's head.
    ResponseHead(u64),
    /// The table size that our SETTINGS offer for requests.
    RequestTable(u32),
    /// The table size that our encoder may use.
    ResponseTable(u32),
}

impl OpenedStreams {
    /// Removes and returns the request that was just passed on.
    pub fn next(&self) -> Option<Request> {
        self.lock().pop_front()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Request>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream that carries HTTP/2.
pub(super) struct Http2Stream<S, F> {
    stream: S,
    received: H2Frames,
    sent: H2Frames,
    opened: OpenedStreams,
    gate: Gate,
    report: F,
    settings: Settings,
    offer: Offer,
    interim: InterimHeads,
    /// An interim head, and how many of its bytes are written.
    writing: Option<(Vec<u8>, usize)>,
}

/// The server's first frame, to which a setting is added.
enum Settings {
    Before,
    /// The replacement bytes, how many of them are written, and how many of hyper's they replace.
    Writing(Vec<u8>, usize, usize),
    Done,
}

impl<S, F: FnMut(Http2Event)> Http2Stream<S, F> {
    /// Wraps a stream; `table_bytes` is the maximum of our encoder's table, `interim` has the heads to
    /// write between frames, and `report` receives the passing events.
    pub fn new(
        stream: S,
        gate: Gate,
        opened: OpenedStreams,
        table_bytes: u32,
        interim: InterimHeads,
        report: F,
    ) -> Self {
        Self {
            stream,
            received: H2Frames::client(),
            sent: H2Frames::server(),
            opened,
            gate,
            report,
            settings: Settings::Before,
            offer: Offer::new(table_bytes),
            interim,
            writing: None,
        }
    }

    fn on_received(&mut self, bytes: &[u8]) {
        let (opened, gate, report) = (&self.opened, &self.gate, &mut self.report);
        self.received.feed(bytes, |seen| match seen {
            H2Event::Head(stream, head_bytes) => {
                opened.lock().push_back(Request { stream, head_bytes });
                report(Http2Event::RequestHead(head_bytes));
            }
            H2Event::Update(stream, priority) => {
                report(Http2Event::Update);
                gate.update(stream, priority);
            }
            // hyper passes a stream on even if the client reset it.
            H2Event::Reset(_) => {}
        });
    }

    fn on_sent(&mut self, bytes: &[u8]) {
        let (opened, report) = (&self.opened, &mut self.report);
        self.sent.feed(bytes, |seen| match seen {
            H2Event::Reset(stream) => opened.lock().retain(|waiting| waiting.stream != stream),
            H2Event::Head(_, head_bytes) => report(Http2Event::ResponseHead(head_bytes)),
            H2Event::Update(..) => {}
        });
    }
}

/// Returns the server's first frame with one more setting, and the number of bytes that it
/// replaces; `None` if it is incomplete or another frame.
pub fn settings_frame(first: &[u8]) -> Option<(Vec<u8>, usize)> {
    let header = first.get(..FRAME_HEADER_BYTES)?;
    let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
    let whole = FRAME_HEADER_BYTES + length;
    if header[3] != SETTINGS || first.len() < whole {
        return None;
    }
    let longer = u32::try_from(length + NO_RFC7540_PRIORITIES.len()).ok()?;
    let mut frame = longer.to_be_bytes()[1..].to_vec();
    frame.extend_from_slice(&first[3..whole]);
    frame.extend_from_slice(&NO_RFC7540_PRIORITIES);
    Some((frame, whole))
}

impl<S: AsyncWrite + Unpin, F: FnMut(Http2Event) + Unpin> Http2Stream<S, F> {
    /// Writes the replacement of the first frame instead of hyper's `data`; `None` once that is
    /// done.
    fn poll_settings(
        &mut self,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<Option<io::Result<usize>>> {
        if matches!(self.settings, Settings::Before) {
            self.settings = match settings_frame(data) {
                Some((frame, whole)) => {
                    let offered = offered_table(&frame[FRAME_HEADER_BYTES..]);
                    (self.report)(Http2Event::RequestTable(offered));
                    Settings::Writing(frame, 0, whole)
                }
                None => Settings::Done,
            };
        }
        while let Settings::Writing(frame, written, whole) = &mut self.settings {
            let write = Pin::new(&mut self.stream).poll_write(context, &frame[*written..]);
            match ready!(write) {
                Ok(0) => return Poll::Ready(Some(Err(io::ErrorKind::WriteZero.into()))),
                Ok(bytes) => *written += bytes,
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
            if *written == frame.len() {
                let whole = *whole;
                self.settings = Settings::Done;
                return Poll::Ready(Some(Ok(whole)));
            }
        }
        Poll::Ready(None)
    }

    /// Writes the interim heads that wait, where a frame may begin; returns the number of hyper's
    /// bytes that may follow before the next such place is looked at.
    fn poll_interim(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if !matches!(self.settings, Settings::Done) {
            return Poll::Ready(Ok(usize::MAX));
        }
        loop {
            while let Some((frame, written)) = &mut self.writing {
                let write = Pin::new(&mut self.stream).poll_write(context, &frame[*written..]);
                match ready!(write)? {
                    0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    bytes => *written += bytes,
                }
                if *written == frame.len() {
                    let head_bytes = (frame.len() - FRAME_HEADER_BYTES) as u64;
                    (self.report)(Http2Event::ResponseHead(head_bytes));
                    self.writing = None;
                }
            }
            if self.interim.is_empty() {
                return Poll::Ready(Ok(usize::MAX));
            }
            let rest = self.sent.bytes_to_boundary();
            if rest > 0 {
                return Poll::Ready(Ok(rest));
            }
            self.writing = self.interim.next().map(|frame| (frame, 0));
        }
    }
}

impl<S: AsyncRead + Unpin, F: FnMut(Http2Event) + Unpin> Http2Stream<S, F> {
    /// Reads the client's first bytes, with its limited offer.
    fn poll_offer(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while !self.offer.copy_to(buffer) {
            let mut room = [0; FIRST_READ_BYTES];
            let mut first = ReadBuf::new(&mut room);
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut first))?;
            if first.filled().is_empty() {
                break;
            }
            self.on_received(first.filled());
            if let Some(table_bytes) = self.offer.on_bytes(first.filled()) {
                (self.report)(Http2Event::ResponseTable(table_bytes));
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin, F: FnMut(Http2Event) + Unpin> AsyncRead for Http2Stream<S, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // The connection's server waits for requests all the time.
        self.interim.set_driver(context);
        if !self.offer.is_over() {
            return self.poll_offer(context, buffer);
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.on_received(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin, F: FnMut(Http2Event) + Unpin> AsyncWrite for Http2Stream<S, F> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(done) = ready!(self.poll_settings(context, data)) {
            return Poll::Ready(done);
        }
        let room = ready!(self.poll_interim(context))?;
        let data = &data[..data.len().min(room)];
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, data))?;
        self.on_sent(&data[..written]);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = slices.iter().find(|slice| !slice.is_empty());
        if let Some(done) = ready!(self.poll_settings(context, first.map_or(&[], |s| &s[..]))) {
            return Poll::Ready(done);
        }
        let room = ready!(self.poll_interim(context))?;
        if room < slices.iter().map(|slice| slice.len()).sum() {
            let first = first.map_or(&[][..], |slice| &slice[..slice.len().min(room)]);
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, first))?;
            self.on_sent(&first[..written]);
            return Poll::Ready(Ok(written));
        }
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(context, slices))?;
        let mut left = written;
        for slice in slices {
            let taken = left.min(slice.len());
            self.on_sent(&slice[..taken]);
            left -= taken;
        }
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_interim(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::early_hints::write_h2_frame;
    use crate::scheduler::Room;
    use crate::{HttpVersion, StackConfig};
    use http::HeaderValue;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    const DATA: u8 = 0x00;
    const HEADERS: u8 = 0x01;
    const CONTINUATION: u8 = 0x09;
    const END_HEADERS: u8 = 0x04;

    /// Returns a frame on stream 1.
    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap();
        [
            &length.to_be_bytes()[1..],
            &[kind, flags, 0, 0, 0, 1],
            payload,
        ]
        .concat()
    }

    /// Writes `before`, queues a 103, and writes `after`; returns the bytes sent after SETTINGS.
    async fn write_around(before: &[u8], after: &[u8], is_vectored: bool) -> Vec<u8> {
        let settings = frame(SETTINGS, 0, &[]);
        let (near, mut far) = tokio::io::duplex(1 << 16);
        let stack = StackConfig::tuned("t", HttpVersion::H2);
        let gate = Gate::new(true, Room::for_stack(&stack, |_| usize::MAX));
        let (opened, interim) = (OpenedStreams::default(), InterimHeads::default());
        let mut stream = Http2Stream::new(near, gate, opened, 4096, interim.clone(), |_| {});
        stream.write_all(&settings).await.unwrap();
        stream.write_all(before).await.unwrap();
        interim.send_early_hints(3, &HeaderValue::from_static("</a.css>; rel=preload"));
        let mut left = after;
        while !left.is_empty() {
            let (first, second) = left.split_at(left.len() / 2);
            let slices = [IoSlice::new(first), IoSlice::new(second)];
            let written = match is_vectored {
                true => stream.write_vectored(&slices).await,
                false => stream.write(left).await,
            };
            left = &left[written.unwrap()..];
        }
        stream.flush().await.unwrap();
        drop(stream);
        let mut sent = Vec::new();
        far.read_to_end(&mut sent).await.unwrap();
        sent.split_off(settings_frame(&settings).unwrap().0.len())
    }

    #[tokio::test]
    async fn an_interim_head_waits_until_a_frame_may_begin() {
        let interim = write_h2_frame(3, &HeaderValue::from_static("</a.css>; rel=preload"));
        let (data, next) = (frame(DATA, 0, &[7; 500]), frame(DATA, 0, &[8; 20]));
        let head = frame(HEADERS, 0, &[1; 40]);
        let rest = frame(CONTINUATION, END_HEADERS, &[2; 10]);
        // The bytes written before the 103, and the frames that nothing may interrupt.
        let cases = [
            (3, data.clone()),
            (9, data.clone()),
            (200, data.clone()),
            (509, data.clone()),
            (20, [&head[..], &rest].concat()),
            (49, [&head[..], &rest].concat()),
        ];
        for (bytes, unit) in cases {
            let whole = [&unit[..], &next].concat();
            for is_vectored in [false, true] {
                let sent = write_around(&whole[..bytes], &whole[bytes..], is_vectored).await;
                assert!(
                    sent == [&unit[..], &interim, &next].concat(),
                    "after {bytes} bytes, vectored: {is_vectored}"
                );
            }
        }
    }
}
