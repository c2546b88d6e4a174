use super::sending::Sending;
use super::{Grant, Priority, Room, Scheduler, StreamId};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// The largest number of streams whose priority is kept before their response begins: as many as a
/// client may open, and some that were cancelled.
const ANNOUNCED_MAX: usize = 256;

/// One connection's scheduler, shared by the bodies of its responses.
#[derive(Clone, Debug)]
pub struct Gate(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    scheduler: Scheduler,
    /// Grants that wait to be passed to their response, in order.
    queue: VecDeque<Grant>,
    /// Granted bytes that responses may collect.
    granted: HashMap<StreamId, usize>,
    /// The state of a transport that sends stream by stream.
    sending: Option<Sending>,
    wakers: HashMap<StreamId, Waker>,
    /// Whether the transport accepted anything since the last check.
    moved: bool,
    /// Whether clients may change priorities.
    priorities: bool,
    updates: u64,
    /// The responses by the protocol's stream number.
    responses: HashMap<u64, StreamId>,
    /// Priorities of streams that have no response yet.
    announced: BTreeMap<u64, Priority>,
}

impl Gate {
    /// Creates a gate; `priorities` is whether clients may change them.
    pub fn new(priorities: bool, room: Room) -> Self {
        Self::with(priorities, room, None)
    }

    /// Creates a gate over a transport that sends all that a stream holds before it turns to the
    /// next, and reports what it accepts and sends ([`Self::on_written`], [`Self::on_sent`]). If
    /// unsent bytes are bounded, bytes still leave in the order in which they were granted.
    pub fn by_stream(priorities: bool, room: Room) -> Self {
        let ordered = room.unsent_bytes_max.is_some();
        Self::with(priorities, room, Some(Sending::new(ordered)))
    }

    fn with(priorities: bool, room: Room, sending: Option<Sending>) -> Self {
        Self(Arc::new(Mutex::new(State {
            scheduler: Scheduler::new(room),
            queue: VecDeque::new(),
            granted: HashMap::new(),
            sending,
            wakers: HashMap::new(),
            moved: false,
            priorities,
            updates: 0,
            responses: HashMap::new(),
            announced: BTreeMap::new(),
        })))
    }

    /// Adds a response of `bytes` with the priority of its request, on a stream of the protocol if
    /// that is known.
    pub fn open(&self, stream: Option<u64>, priority: Priority, bytes: u64) -> StreamId {
        let mut state = self.lock();
        // The frame overrides the field (RFC 9218, section 7).
        let announced = stream.and_then(|stream| state.announced.remove(&stream));
        let id = state.scheduler.open(announced.unwrap_or(priority), bytes);
        if let Some(stream) = stream {
            state.responses.insert(stream, id);
            if let Some(sending) = &mut state.sending {
                sending.on_open(stream, id);
            }
        }
        id
    }

    /// So many more bytes of a response came, whose length nobody knew.
    pub fn extend(&self, id: StreamId, bytes: u64) {
        self.lock().scheduler.extend(id, bytes);
    }

