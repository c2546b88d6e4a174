use super::{CHUNK_BYTES, Grant, Priority, Scheduler, StreamId};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Streams whose priority may be told before their response begins: as many as a client may open,
/// and some that were given up.
const ANNOUNCED_MAX: usize = 256;

/// One connection's scheduler, shared by the bodies of its responses.
#[derive(Clone, Debug)]
pub struct Gate(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    scheduler: Scheduler,
    /// Grants that were given and not yet picked up.
    granted: HashMap<StreamId, usize>,
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
    /// `priorities`: whether clients may change them; `pending_bytes_max`: what a protocol may hold
    /// that its transport has not taken, beyond which nothing is let through.
    pub fn new(priorities: bool, pending_bytes_max: usize) -> Self {
        Self(Arc::new(Mutex::new(State {
            scheduler: Scheduler::new(CHUNK_BYTES, pending_bytes_max),
            granted: HashMap::new(),
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
        state.scheduler.on_taken(id, bytes);
        state.moved = true;
        let woken = state.advance();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// A response is complete or given up.
    pub fn close(&self, id: StreamId) {
        let mut state = self.lock();
        state.wakers.remove(&id);
        state.responses.retain(|_, response| *response != id);
        if let Some(bytes) = state.granted.remove(&id) {
            state.scheduler.on_taken(id, bytes);
        }
        state.scheduler.close(id);
        let woken = state.advance();
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
        let woken = state.advance();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Gives out what can be given; wakers are returned, to be woken without the lock.
    fn advance(&mut self) -> Vec<Waker> {
        let mut woken = Vec::new();
        while let Some(Grant { stream, bytes }) = self.scheduler.poll_grant() {
            self.granted.insert(stream, bytes);
            woken.extend(self.wakers.remove(&stream));
        }
        woken
    }
}
