use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

/// What cryptography took the servers: the least of all handshakes, so that whoever takes it off a
/// handshake's time takes off too little rather than too much.
#[derive(Debug)]
pub struct Work {
    tls12_ns: AtomicU64,
    tls13_ns: AtomicU64,
    quic_ns: AtomicU64,
}

impl Default for Work {
    fn default() -> Self {
        let none = || AtomicU64::new(u64::MAX);
        Self {
            tls12_ns: none(),
            tls13_ns: none(),
            quic_ns: none(),
        }
    }
}

/// The least of each protocol in microseconds; null where no handshake was complete.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct WorkLeast {
    #[serde(rename = "tls1.2")]
    pub tls12: Option<u64>,
    #[serde(rename = "tls1.3")]
    pub tls13: Option<u64>,
    pub quic: Option<u64>,
}

impl Work {
    pub(super) fn note_tls(&self, version: Option<rustls::ProtocolVersion>, took_ns: u64) {
        match version {
            Some(rustls::ProtocolVersion::TLSv1_2) => &self.tls12_ns,
            _ => &self.tls13_ns,
        }
        .fetch_min(took_ns, Ordering::Relaxed);
    }

    pub(super) fn note_quic(&self, took_ns: u64) {
        self.quic_ns.fetch_min(took_ns, Ordering::Relaxed);
    }

    /// Up to now.
    pub fn least(&self) -> WorkLeast {
        let micros = |of: &AtomicU64| match of.load(Ordering::Relaxed) {
            u64::MAX => None,
            took_ns => Some(took_ns / 1000),
        };
        WorkLeast {
            tls12: micros(&self.tls12_ns),
            tls13: micros(&self.tls13_ns),
            quic: micros(&self.quic_ns),
        }
    }
}
