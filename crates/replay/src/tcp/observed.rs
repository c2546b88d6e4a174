use super::first_flight::FirstFlight;
use super::options::{pacing_rate_max, tcp_info};
use super::sampler::Sampler;
use crate::tls::HelloWatch;
use crate::{ConnectionEvent, Event, InForce, Service};
use eyelevel_archive::Scheme;
use rustls::{HandshakeKind, ServerConnection};
use socket2::SockRef;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Stands until the handshake is complete: a browser's preconnect may never begin one.
const HANDSHAKE_INCOMPLETE: &str = "the TLS handshake was not completed";

/// A connection's socket that reports what was in force when it is dropped: the kernel's counts are
/// complete then, and no way of ending is missed.
pub(super) struct Observed {
    stream: TcpStream,
    /// Of a secure connection.
    hello: Option<HelloWatch>,
    sampler: Option<Sampler>,
    service: Arc<Service>,
    record: Arc<Mutex<ConnectionRecord>>,
}

/// What becomes known of a connection in the course of its life.
#[derive(Debug)]
pub(super) struct ConnectionRecord {
    connection: u64,
    accepted_at_ns: u64,
    ready_at_ns: Option<u64>,
    protocol: &'static str,
    in_force: InForce,
    first_flight: FirstFlight,
}

impl Observed {
    /// Reads the socket at accept, before anything was sent.
    pub fn new(
        stream: TcpStream,
        service: Arc<Service>,
        protocol: &'static str,
        scheme: Scheme,
    ) -> (Self, Arc<Mutex<ConnectionRecord>>) {
        let info = tcp_info(&stream).ok();
        let in_force = InForce {
            failure: (scheme == Scheme::Https).then(|| HANDSHAKE_INCOMPLETE.to_owned()),
            initial_window_packets: info.map(|info| info.window_packets),
            ..InForce::default()
        };
        let (connection, accepted_at_ns) = (service.next_connection(), service.now_ns());
        let log = service.logs().tcp_info.clone();
        let mut sampler = log.map(|log| Sampler::new(log, connection));
        if let Some((sampler, info)) = sampler.as_mut().zip(info.as_ref()) {
            sampler.write(accepted_at_ns, "accepted", info);
        }
        let record = Arc::new(Mutex::new(ConnectionRecord {
            connection,
            accepted_at_ns,
            ready_at_ns: None,
            protocol,
            in_force,
            first_flight: FirstFlight::default(),
        }));
        let observed = Self {
            stream,
            hello: (scheme == Scheme::Https).then(HelloWatch::default),
            sampler,
            service,
            record: record.clone(),
        };
        (observed, record)
    }
}

impl ConnectionRecord {
    /// The connection's number.
    pub fn connection(&self) -> u64 {
        self.connection
    }

    /// What the handshake agreed on and took; `early_data_accepted`: none where not allowed.
    pub fn on_handshake(
        &mut self,
        tls: &ServerConnection,
        stream: &Observed,
        early_data_accepted: Option<bool>,
    ) {
        self.in_force.early_data_accepted = early_data_accepted;
        let kind = tls.handshake_kind();
        self.in_force.resumed = kind.map(|kind| kind == HandshakeKind::Resumed);
        let now_ns = stream.service.now_ns();
        self.ready_at_ns = Some(now_ns);
        if let Ok(info) = tcp_info(&stream.stream) {
            if let Some(sampler) = &stream.sampler {
                sampler.write(now_ns, "ready", &info);
            }
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

    /// The client changed a response's priority.
    pub fn on_priority_update(&mut self) {
        *self.in_force.priority_updates.get_or_insert(0) += 1;
    }

    /// Why it ended before its time.
    pub fn on_failure(&mut self, reason: impl ToString) {
        self.in_force.failure = Some(reason.to_string());
    }
}

/// The last number of one of TCP's sysctls, of the network namespace that the thread stands in.
fn sysctl(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).ok()?;
    text.split_whitespace().next_back()?.parse().ok()
}

fn version_name(version: rustls::ProtocolVersion) -> Option<&'static str> {
    match version {
        rustls::ProtocolVersion::TLSv1_2 => Some("1.2"),
        rustls::ProtocolVersion::TLSv1_3 => Some("1.3"),
        _ => None,
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        let record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let mut in_force = record.in_force.clone();
        let hello = self.hello.as_ref();
        in_force.early_data_offered = hello.and_then(HelloWatch::early_data_offered);
        if let Ok(info) = tcp_info(&self.stream) {
            in_force.retransmitted_packets = Some(info.retransmitted_packets.into());
            in_force.rtt_ms_min = info.rtt_us_min.map(|rtt_us| f64::from(rtt_us) / 1000.0);
            in_force.rtt_ms_smoothed = info.rtt_us_smoothed.map(|us| f64::from(us) / 1000.0);
            in_force.sent_packets = Some(info.sent_packets.into());
            in_force.sent_bytes = Some(info.sent_bytes);
            in_force.pacing_rate_bytes_s = info.pacing_rate_bytes_s;
            if let Some(sampler) = &self.sampler {
                sampler.write(self.service.now_ns(), "closed", &info);
            }
        }
        let flight = record.first_flight.seen();
        in_force.first_flight_packets = flight.map(|(packets, _)| packets);
        in_force.first_flight_ms = flight.map(|(_, ms)| ms);
        in_force.pacing_rate_bytes_s_max = pacing_rate_max(&self.stream).ok().flatten();
        in_force.slow_start_after_idle = sysctl("tcp_slow_start_after_idle").map(|set| set != 0);
        in_force.buffer_bytes_max = sysctl("tcp_wmem");
        let name = SockRef::from(&self.stream).tcp_congestion().ok();
        in_force.congestion_control = name.map(|name| {
            let end = name
                .iter()
                .position(|byte| *byte == 0)
                .unwrap_or(name.len());
            String::from_utf8_lossy(&name[..end]).into_owned()
        });
        self.service
            .emit(Event::Connection(Box::new(ConnectionEvent {
                at_ns: self.service.now_ns(),
                connection: record.connection,
                protocol: record.protocol,
                accepted_at_ns: record.accepted_at_ns,
                ready_at_ns: record.ready_at_ns,
                address: self.stream.local_addr().ok(),
                in_force,
            })));
    }
}

impl Observed {
    fn sample(&self) {
        if let (Some(sampler), Ok(info)) = (&self.sampler, tcp_info(&self.stream)) {
            sampler.write(self.service.now_ns(), "sample", &info);
        }
    }

    /// After a write: how far the first flight has come.
    fn look(&self) {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        if record.first_flight.is_open()
            && let Ok(info) = tcp_info(&self.stream)
        {
            record.first_flight.on_look(&info, self.service.now_ns());
        }
    }
}

impl AsyncRead for Observed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // Whoever serves the connection waits for requests all the time, so this is called at
        // every tick.
        if let Some(sampler) = &mut self.sampler
            && sampler.poll_due(context).is_ready()
        {
            self.sample();
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if let Some(hello) = &mut self.hello
            && hello.early_data_offered().is_none()
        {
            hello.on_records(&buffer.filled()[before..]);
        }
        read
    }
}

impl AsyncWrite for Observed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, data);
        self.look();
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.look();
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
