use super::{CHUNK_BYTES, Grant, PENDING_BYTES_MAX, Priority, Scheduler, StreamId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

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
}

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State {
            scheduler: Scheduler::new(CHUNK_BYTES, PENDING_BYTES_MAX),
            granted: HashMap::new(),
            wakers: HashMap::new(),
            moved: false,
        })))
    }
}

impl Gate {
    /// Adds a response.
    pub fn open(&self, priority: Priority, bytes: u64) -> StreamId {
        self.lock().scheduler.open(priority, bytes)
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