    /// Changes the priority of a stream at the client's request; its response may not have begun.
    pub fn update(&self, stream: u64, priority: Priority) {
        let mut state = self.lock();
        state.updates += 1;
        if !state.priorities {
            return;
        }
        if let Some(id) = state.responses.get(&stream).copied() {
            state.scheduler.set_priority(id, priority);
        } else {
            state.announced.insert(stream, priority);
            if state.announced.len() > ANNOUNCED_MAX {
                state.announced.pop_first();
            }
        }
        let woken = state.advance();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Returns whether several responses share the connection now.
    pub fn is_shared(&self) -> bool {
        self.lock().responses.len() > 1
    }

    /// Returns whether there were responses and the transport has accepted all their bytes.
    pub fn is_done(&self) -> bool {
        self.lock().scheduler.is_done()
    }

    /// Returns the number of priority changes so far.
    pub fn updates(&self) -> u64 {
        self.lock().updates
    }

    /// Returns the next bytes granted to a response, once there are some.
    pub fn poll_grant(&self, id: StreamId, context: &mut Context<'_>) -> Poll<usize> {
        let mut state = self.lock();
        if let Some(bytes) = state.granted.remove(&id) {
            return Poll::Ready(bytes);
        }
        state.scheduler.mark_ready(id);
        let others = state.advance();
        let own = state.granted.remove(&id);
        if own.is_none() {
            state.wakers.insert(id, context.waker().clone());
        }
        drop(state);
        others.into_iter().for_each(Waker::wake);
        own.map_or(Poll::Pending, Poll::Ready)
    }

    /// Records that the transport accepted bytes, or dropped them with their stream.
    pub fn on_taken(&self, id: StreamId, bytes: usize) {
        let mut state = self.lock();
        if let Some(sending) = &mut state.sending {
            sending.on_taken(id);
        }
        state.scheduler.on_taken(id, bytes);
        state.moved = true;
        let woken = state.advance();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Records the bytes that the transport holds unsent.
    pub fn on_unsent(&self, bytes: usize) {
        let mut state = self.lock();
        state.scheduler.on_unsent(bytes);
        let woken = state.advance();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Records that a stream of the transport accepted bytes, heads included.
    pub fn on_written(&self, stream: u64, bytes: usize) {
        self.on_stream(|sending| sending.on_written(stream, bytes as u64));
    }

    /// Records that a stream's bytes up to an offset were sent, for the first time or again.
    pub fn on_sent(&self, stream: u64, end: u64) {
        self.on_stream(|sending| sending.on_sent(stream, end));
    }

    /// Records that a stream was reset; what it held will not be sent.
    pub fn on_reset(&self, stream: u64) {
        self.on_stream(|sending| sending.on_reset(stream));
    }

    /// Records that a stream refused data: the client's window or the transport's buffer is full.
    pub fn on_refused(&self, stream: u64) {
        self.on_stream(|sending| sending.on_refused(stream));
    }

    /// Returns how long streams refused more though nothing was unsent: the client's windows were
    /// full.
    pub fn refused_time(&self) -> Duration {
        let state = self.lock();
        let now = Instant::now();
        let sending = state.sending.as_ref();
        sending.map_or(Duration::ZERO, |sending| sending.refused_time(now))
    }

    /// Returns how long nothing was unsent though a response had more data.
    pub fn dry_time(&self) -> Duration {
        let state = self.lock();
        let now = Instant::now();
        let sending = state.sending.as_ref();
        sending.map_or(Duration::ZERO, |sending| sending.dry_time(now))
    }

    fn on_stream(&self, event: impl FnOnce(&mut Sending)) {
        let mut state = self.lock();
        let Some(sending) = &mut state.sending else {
            return;
        };
        event(sending);
        let unsent = sending.unsent();
        state.scheduler.on_unsent(unsent);
        let woken = state.advance();
        state.update_idle_times();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Returns the most bytes granted and not sent, in whichever layer.
    pub fn unsent_max(&self) -> usize {
        self.lock().scheduler.unsent_max()
    }

    /// Returns whether a response would continue if less were unsent.
    pub fn is_held_back(&self) -> bool {
        self.lock().scheduler.is_held_back()
    }

    /// Returns the limits of what may be queued below.
    pub fn room(&self) -> Room {
        self.lock().scheduler.room()
    }

    /// Closes a response, complete or cancelled.
    pub fn close(&self, id: StreamId) {
        let mut state = self.lock();
        state.wakers.remove(&id);
        state.responses.retain(|_, response| *response != id);
        let queued = state.queue.iter().position(|grant| grant.stream == id);
        let queued = queued.and_then(|at| state.queue.remove(at));
        let given = queued.map(|grant| grant.bytes);
        if let Some(bytes) = state.granted.remove(&id) {
            if let Some(sending) = &mut state.sending {
                sending.on_taken(id);
            }
            state.scheduler.on_taken(id, bytes);
        } else if let Some(bytes) = given {
            state.scheduler.on_taken(id, bytes);
        }
        if let Some(sending) = &mut state.sending {
            sending.on_close(id);
        }
        state.scheduler.close(id);
        let woken = state.advance();
        state.update_idle_times();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Checks for a stall; to be called at intervals. If nothing moved since the last call though
    /// responses wait, those whose clients do not read lose their place.
    pub fn check_stall(&self) {
        let mut state = self.lock();
        if std::mem::take(&mut state.moved) || !state.scheduler.on_stall() {
            return;
        }
        if let Some(sending) = &mut state.sending {
            sending.on_stall();
        }
        let woken = state.advance();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Updates whether the transport is idle though it could send, and why.
    fn update_idle_times(&mut self) {
        let has_more = self.scheduler.has_more();
        if let Some(sending) = &mut self.sending {
            sending.update_idle_times(has_more, Instant::now());
        }
    }

    /// Passes out the grants that are possible; returns wakers, to be woken without the lock.
    fn advance(&mut self) -> Vec<Waker> {
        while let Some(grant) = self.scheduler.poll_grant() {
            self.queue.push_back(grant);
        }
        let mut woken = Vec::new();
        while let Some(Grant { stream, bytes }) = self.queue.front().copied() {
            if let Some(sending) = &mut self.sending
                && !sending.try_hand_over(stream)
            {
                break;
            }
            self.queue.pop_front();
            self.granted.insert(stream, bytes);
            woken.extend(self.wakers.remove(&stream));
        }
        woken
    }
}
