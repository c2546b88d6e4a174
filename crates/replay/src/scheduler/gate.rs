use super::sending::Sending;
use super::{Grant, Priority, Room, Scheduler, StreamId};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Streams whose priority may be told before their response begins: as many as a client may open,
/// and some that were given up.
const ANNOUNCED_MAX: usize = 256;

/// One connection's scheduler, shared by the bodies of its responses.
#[derive(Clone, Debug)]
pub struct Gate(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    scheduler: Scheduler,
    /// Grants that wait for their turn to be handed over, in their order.
    queue: VecDeque<Grant>,
    /// Grants that may be picked up.
    granted: HashMap<StreamId, usize>,
    /// Of a transport that sends stream by stream.
    sending: Option<Sending>,
    wakers: HashMap<StreamId, Waker>,
    /// Whether the transport has taken anything since the last look at it.
    moved: bool,
    /// Whether clients may change priorities.
    priorities: bool,
    updates: u64,
    /// The responses of the protocol's streams.
    responses: HashMap<u64, StreamId>,
    /// Priorities of streams without a response so far.
    announced: BTreeMap<u64, Priority>,
}

impl Gate {
    /// `priorities`: whether clients may change them.
    pub fn new(priorities: bool, room: Room) -> Self {
        Self::with(priorities, room, None)
    }

    /// The same over a transport that sends all that a stream holds before it turns to the next,
    /// and tells what it takes and sends ([`Self::on_written`], [`Self::on_sent`]): where what is
    /// unsent is bounded, bytes leave in the order in which they were granted all the same.
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

    /// Adds a response of `bytes` with the priority of its request, on a stream of the protocol
    /// where that is known.
    pub fn open(&self, stream: Option<u64>, priority: Priority, bytes: u64) -> StreamId {
        let mut state = self.lock();
        // RFC 9218, section 7: the frame counts more than the field.
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

    /// The client changed the priority of a stream, whose response may not have begun.
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

    /// Whether several responses share the connection now.
    pub fn is_shared(&self) -> bool {
        self.lock().responses.len() > 1
    }

    /// Whether there were responses and the transport has taken all their bytes.
    pub fn is_done(&self) -> bool {
        self.lock().scheduler.is_done()
    }

    /// Changes of priority so far.
    pub fn updates(&self) -> u64 {
        self.lock().updates
    }

    /// Leave for the next bytes of a response.
    pub fn poll_grant(&self, id: StreamId, context: &mut Context<'_>) -> Poll<usize> {
        let mut state = self.lock();
        if let Some(bytes) = state.granted.remove(&id) {
            return Poll::Ready(bytes);
        }
        state.scheduler.want(id);
        let others = state.advance();
        let own = state.granted.remove(&id);
        if own.is_none() {
            state.wakers.insert(id, context.waker().clone());
        }
        drop(state);
        others.into_iter().for_each(Waker::wake);
        own.map_or(Poll::Pending, Poll::Ready)
    }

    /// The transport has taken bytes, or dropped them with their stream.
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

    /// The transport holds so many bytes that are not sent.
    pub fn on_unsent(&self, bytes: usize) {
        let mut state = self.lock();
        state.scheduler.on_unsent(bytes);
        let woken = state.advance();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// A stream of the transport has taken so many bytes, heads and all.
    pub fn on_written(&self, stream: u64, bytes: usize) {
        self.on_stream(|sending| sending.on_written(stream, bytes as u64));
    }

    /// A stream's bytes up to an offset have left for the first time or again.
    pub fn on_sent(&self, stream: u64, end: u64) {
        self.on_stream(|sending| sending.on_sent(stream, end));
    }

    /// A stream was given up; what it held will not be sent.
    pub fn on_reset(&self, stream: u64) {
        self.on_stream(|sending| sending.on_reset(stream));
    }

    /// A stream does not take what it is given: the client's windows are full, or what the transport
    /// may hold is.
    pub fn on_refused(&self, stream: u64) {
        self.on_stream(|sending| sending.on_refused(stream));
    }

    /// How long streams refused more though nothing waited unsent: the client's windows were full.
    pub fn refused_time(&self) -> Duration {
        let state = self.lock();
        let now = Instant::now();
        let sending = state.sending.as_ref();
        sending.map_or(Duration::ZERO, |sending| sending.refused_time(now))
    }

    /// How long nothing waited unsent though there was more of a response.
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
        state.look_for_idleness();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// The most that was granted and not sent, whoever held it.
    pub fn unsent_most(&self) -> usize {
        self.lock().scheduler.unsent_most()
    }

    /// Whether a response would go on if less waited unsent.
    pub fn is_held_back(&self) -> bool {
        self.lock().scheduler.is_held_back()
    }

    /// What may wait below, and how.
    pub fn room(&self) -> Room {
        self.lock().scheduler.room()
    }

    /// A response is complete or given up.
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
        state.look_for_idleness();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// To be called now and then: where nothing moved since the last call though somebody waits,
    /// those who do not read lose their place.
    pub fn look_for_stall(&self) {
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
    /// Whether the transport sends nothing though it could, and why.
    fn look_for_idleness(&mut self) {
        let has_more = self.scheduler.has_more();
        if let Some(sending) = &mut self.sending {
            sending.look_for_idleness(has_more, Instant::now());
        }
    }

    /// Gives out what can be given; wakers are returned, to be woken without the lock.
    fn advance(&mut self) -> Vec<Waker> {
        while let Some(grant) = self.scheduler.poll_grant() {
            self.queue.push_back(grant);
        }
        let mut woken = Vec::new();
        while let Some(Grant { stream, bytes }) = self.queue.front().copied() {
            if let Some(sending) = &mut self.sending
                && !sending.hand_over(stream)
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
