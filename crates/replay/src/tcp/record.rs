//! Builds the report of a connection that has ended.

use super::first_flight::FirstFlight;
use super::frames::Http2Event;
use super::options::{TcpInfo, pacing_rate_max, sysctl};
use crate::tls::version_name;
use crate::{ConnectionEvent, InForce};
use eyelevel_archive::Scheme;
use rustls::{HandshakeKind, ServerConnection};
use socket2::SockRef;
use std::net::SocketAddr;
use tokio::net::TcpStream;

/// The failure until the handshake is complete: a browser's preconnect may never begin one.
const HANDSHAKE_INCOMPLETE: &str = "the TLS handshake was not completed";

/// The facts of a connection, gathered over its life.
#[derive(Debug)]
pub(super) struct ConnectionRecord {
    connection: u64,
    client: Option<SocketAddr>,
    accepted_at_ns: u64,
    ready_at_ns: Option<u64>,
    protocol: &'static str,
    scheme: Scheme,
    in_force: InForce,
    pub first_flight: FirstFlight,
}

impl ConnectionRecord {
    /// Creates the record of a connection at accept; `info` was read before anything was sent.
    pub fn accepted(
        (connection, accepted_at_ns): (u64, u64),
        client: Option<SocketAddr>,
        info: Option<&TcpInfo>,
        (protocol, scheme): (&'static str, Scheme),
    ) -> Self {
        let in_force = InForce {
            failure: (scheme == Scheme::Https).then(|| HANDSHAKE_INCOMPLETE.to_owned()),
            initial_window_packets: info.map(|info| info.window_packets),
            syn_ack_retransmitted_packets: info.map(|info| info.retransmitted_packets.into()),
            ..InForce::default()
        };
        Self {
            connection,
            client,
            accepted_at_ns,
            ready_at_ns: None,
            protocol,
            scheme,
            in_force,
            first_flight: FirstFlight::default(),
        }
    }

    /// Returns the connection's number.
    pub fn connection(&self) -> u64 {
        self.connection
    }

    /// Records the result of the handshake and its bytes; `early_data_accepted` is `None` if not
    /// allowed.
    pub fn on_handshake(
        &mut self,
        tls: &ServerConnection,
        (ready_at_ns, info): (u64, Option<TcpInfo>),
        early_data_accepted: Option<bool>,
    ) {
        self.in_force.early_data_accepted = early_data_accepted;
        let kind = tls.handshake_kind();
        self.in_force.resumed = kind.map(|kind| kind == HandshakeKind::Resumed);
        self.ready_at_ns = Some(ready_at_ns);
        if let Some(info) = info {
            self.in_force.handshake_sent_bytes = Some(info.sent_bytes);
            self.in_force.handshake_received_bytes = Some(info.received_bytes);
            self.in_force.pacing_rate_bytes_s_start = info.pacing_rate_bytes_s;
            self.first_flight.on_ready(&info);
        }
        self.in_force.failure = None;
        self.in_force.tls_version = tls.protocol_version().and_then(version_name);
        self.in_force.cipher = tls
            .negotiated_cipher_suite()
            .and_then(|suite| suite.suite().as_str())
            .map(str::to_owned);
        self.in_force.key_exchange = tls
            .negotiated_key_exchange_group()
            .and_then(|group| group.name().as_str())
            .map(str::to_owned);
    }

    /// Records an event of HTTP/2.
    pub fn on_http2_event(&mut self, event: Http2Event) {
        let in_force = &mut self.in_force;
        match event {
            Http2Event::Update => *in_force.priority_updates.get_or_insert(0) += 1,
            Http2Event::RequestHead(bytes) => {
                *in_force.request_head_bytes.get_or_insert(0) += bytes
            }
            Http2Event::ResponseHead(bytes) => {
                *in_force.response_head_bytes.get_or_insert(0) += bytes
            }
            Http2Event::RequestTable(bytes) => in_force.request_table_bytes = Some(bytes.into()),
            Http2Event::ResponseTable(bytes) => in_force.response_table_bytes = Some(bytes.into()),
        }
    }

    /// Records why the connection failed.
    pub fn on_failure(&mut self, reason: impl ToString) {
        self.in_force.failure = Some(reason.to_string());
    }

    /// Records why the server ended the connection itself.
    pub fn on_server_error(&mut self, reason: impl ToString) {
        self.in_force.server_error = Some(reason.to_string());
    }

    /// Returns the report, with the kernel's last counts and the socket's settings in force.
    pub fn report(
        &self,
        stream: &TcpStream,
        info: Option<&TcpInfo>,
        at_ns: u64,
    ) -> ConnectionEvent {
        let socket = SockRef::from(stream);
        let mut in_force = self.in_force.clone();
        if let Some(info) = info {
            let ms = |us: u64| us as f64 / 1e3;
            in_force.receive_window_limited_ms = Some(ms(info.receive_window_limited_us));
            in_force.send_buffer_limited_ms = Some(ms(info.send_buffer_limited_us));
            in_force.retransmitted_packets = Some(info.retransmitted_packets.into());
            in_force.rtt_ms_min = info.rtt_us_min.map(|rtt_us| f64::from(rtt_us) / 1000.0);
            in_force.rtt_ms_smoothed = info.rtt_us_smoothed.map(|us| f64::from(us) / 1000.0);
            in_force.sent_packets = Some(info.sent_packets.into());
            in_force.sent_bytes = Some(info.sent_bytes);
            in_force.received_bytes = Some(info.received_bytes);
            in_force.pacing_rate_bytes_s = info.pacing_rate_bytes_s;
        }
        let flight = self.first_flight.measurement();
        in_force.first_flight_packets = flight.map(|(packets, _)| packets);
        in_force.first_flight_ms = flight.map(|(_, ms)| ms);
        in_force.pacing_rate_bytes_s_max = pacing_rate_max(stream).ok().flatten();
        in_force.slow_start_after_idle = sysctl("tcp_slow_start_after_idle").map(|set| set != 0);
        in_force.send_buffer_bytes = socket.send_buffer_size().ok().map(|bytes| bytes as u64);
        in_force.congestion_control = socket.tcp_congestion().ok().map(|name| {
            let end = name.iter().position(|byte| *byte == 0);
            String::from_utf8_lossy(&name[..end.unwrap_or(name.len())]).into_owned()
        });
        ConnectionEvent {
            at_ns,
            connection: self.connection,
            protocol: self.protocol,
            scheme: self.scheme,
            accepted_at_ns: self.accepted_at_ns,
            ready_at_ns: self.ready_at_ns,
            address: stream.local_addr().ok(),
            client: self.client,
            in_force,
        }
    }
}
