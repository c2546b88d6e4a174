use super::first_flight::{FirstFlight, Looks};
use super::frames::Passed;
use super::options::{pacing_rate_max, sysctl, tcp_info};
use super::sampler::Sampler;
use super::turns::Turns;
use super::unsent::Unsent;
use crate::scheduler::Gate;
use crate::tls::{HelloWatch, version_name};
use crate::{ConnectionEvent, Event, InForce, Service};
use eyelevel_archive::Scheme;
use rustls::{HandshakeKind, ServerConnection};
use socket2::SockRef;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
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
    /// Once the handshake is over.
    turns: Option<Turns>,
    /// While the first flight is under way.
    looks: Option<Looks>,
    unsent: Unsent,
}

/// What becomes known of a connection in the course of its life.
#[derive(Debug)]
pub(super) struct ConnectionRecord {
    connection: u64,
    client: Option<SocketAddr>,
    accepted_at_ns: u64,
    ready_at_ns: Option<u64>,
    protocol: &'static str,
    scheme: Scheme,
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
            syn_ack_retransmitted_packets: info.map(|info| info.retransmitted_packets.into()),
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
            client: stream.peer_addr().ok(),
            accepted_at_ns,
            ready_at_ns: None,
            protocol,
            scheme,
            in_force,
            first_flight: FirstFlight::default(),
        }));
        let observed = Self {
            stream,
            hello: (scheme == Scheme::Https).then(HelloWatch::default),
            sampler,
            service,
            record: record.clone(),
            turns: None,
            looks: None,
            unsent: Unsent::default(),
        };
        (observed, record)
    }

    /// From now on only full segments leave until a turn of the connection's task has written
    /// nothing; the task is to be driven by what this returns.
    pub fn hold_ends(&mut self) -> Turns {
        let turns = Turns::default();
        // Where the kernel refuses, segments are short as without it.
        if SockRef::from(&self.stream).set_tcp_cork(true).is_ok() {
            self.turns = Some(turns.clone());
        }
        turns
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

    /// What of HTTP/2 passed.
    pub fn on_passed(&mut self, passed: Passed) {
        let in_force = &mut self.in_force;
        match passed {
            Passed::Update => *in_force.priority_updates.get_or_insert(0) += 1,
            Passed::RequestHead(bytes) => *in_force.request_head_bytes.get_or_insert(0) += bytes,
            Passed::ResponseHead(bytes) => *in_force.response_head_bytes.get_or_insert(0) += bytes,
            Passed::RequestTable(bytes) => in_force.request_table_bytes = Some(bytes.into()),
            Passed::ResponseTable(bytes) => in_force.response_table_bytes = Some(bytes.into()),
        }
    }

    /// Why it ended before its time.
    pub fn on_failure(&mut self, reason: impl ToString) {
        self.in_force.failure = Some(reason.to_string());
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        let record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let mut in_force = record.in_force.clone();
        let hello = self.hello.as_ref();
        in_force.early_data_offered = hello.and_then(HelloWatch::early_data_offered);
        if let Ok(info) = tcp_info(&self.stream) {
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
            if let Some(sampler) = &self.sampler {
                sampler.write(self.service.now_ns(), "closed", &info);
            }
        }
        let flight = record.first_flight.seen();
        in_force.first_flight_packets = flight.map(|(packets, _)| packets);
        in_force.first_flight_ms = flight.map(|(_, ms)| ms);
        in_force.pacing_rate_bytes_s_max = pacing_rate_max(&self.stream).ok().flatten();
        in_force.slow_start_after_idle = sysctl("tcp_slow_start_after_idle").map(|set| set != 0);
        let buffer = SockRef::from(&self.stream).send_buffer_size().ok();
        in_force.send_buffer_bytes = buffer.map(|bytes| bytes as u64);
        in_force.unsent_bytes_max = self.gate().map(|gate| gate.unsent_most() as u64);
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
                scheme: record.scheme,
                accepted_at_ns: record.accepted_at_ns,
                ready_at_ns: record.ready_at_ns,
                address: self.stream.local_addr().ok(),
                client: record.client,
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

    fn on_written(
        &mut self,
        context: &mut Context<'_>,
        asked: usize,
        written: &Poll<io::Result<usize>>,
    ) {
        let taken = match written {
            Poll::Ready(Ok(bytes)) => *bytes,
            _ => 0,
        };
        self.unsent.on_written(asked, taken);
        if let (Some(turns), Poll::Ready(Ok(_))) = (&self.turns, written) {
            turns.on_written();
        }
        if let Some(gate) = self.gate() {
            self.unsent.tell(&self.stream, gate, context);
        }
        self.look(context);
    }

    fn gate(&self) -> Option<&Gate> {
        self.turns.as_ref().and_then(Turns::gate)
    }

    /// How far the first flight has come; while it is under way the task is woken for more looks.
    fn look(&mut self, context: &mut Context<'_>) {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let flight = &mut record.first_flight;
        if !flight.is_open() {
            return;
        }
        let Ok(info) = tcp_info(&self.stream) else {
            return;
        };
        flight.on_look(&info, self.service.now_ns());
        if !flight.is_under_way() {
            self.looks = None;
        } else if self.looks.is_none() {
            let rtt_us = info.rtt_us_min.or(info.rtt_us_smoothed).unwrap_or_default();
            let mut looks = Looks::new(Duration::from_micros(rtt_us.into()));
            let _ = looks.poll_due(context);
            self.looks = Some(looks);
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
        if let Some(looks) = &mut self.looks
            && looks.poll_due(context).is_ready()
        {
            self.look(context);
        }
        if let Some(gate) = self.gate()
            && gate.room().unsent_bytes_max.is_some()
        {
            self.unsent.tell(&self.stream, gate, context);
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
        self.on_written(context, data.len(), &written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        let asked = slices.iter().map(|slice| slice.len()).sum();
        self.on_written(context, asked, &written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(turns) = &self.turns
            && turns.poll_release().is_ready()
        {
            // Lets go what a corked socket holds (tcp(7)); it stays corked.
            self.stream.set_nodelay(true)?;
            self.look(context);
        }
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
