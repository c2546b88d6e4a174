use crate::early_hints::write_h2_frame;
use http::HeaderValue;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

/// Heads of interim responses that wait to be written between hyper's frames: hyper sends none
/// itself.
#[derive(Clone, Debug, Default)]
pub(super) struct InterimHeads(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    frames: VecDeque<Vec<u8>>,
    /// The task that drives the connection.
    driver: Option<Waker>,
}

impl InterimHeads {
    /// Sends a 103 on a stream as soon as a frame may begin. What hyper gets afterwards is written
    /// after it.
    pub fn send_early_hints(&self, stream: u64, link: &HeaderValue) {
        let mut waiting = self.lock();
        waiting.frames.push_back(write_h2_frame(stream, link));
        if let Some(driver) = &waiting.driver {
            driver.wake_by_ref();
        }
    }

    /// Records the task that writes them.
    pub fn set_driver(&self, context: &Context<'_>) {
        let driver = &mut self.lock().driver;
        match driver {
            Some(waker) => waker.clone_from(context.waker()),
            None => *driver = Some(context.waker().clone()),
        }
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.lock().frames.is_empty()
    }

    /// Removes and returns the next frame.
    pub fn next(&self) -> Option<Vec<u8>> {
        self.lock().frames.pop_front()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
