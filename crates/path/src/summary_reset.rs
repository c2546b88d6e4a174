use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Begins the summary of a running [`crate::Path`] anew, for a next load.
#[derive(Clone, Debug, Default)]
pub struct SummaryReset(Arc<AtomicBool>);

impl SummaryReset {
    /// What the path carries from its next packet on is in the summary, and nothing before.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether that was asked for since the last time.
    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed)
    }
}
