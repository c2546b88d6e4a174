use super::{Priority, Room};

/// A response on one connection; its number is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamId {
    at: usize,
    opened: u64,
}

/// A permission for a response to pass bytes to its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The response.
    pub stream: StreamId,
    /// The number of bytes.
    pub bytes: usize,
}

/// The scheduler, which orders responses as RFC 9218, section 10, does: the most urgent first;
/// among equals those that are useful only when complete, one after the other in the order of their
/// requests, then the incremental ones in turn.
///
/// A response that is not ready for more still holds back less urgent ones while its last bytes are
/// pending, or they would slip in between any two chunks. If the transport does not accept those
/// bytes at all ([`Scheduler::on_stall`]), it loses its place until it does.
#[derive(Debug)]
pub struct Scheduler {
    streams: Vec<Option<Stream>>,
    free: Vec<usize>,
    room: Room,
    /// Bytes that the transport accepted and has not sent.
    unsent: usize,
    /// The most bytes that were granted and not sent.
    unsent_max: usize,
    clock: u64,
}

#[derive(Debug)]
struct Stream {
    priority: Priority,
    opened: u64,
    /// The time when it was opened or, if incremental, last granted; the smallest goes first.
    turn: u64,
    /// Bytes not yet granted.
    remaining: u64,
    /// Bytes granted and not yet accepted by the transport.
    pending: usize,
    /// Whether the transport accepted any bytes of it.
    has_begun: bool,
    wants: bool,
    stalled: bool,
    /// Whether the response requests no more; kept for the bytes still pending.
    closed: bool,
}

impl Scheduler {
    /// Creates a scheduler that grants while `room` allows.
    pub fn new(room: Room) -> Self {
        Self {
            streams: Vec::new(),
            free: Vec::new(),
            room,
            unsent: 0,
            unsent_max: 0,
            clock: 0,
        }
    }

    /// Adds a response with a body of `bytes`.
    pub fn open(&mut self, priority: Priority, bytes: u64) -> StreamId {
        let opened = self.tick();
        let stream = Stream {
            priority,
            opened,
            turn: opened,
            remaining: bytes,
            pending: 0,
            has_begun: false,
            wants: false,
            stalled: false,
            closed: false,
        };
        let at = self.free.pop().unwrap_or_else(|| {
            self.streams.push(None);
            self.streams.len() - 1
        });
        self.streams[at] = Some(stream);
        StreamId { at, opened }
    }

    /// Adds bytes to a response. One that has none keeps nobody back.
    pub fn extend(&mut self, id: StreamId, bytes: u64) {
        if let Some(stream) = self.stream(id) {
            stream.remaining += bytes;
        }
    }

    /// Changes a response's priority (RFC 9218, section 7).
    pub fn set_priority(&mut self, id: StreamId, priority: Priority) {
        if let Some(stream) = self.stream(id) {
            stream.priority = priority;
        }
    }

    /// Marks a response as ready for more bytes.
    pub fn mark_ready(&mut self, id: StreamId) {
        if let Some(stream) = self.stream(id) {
            stream.wants = true;
            stream.stalled = false;
        }
    }

    /// Records that the transport accepted `bytes` of those granted.
    pub fn on_taken(&mut self, id: StreamId, bytes: usize) {
        if let Some(stream) = self.stream(id) {
            stream.pending = stream.pending.saturating_sub(bytes);
            stream.has_begun = true;
            stream.stalled = false;
            self.forget_if_done(id);
        }
        let waiting = self.pending() + self.unsent;
        self.unsent_max = self.unsent_max.max(waiting);
    }

    /// Records the bytes that the transport holds unsent, heads and control frames included.
    pub fn on_unsent(&mut self, bytes: usize) {
        self.unsent = bytes;
    }

    /// Returns the most bytes granted and not sent so far, observed whenever the transport accepted
    /// some.
    pub fn unsent_max(&self) -> usize {
        self.unsent_max
    }

    /// Returns the limits of what may be queued below.
    pub fn room(&self) -> Room {
        self.room
    }

