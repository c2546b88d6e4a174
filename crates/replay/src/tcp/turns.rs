use crate::scheduler::Gate;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::task::Poll;

/// The turns of a connection's task, counted so that what several responses write leaves in full
/// segments.
///
/// The kernel counts its window in segments. Written chunk by chunk, each chunk would end in a
/// short segment. So the socket is corked, and its end is released once all that the scheduler had
/// ready is written: without a gate (HTTP/1.1 writes a response at once) with every flush, else
/// when the gate allows it, at the latest in the first turn that writes nothing. The runtime gives
/// turns in order, so by then every ready response has written. A turn takes microseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns(Arc<State>);

#[derive(Debug, Default)]
struct State {
    turn: AtomicU64,
    /// The turn of the last write whose end is held; 0 if nothing is held.
    written: AtomicU64,
    gate: OnceLock<Gate>,
}

impl Turns {
    /// Sets the gate of the bodies that these turns write.
    pub fn set_gate(&self, gate: Gate) {
        // Called once, for a connection has one gate.
        let _ = self.0.gate.set(gate);
    }

    /// Returns the gate, once it is set.
    pub fn gate(&self) -> Option<&Gate> {
        self.0.gate.get()
    }

    /// Drives a connection; a turn that ends with something held is followed by another.
    pub async fn drive<F: Future>(&self, connection: F) -> F::Output {
        let mut connection = pin!(connection);
        poll_fn(|context| {
            let turn = self.0.turn.fetch_add(1, Relaxed) + 1;
            let done = connection.as_mut().poll(context);
            if done.is_pending() && self.0.written.load(Relaxed) == turn {
                context.waker().wake_by_ref();
            }
            done
        })
        .await
    }

    /// Records that bytes were written to the socket in this turn.
    pub fn on_written(&self) {
        self.0.written.store(self.0.turn.load(Relaxed), Relaxed);
    }

    /// Returns ready if the socket's end is to be released now; called after writes.
    pub fn poll_release(&self) -> Poll<()> {
        let written = self.0.written.load(Relaxed);
        let gate = self.0.gate.get();
        let done = || gate.is_none_or(Gate::is_done);
        if written == 0 || (written == self.0.turn.load(Relaxed) && !done()) {
            return Poll::Pending;
        }
        // More follows as soon as less is unsent, and a corked end does not delay that.
        if gate.is_some_and(Gate::is_held_back) {
            return Poll::Pending;
        }
        self.0.written.store(0, Relaxed);
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::{Priority, Room};
    use std::task::{Context, Waker};

    fn gate(unsent_bytes_max: Option<usize>) -> Gate {
        let room = Room {
            chunk_bytes: 100,
            chunk_wire_bytes: 100,
            pending_bytes_max: 100,
            unsent_bytes_max,
        };
        Gate::new(true, room)
    }

    #[test]
    fn the_end_is_held_while_a_response_waits_for_room_alone() {
        let turns = Turns::default();
        let gate = gate(Some(400));
        turns.set_gate(gate.clone());
        let id = gate.open(None, Priority::default(), 200);
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(gate.poll_grant(id, &mut context), Poll::Ready(100));
        turns.0.turn.store(1, Relaxed);
        turns.on_written();
        gate.on_taken(id, 100);
        gate.on_unsent(301);
        assert!(gate.poll_grant(id, &mut context).is_pending());
        turns.0.turn.store(2, Relaxed);
        assert!(turns.poll_release().is_pending());
        gate.on_unsent(300);
        assert!(turns.poll_release().is_ready());
    }

    #[test]
    fn the_end_is_released_in_the_first_turn_without_a_write() {
        let turns = Turns::default();
        turns.set_gate(gate(None));
        let mut writes = [2, 1, 0, 0, 1, 0].into_iter();
        let mut released = Vec::new();
        let connection = poll_fn(|_: &mut Context<'_>| {
            let Some(count) = writes.next() else {
                return Poll::Ready(());
            };
            for _ in 0..count {
                turns.on_written();
                // A flush between two writes of a turn releases nothing.
                assert!(turns.poll_release().is_pending());
            }
            released.push(turns.poll_release().is_ready());
            Poll::Pending
        });
        let mut context = Context::from_waker(Waker::noop());
        {
            let mut driven = pin!(turns.drive(connection));
            while driven.as_mut().poll(&mut context).is_pending() {}
        }
        assert_eq!(released, [false, false, true, false, false, true]);
    }

    #[tokio::test]
    async fn a_turn_that_writes_is_followed_by_another() {
        let turns = Turns::default();
        let mut left = 3;
        // Only the driver wakes this.
        let connection = poll_fn(|_: &mut Context<'_>| {
            if left == 0 {
                return Poll::Ready(());
            }
            left -= 1;
            turns.on_written();
            Poll::Pending
        });
        turns.drive(connection).await;
    }

    #[test]
    fn a_gate_without_pending_bytes_releases_at_once() {
        let turns = Turns::default();
        let gate = gate(None);
        turns.set_gate(gate.clone());
        turns.0.turn.store(1, Relaxed);
        // Bytes before the first response wait for it.
        turns.on_written();
        assert!(turns.poll_release().is_pending());
        let id = gate.open(None, Priority::default(), 10);
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(gate.poll_grant(id, &mut context), Poll::Ready(10));
        assert!(turns.poll_release().is_pending());
        gate.on_taken(id, 10);
        assert!(turns.poll_release().is_ready());
        assert!(turns.poll_release().is_pending(), "once");
    }
}
