use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

/// The servers' time of cryptography: the smallest of all handshakes, so that subtracting it from a
/// handshake's time removes too little rather than too much.
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

/// The smallest time per protocol in microseconds; null if no handshake was complete.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct WorkMin {
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

    /// Returns the smallest times so far.
    pub fn min(&self) -> WorkMin {
        let micros = |of: &AtomicU64| match of.load(Ordering::Relaxed) {
            u64::MAX => None,
            took_ns => Some(took_ns / 1000),
        };
        WorkMin {
            tls12: micros(&self.tls12_ns),
            tls13: micros(&self.tls13_ns),
            quic: micros(&self.quic_ns),
        }
    }
}
