use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

/// The state that a connection's congestion controller exposes from inside the QUIC stack.
#[derive(Debug, Default)]
pub struct Meter {
    bytes_in_flight: AtomicU64,
    pacing_rate_bytes_s_max: AtomicU64,
    rtt_ns_min: AtomicU64,
    initial_window_bytes: AtomicU64,
    pacing_rate_bytes_s: AtomicU64,
    first_flight_packets: AtomicU32,
    first_flight_ns: AtomicU64,
    ready: AtomicBool,
    held: AtomicBool,
    name: OnceLock<&'static str>,
    changed: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Meter {
    /// Records the bytes in flight; called by the controller after each event.
    pub(super) fn on_in_flight(&self, bytes: u64) {
        self.bytes_in_flight.store(bytes, Ordering::Relaxed);
        if !self.changed.swap(true, Ordering::AcqRel) {
            let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(waker) = waker.as_ref() {
                waker.wake_by_ref();
            }
        }
    }

    /// Records the controller and its window; called by the controller at its start.
    pub(super) fn on_start(&self, name: &'static str, window_bytes: u64) {
        let _ = self.name.set(name);
        self.initial_window_bytes
            .store(window_bytes, Ordering::Relaxed);
    }

    /// Records a pacing rate; called by the controller with each one that it returns.
    pub(super) fn on_pacing_rate(&self, bytes_s: u64) {
        self.pacing_rate_bytes_s.store(bytes_s, Ordering::Relaxed);
        self.pacing_rate_bytes_s_max
            .fetch_max(bytes_s, Ordering::Relaxed);
    }

    /// Stops sending until it is released; called by the server before the connection begins.
    pub(super) fn hold(&self) {
        self.held.store(true, Ordering::Relaxed);
    }

    /// Allows sending, and wakes the sender; called by the server once its settings are written.
    pub(super) fn release(&self) {
        self.held.store(false, Ordering::Relaxed);
    }

    /// Returns whether sending is stopped.
    pub(super) fn is_held(&self) -> bool {
        self.held.load(Ordering::Relaxed)
    }

    /// Ends the handshake; called by the server. What is sent from now on belongs to the page.
    pub(super) fn on_ready(&self) {
        self.ready.store(true, Ordering::Relaxed);
    }

    /// Returns whether the handshake is over.
    pub(super) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed)
    }

    /// Records the first flight so far; called by the controller.
    pub(super) fn on_first_flight(&self, packets: u32, ns: u64) {
        self.first_flight_packets.store(packets, Ordering::Relaxed);
        self.first_flight_ns.store(ns, Ordering::Relaxed);
    }

    /// Returns the full packets of the first flight after the handshake, and the time between the
    /// first and the last; `None` if there was no full packet.
    pub fn first_flight(&self) -> Option<(u32, f64)> {
        let packets = self.first_flight_packets.load(Ordering::Relaxed);
        let ns = self.first_flight_ns.load(Ordering::Relaxed);
        (packets > 0).then_some((packets, ns as f64 / 1e6))
    }

    /// Returns the last pacing rate; `None` if packets were not paced.
    pub fn pacing_rate_bytes_s(&self) -> Option<u64> {
        Some(self.pacing_rate_bytes_s.load(Ordering::Relaxed)).filter(|rate| *rate > 0)
    }

    /// Records the smallest round trip; called by the controller.
    pub(super) fn on_rtt_min(&self, ns: u64) {
        self.rtt_ns_min.store(ns, Ordering::Relaxed);
    }

    /// Returns the bytes in flight, once they have changed since the last call.
    pub(super) fn poll_in_flight(&self, context: &mut Context<'_>) -> Poll<u64> {
        let mut waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        if self.changed.swap(false, Ordering::AcqRel) {
            return Poll::Ready(self.bytes_in_flight.load(Ordering::Relaxed));
        }
        if !waker
            .as_ref()
            .is_some_and(|waker| waker.will_wake(context.waker()))
        {
            *waker = Some(context.waker().clone());
        }
        drop(waker);
        // An event between the check and the registration of the waker would be lost otherwise.
        if self.changed.swap(false, Ordering::AcqRel) {
            return Poll::Ready(self.bytes_in_flight.load(Ordering::Relaxed));
        }
        Poll::Pending
    }

    /// Returns the name of the controller in force; `None` before the connection has one.
    pub fn congestion_control(&self) -> Option<&'static str> {
        self.name.get().copied()
    }

    /// Returns its initial window, in packets of `packet_bytes`.
    pub fn initial_window_packets(&self, packet_bytes: u16) -> Option<u32> {
        self.name.get()?;
        let bytes = self.initial_window_bytes.load(Ordering::Relaxed);
        u32::try_from(bytes / u64::from(packet_bytes.max(1))).ok()
    }

    /// Returns the greatest pacing rate so far; `None` if packets were not paced.
    pub fn pacing_rate_bytes_s_max(&self) -> Option<u64> {
        Some(self.pacing_rate_bytes_s_max.load(Ordering::Relaxed)).filter(|rate| *rate > 0)
    }

    /// Returns the smallest round trip; `None` before the first sample.
    pub fn rtt_ms_min(&self) -> Option<f64> {
        let ns = self.rtt_ns_min.load(Ordering::Relaxed);
        (ns > 0).then_some(ns as f64 / 1e6)
    }
}
