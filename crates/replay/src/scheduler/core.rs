use super::{Priority, Room};

/// A response on one connection; its number is never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamId {
    at: usize,
    opened: u64,
}

/// Leave for a response to hand bytes to its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Whose.
    pub stream: StreamId,
    /// How many.
    pub bytes: usize,
}

/// Decides in the order of RFC 9218, section 10: the most urgent first; among equals those that are
/// of use only as a whole, one after the other as they were asked for, then the incremental ones
/// in turn.
///
/// A response that is not ready for more keeps less urgent ones back all the same while its last
/// bytes are on their way, or they would slip in between each two chunks. Where the transport does
/// not take them at all ([`Scheduler::on_stall`]) it loses its place until it does.
#[derive(Debug)]
pub struct Scheduler {
    streams: Vec<Option<Stream>>,
    free: Vec<usize>,
    room: Room,
    /// What the transport has taken and not sent.
    unsent: usize,
    /// The most that was granted and not sent.
    unsent_most: usize,
    clock: u64,
}

#[derive(Debug)]
struct Stream {
    priority: Priority,
    opened: u64,
    /// When it was opened or, if incremental, last granted: least goes first.
    turn: u64,
    /// Not yet granted.
    remaining: u64,
    /// Granted, and not yet taken by the transport.
    pending: usize,
    /// Whether anything of it was taken.
    begun: bool,
    wants: bool,
    stalled: bool,
    /// Nothing more will be asked for; kept for what is still pending.
    closed: bool,
}

impl Scheduler {
    /// Grants as far as there is room.
    pub fn new(room: Room) -> Self {
        Self {
            streams: Vec::new(),
            free: Vec::new(),
            room,
            unsent: 0,
            unsent_most: 0,
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
            begun: false,
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

    /// Changes a response's priority (RFC 9218, section 7).
    pub fn set_priority(&mut self, id: StreamId, priority: Priority) {
        if let Some(stream) = self.stream(id) {
            stream.priority = priority;
        }
    }

    /// The protocol is ready for more of this response.
    pub fn want(&mut self, id: StreamId) {
        if let Some(stream) = self.stream(id) {
            stream.wants = true;
            stream.stalled = false;
        }
    }

    /// The transport has taken `bytes` of what was granted.
    pub fn on_taken(&mut self, id: StreamId, bytes: usize) {
        if let Some(stream) = self.stream(id) {
            stream.pending = stream.pending.saturating_sub(bytes);
            stream.begun = true;
            stream.stalled = false;
            self.forget_if_done(id);
        }
        let waiting = self.pending() + self.unsent;
        self.unsent_most = self.unsent_most.max(waiting);
    }

    /// The transport holds so much that is not sent, heads and control frames included.
    pub fn on_unsent(&mut self, bytes: usize) {
        self.unsent = bytes;
    }

    /// The most that was granted and not sent so far, as of each time the transport took something.
    pub fn unsent_most(&self) -> usize {
        self.unsent_most
    }

    /// What may wait below, and how.
    pub fn room(&self) -> Room {
        self.room
    }

    /// Whether a response would go on if less waited unsent.
    pub fn is_held_back(&self) -> bool {
        !self.room.is_left(self.pending(), self.unsent) && self.next().is_some()
    }

    /// The response is complete or given up; what it was granted counts until it is taken.
    pub fn close(&mut self, id: StreamId) {
        if let Some(stream) = self.stream(id) {
            stream.closed = true;
            stream.wants = false;
            stream.remaining = 0;
            self.forget_if_done(id);
        }
    }

    /// Whether there were responses and the transport has taken all their bytes.
    pub fn is_done(&self) -> bool {
        let mut open = self.streams.iter().flatten();
        self.clock > 0 && open.all(|stream| stream.remaining == 0 && stream.pending == 0)
    }

    /// Whether a response has begun and is not all taken.
    pub fn has_more(&self) -> bool {
        let mut begun = self.streams.iter().flatten().filter(|stream| stream.begun);
        begun.any(|stream| stream.remaining > 0 || stream.pending > 0)
    }

    /// Nothing was taken for long though bytes are pending: the clients of the responses that hold
    /// them do not read, so others go first. True where somebody can go now.
    pub fn on_stall(&mut self) -> bool {
        let waits = self.streams.iter().flatten().any(|stream| stream.wants);
        if waits {
            for stream in self.streams.iter_mut().flatten() {
                stream.stalled = !stream.wants;
            }
        }
        waits
    }

    /// The next grant, if one may be given; to be asked until there is none.
    pub fn poll_grant(&mut self) -> Option<Grant> {
        if !self.room.is_left(self.pending(), self.unsent) {
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

    /// Granted and not taken, but for those whose clients do not read.
    fn pending(&self) -> usize {
        let all = self.streams.iter().flatten();
        let counted = all.filter(|stream| !stream.stalled);
        counted.map(|stream| stream.pending).sum()
    }

    /// The response whose turn it is, if it is ready.
    fn next(&self) -> Option<usize> {
        let rank = |stream: &Stream| (stream.priority.urgency, stream.priority.incremental);
        let candidates = || {
            let numbered = self.streams.iter().enumerate();
            let open = numbered.filter_map(|(at, stream)| Some((at, stream.as_ref()?)));
            open.filter(|(_, stream)| stream.remaining > 0 && !stream.stalled)
        };
        let (_, first) = candidates().min_by_key(|(_, stream)| (rank(stream), stream.turn))?;
        let (at, chosen) = if first.priority.incremental {
            // Among responses that share, one that is not ready gives its turn away.
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
