use rustls::server::{ServerSessionMemoryCache, StoresServerSessions};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The largest number of sessions: a large page opens some hundred connections, and each gets two
/// tickets over TCP; rustls's default of 256 would drop the first of them.
const SESSIONS_MAX: usize = 4096;

/// The sessions of all connections, with one connection's view, which shows whether it resumed one;
/// noq does not report that.
#[derive(Debug)]
pub(crate) struct Tickets {
    shared: Arc<ServerSessionMemoryCache>,
    taken: AtomicBool,
}

impl Default for Tickets {
    fn default() -> Self {
        Self {
            shared: ServerSessionMemoryCache::new(SESSIONS_MAX),
            taken: AtomicBool::default(),
        }
    }
}

impl Tickets {
    /// Returns a view of the same sessions for another connection.
    pub fn for_connection(&self) -> Arc<Self> {
        Arc::new(Self {
            shared: self.shared.clone(),
            taken: AtomicBool::default(),
        })
    }

    /// Returns whether this connection offered a known ticket.
    pub fn resumed(&self) -> bool {
        self.taken.load(Ordering::Relaxed)
    }
}

impl StoresServerSessions for Tickets {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        self.shared.put(key, value)
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.shared.get(key)
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        let found = self.shared.take(key);
        if found.is_some() {
            self.taken.store(true, Ordering::Relaxed);
        }
        found
    }

    fn can_cache(&self) -> bool {
        true
    }
}
