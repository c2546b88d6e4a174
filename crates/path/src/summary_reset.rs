use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A handle that restarts the summary of a running [`crate::Path`], for the next load.
#[derive(Clone, Debug, Default)]
pub struct SummaryReset(Arc<AtomicBool>);

impl SummaryReset {
    /// Requests a restart: the summary then begins with the path's next packet.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether a restart was requested since the last call.
    pub(crate) fn take_request(&self) -> bool {
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed)
    }
}