    /// Returns whether a response would continue if less were unsent.
    pub fn is_held_back(&self) -> bool {
        !self.room.has_room(self.pending(), self.unsent) && self.next().is_some()
    }

    /// Closes a response, complete or cancelled; its granted bytes count until they are accepted.
    pub fn close(&mut self, id: StreamId) {
        if let Some(stream) = self.stream(id) {
            stream.closed = true;
            stream.wants = false;
            stream.remaining = 0;
            self.forget_if_done(id);
        }
    }

    /// Returns whether there were responses and the transport has accepted all their bytes.
    pub fn is_done(&self) -> bool {
        let mut open = self.streams.iter().flatten();
        self.clock > 0 && open.all(|stream| stream.remaining == 0 && stream.pending == 0)
    }

    /// Returns whether a response has begun and is not completely accepted.
    pub fn has_more(&self) -> bool {
        let mut has_begun = self
            .streams
            .iter()
            .flatten()
            .filter(|stream| stream.has_begun);
        has_begun.any(|stream| stream.remaining > 0 || stream.pending > 0)
    }

    /// Handles a stall: bytes are pending, but none was accepted for long. The clients of those
    /// responses do not read, so others go first. Returns whether another response can go now.
    pub fn on_stall(&mut self) -> bool {
        let waits = self.streams.iter().flatten().any(|stream| stream.wants);
        if waits {
            for stream in self.streams.iter_mut().flatten() {
                stream.stalled = !stream.wants;
            }
        }
        waits
    }

    /// Returns the next grant, if there is one; to be called until there is none.
    pub fn poll_grant(&mut self) -> Option<Grant> {
        if !self.room.has_room(self.pending(), self.unsent) {
            return None;
        }
        let at = self.next()?;
        let (turn, chunk) = (self.tick(), self.room.chunk_bytes);
        let stream = self.streams[at].as_mut()?;
        let bytes = usize::try_from(stream.remaining)
            .unwrap_or(chunk)
            .min(chunk);
        stream.wants = false;
        stream.remaining -= bytes as u64;
        stream.pending += bytes;
        if stream.priority.incremental {
            stream.turn = turn;
        }
        let stream = StreamId {
            at,
            opened: stream.opened,
        };
        Some(Grant { stream, bytes })
    }

    /// Returns the bytes granted and not accepted, except for those whose clients do not read.
    fn pending(&self) -> usize {
        let all = self.streams.iter().flatten();
        let counted = all.filter(|stream| !stream.stalled);
        counted.map(|stream| stream.pending).sum()
    }

    /// Returns the response whose turn it is, if it is ready.
    fn next(&self) -> Option<usize> {
        let rank = |stream: &Stream| (stream.priority.urgency, stream.priority.incremental);
        let candidates = || {
            let numbered = self.streams.iter().enumerate();
            let open = numbered.filter_map(|(at, stream)| Some((at, stream.as_ref()?)));
            open.filter(|(_, stream)| stream.remaining > 0 && !stream.stalled)
        };
        let (_, first) = candidates().min_by_key(|(_, stream)| (rank(stream), stream.turn))?;
        let (at, chosen) = if first.priority.incremental {
            // Among responses that share, one that is not ready passes its turn on.
            let sharing = candidates().filter(|(_, stream)| rank(stream) == rank(first));
            let ready = sharing.filter(|(_, stream)| stream.wants);
            ready.min_by_key(|(_, stream)| stream.turn)?
        } else {
            candidates().min_by_key(|(_, stream)| (rank(stream), stream.turn))?
        };
        chosen.wants.then_some(at)
    }

    fn stream(&mut self, id: StreamId) -> Option<&mut Stream> {
        let stream = self.streams.get_mut(id.at)?.as_mut();
        stream.filter(|stream| stream.opened == id.opened)
    }

    fn forget_if_done(&mut self, id: StreamId) {
        let done = |stream: &Stream| stream.closed && stream.pending == 0;
        if self.streams[id.at].as_ref().is_some_and(done) {
            self.streams[id.at] = None;
            self.free.push(id.at);
        }
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
}
