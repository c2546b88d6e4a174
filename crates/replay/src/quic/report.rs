//! Reports a connection at its end.

use super::endpoint::{QUIC_VERSION, Watches};
use super::http3::{Compression, EarlyRequests};
use crate::scheduler::Gate;
use crate::tls::SUITE_TLS13;
use crate::{ConnectionEvent, Event, HttpVersion, InForce, Service, StackConfig};
use eyelevel_archive::Scheme;
use noq::PathId;
use noq::crypto::rustls::HandshakeData;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

/// The failure of a connection that lasts as long as the lab without completing its handshake.
const HANDSHAKE_INCOMPLETE: &str = "the QUIC handshake was not completed";

/// The report of a connection, sent when this is dropped.
pub(super) struct Report {
    pub number: u64,
    pub accepted_at_ns: u64,
    pub ready_at_ns: Arc<OnceLock<u64>>,
    pub address: Option<SocketAddr>,
    pub client: SocketAddr,
    pub connection: Option<noq::Connection>,
    pub watches: Watches,
    pub stack: Arc<StackConfig>,
    pub service: Arc<Service>,
    pub failure: Option<String>,
    pub gate: Gate,
    /// `None` if early data are not allowed.
    pub early: Option<Arc<EarlyRequests>>,
    /// Bytes sent and received when the handshake was complete.
    pub handshake_bytes: Arc<OnceLock<(u64, u64)>>,
    pub compression: Arc<Compression>,
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
        let connected = self.ready_at_ns.get().is_some();
        let connection = self.connection.as_ref().filter(|_| !connected);
        let failure = self.failure.take().or_else(|| {
            let reason = connection?.close_reason();
            Some(reason.map_or(HANDSHAKE_INCOMPLETE.to_owned(), |reason| reason.to_string()))
        });
        let heads = self.compression.bytes();
        let packet_bytes = stats.as_ref().map(|stats| stats.current_mtu);
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let in_force = InForce {
            congestion_control: self.watches.meter.congestion_control().map(str::to_owned),
            pacing_rate_bytes_s_max: self.watches.meter.pacing_rate_bytes_s_max(),
            initial_window_packets: packet_bytes
                .and_then(|packet_bytes| self.watches.meter.initial_window_packets(packet_bytes)),
            pacing_rate_bytes_s: self.watches.meter.pacing_rate_bytes_s(),
            retransmitted_packets: stats.as_ref().map(|stats| stats.lost_packets),
            sent_packets: stats.as_ref().map(|stats| stats.sent_packets),
            sent_bytes: stats.as_ref().map(|stats| stats.udp_tx.bytes),
            received_bytes: stats.as_ref().map(|stats| stats.udp_rx.bytes),
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
            request_head_bytes: connected.then_some(heads.requests),
            response_head_bytes: connected.then_some(heads.responses),
            encoder_received_bytes: connected.then_some(heads.encoder_received),
            encoder_sent_bytes: connected.then_some(heads.encoder_sent),
            decoder_received_bytes: connected.then_some(heads.decoder_received),
            decoder_sent_bytes: connected.then_some(heads.decoder_sent),
            request_table_bytes: connected.then_some(heads.request_table),
            response_table_bytes: connected.then_some(heads.response_table),
            blocked_streams_max: heads.blocked_streams_max,
            priority_updates: Some(self.gate.updates()).filter(|updates| *updates > 0),
            pacing_rate_bytes_s_start: None,
            syn_ack_retransmitted_packets: None,
            slow_start_after_idle: connected.then_some(self.stack.slow_start_after_idle),
            send_buffer_bytes: None,
            receive_window_bytes: self.watches.offered.get().copied(),
            receive_window_limited_ms: Some(ms(self.gate.refused_time())),
            send_buffer_limited_ms: Some(ms(self.gate.dry_time())),
            unsent_bytes_max: Some(self.gate.unsent_max() as u64),
            rtt_ms_min: self.watches.meter.rtt_ms_min(),
            rtt_ms_smoothed: stats.as_ref().map(|stats| stats.rtt.as_secs_f64() * 1e3),
            tls_version: connected.then_some("1.3"),
            // The only version that was offered.
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
            failure,
            server_error: None,
        };
        self.service
            .emit(Event::Connection(Box::new(ConnectionEvent {
                at_ns: self.service.now_ns(),
                connection: self.number,
                protocol: HttpVersion::H3.protocol(),
                scheme: Scheme::Https,
                accepted_at_ns: self.accepted_at_ns,
                ready_at_ns: self.ready_at_ns.get().copied(),
                address: self.address,
                client: Some(self.client),
                in_force,
            })));
    }
}
