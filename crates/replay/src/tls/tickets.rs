use rustls::server::{ServerSessionMemoryCache, StoresServerSessions};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A large page opens some hundred connections, and each gets two tickets over TCP: rustls's own
/// 256 would forget the first of them.
const SESSIONS_MAX: usize = 4096;

/// The sessions of all connections, seen by one of them, which so tells whether it resumed one:
/// noq does not.
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
    /// The same sessions for another connection.
    pub fn for_connection(&self) -> Arc<Self> {
        Arc::new(Self {
            shared: self.shared.clone(),
            taken: AtomicBool::default(),
        })
    }

    /// Whether this connection offered a ticket that was known.
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
