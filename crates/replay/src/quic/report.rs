//! What is told of a connection at its end.

use super::endpoint::{QUIC_VERSION, Watches};
use super::requests::EarlyRequests;
use crate::scheduler::Gate;
use crate::tls::SUITE_TLS13;
use crate::{ConnectionEvent, Event, HttpVersion, InForce, Service, StackConfig};
use noq::PathId;
use noq::crypto::rustls::HandshakeData;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, PoisonError};

/// A connection that reports what was in force when it is dropped.
pub(super) struct Report {
    pub number: u64,
    pub accepted_at_ns: u64,
    pub ready_at_ns: Arc<OnceLock<u64>>,
    pub address: Option<SocketAddr>,
    pub connection: Option<noq::Connection>,
    pub watches: Watches,
    pub stack: Arc<StackConfig>,
    pub service: Arc<Service>,
    pub failure: Option<String>,
    pub gate: Gate,
    /// None where early data are not allowed.
    pub early: Option<Arc<EarlyRequests>>,
    /// Sent and received when the handshake was complete.
    pub handshake_bytes: Arc<OnceLock<(u64, u64)>>,
}

impl Drop for Report {
    fn drop(&mut self) {
        let path = self.connection.as_ref().and_then(|connection| {
            let handshake = connection
                .handshake_data()?
                .downcast::<HandshakeData>()
                .ok();
            Some((connection.path_stats(PathId::ZERO), handshake?))
        });
        let (stats, handshake) = path.unzip();
        let stats = stats.flatten();
        let connected = self.connection.is_some();
        let packet_bytes = stats.as_ref().map(|stats| stats.current_mtu);
        let in_force = InForce {
            congestion_control: self.watches.meter.congestion_control().map(str::to_owned),
            pacing_rate_bytes_s_max: self.watches.meter.pacing_rate_bytes_s_max(),
            initial_window_packets: packet_bytes
                .and_then(|packet_bytes| self.watches.meter.initial_window_packets(packet_bytes)),
            pacing_rate_bytes_s: self.watches.meter.pacing_rate_bytes_s(),
            retransmitted_packets: stats.as_ref().map(|stats| stats.lost_packets),
            sent_packets: stats.as_ref().map(|stats| stats.sent_packets),
            sent_bytes: stats.as_ref().map(|stats| stats.udp_tx.bytes),
            first_flight_packets: self
                .watches
                .meter
                .first_flight()
                .map(|(packets, _)| packets),
            first_flight_ms: self.watches.meter.first_flight().map(|(_, ms)| ms),
            handshake_sent_bytes: self.handshake_bytes.get().map(|(sent, _)| *sent),
            handshake_received_bytes: self.handshake_bytes.get().map(|(_, received)| *received),
            resumed: connected.then(|| self.watches.tickets.resumed()),
            early_data_offered: self
                .watches
                .hello
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .early_data_offered(),
            early_data_accepted: self
                .early
                .as_ref()
                .map(|early| early.seen.load(Ordering::Relaxed)),
            priority_updates: Some(self.gate.updates()).filter(|updates| *updates > 0),
            pacing_rate_bytes_s_start: None,
            syn_ack_retransmitted_packets: None,
            slow_start_after_idle: connected.then_some(self.stack.slow_start_after_idle),
            buffer_bytes_max: None,
            rtt_ms_min: self.watches.meter.rtt_ms_min(),
            rtt_ms_smoothed: stats.as_ref().map(|stats| stats.rtt.as_secs_f64() * 1e3),
            tls_version: connected.then_some("1.3"),
            // The only one that was offered.
            cipher: handshake
                .as_ref()
                .and_then(|_| SUITE_TLS13.suite().as_str())
                .map(str::to_owned),
            key_exchange: handshake
                .and_then(|handshake| handshake.negotiated_key_exchange_group)
                .and_then(|group| group.as_str())
                .map(str::to_owned),
            quic_version: connected.then_some(QUIC_VERSION),
            packet_bytes,
            failure: self.failure.take(),
        };
        self.service
            .emit(Event::Connection(Box::new(ConnectionEvent {
                at_ns: self.service.now_ns(),
                connection: self.number,
                protocol: HttpVersion::H3.protocol(),
                accepted_at_ns: self.accepted_at_ns,
                ready_at_ns: self.ready_at_ns.get().copied(),
                address: self.address,
                in_force,
            })));
    }
}
