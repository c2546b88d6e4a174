use super::H3Connection;
use super::endpoint::{Configurator, QUIC_VERSION, Watches, send_window};
use super::meter::Meter;
use crate::scheduler::{Gate, ReplyBody};
use crate::service::{Entrance, REQUEST_BODY_BYTES_MAX, RequestHead};
use crate::tcp::STALL_INTERVAL;
use crate::tls::SUITE_TLS13;
use crate::{ConnectionEvent, Event, HttpVersion, InForce, Service, StackConfig};
use bytes::{Buf, Bytes, BytesMut};
use eyelevel_archive::Scheme;
use h3::server::{RequestResolver, RequestStream};
use http::{Method, Response};
use http_body_util::BodyExt;
use noq::crypto::rustls::HandshakeData;
use noq::{Endpoint, Incoming, PathId, ZeroRttAccepted};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};
use tokio::task::JoinSet;

const H3_HEADER_BYTES_MAX: u64 = 64 * 1024;
/// One chunk at a time: noq sends all that a stream holds before it turns to the next, so that a
/// second chunk would overtake another response's first.
const PENDING_BYTES_MAX: usize = 1;

/// Accepts on one endpoint until it is dropped, and with it every connection.
pub(super) async fn accept(
    endpoint: Endpoint,
    configurator: Configurator,
    stack: Arc<StackConfig>,
    service: Arc<Service>,
) {
    let port = endpoint.local_addr().map_or(0, |address| address.port());
    let mut connections = JoinSet::new();
    while let Some(incoming) = endpoint.accept().await {
        while connections.try_join_next().is_some() {}
        let (number, now_ns) = (service.next_connection(), service.now_ns());
        let (config, watches) = configurator.connection(service.logs().qlog(number, now_ns));
        let address = incoming.local_ip().map(|ip| SocketAddr::new(ip, port));
        let report = Report {
            number,
            accepted_at_ns: now_ns,
            ready_at_ns: Arc::default(),
            address,
            connection: None,
            watches,
            stack: stack.clone(),
            service: service.clone(),
            failure: None,
            early: None,
            gate: Gate::new(stack.priorities, PENDING_BYTES_MAX),
            handshake_bytes: Arc::default(),
        };
        connections.spawn(serve(incoming, config, report));
    }
}

/// A connection that reports what was in force when it is dropped.
struct Report {
    number: u64,
    accepted_at_ns: u64,
    ready_at_ns: Arc<OnceLock<u64>>,
    address: Option<SocketAddr>,
    connection: Option<noq::Connection>,
    watches: Watches,
    stack: Arc<StackConfig>,
    service: Arc<Service>,
    failure: Option<String>,
    gate: Gate,
    /// None where early data are not allowed.
    early: Option<Arc<EarlyRequests>>,
    /// Sent and received when the handshake was complete.
    handshake_bytes: Arc<OnceLock<(u64, u64)>>,
}

async fn serve(incoming: Incoming, config: Arc<noq::ServerConfig>, mut report: Report) {
    let early_data = report.stack.early_data;
    let (connection, complete) = match connect(incoming, config, early_data).await {
        Ok(connected) => connected,
        Err(error) => {
            report.failure = Some(error.to_string());
            return;
        }
    };
    report.connection = Some(connection.clone());
    let early = Arc::new(EarlyRequests::default());
    if early_data {
        report.early = Some(early.clone());
    }
    let handshake = {
        let (connection, meter) = (connection.clone(), report.watches.meter.clone());
        let (early, bytes) = (early.clone(), report.handshake_bytes.clone());
        let (service, ready) = (report.service.clone(), report.ready_at_ns.clone());
        async move {
            if let Some(complete) = complete {
                complete.await;
            }
            early.complete.store(true, Ordering::Relaxed);
            meter.on_ready();
            let _ = ready.set(service.now_ns());
            // Early requests and their answers have been in the same packets.
            if !early.seen.load(Ordering::Relaxed) {
                let stats = connection.stats();
                let _ = bytes.set((stats.udp_tx.bytes, stats.udp_rx.bytes));
            }
            std::future::pending::<()>().await;
        }
    };
    let entrance = Entrance {
        connection: report.number,
        protocol: HttpVersion::H3.protocol(),
        scheme: Scheme::Https,
    };
    let (service, meter) = (report.service.clone(), report.watches.meter.clone());
    let packet_bytes = report.stack.quic_packet_bytes;
    let gate = report.gate.clone();
    let requests = {
        let connection = H3Connection::gated(connection.clone(), gate.clone());
        requests(connection, entrance, service, &gate, &early)
    };
    tokio::select! {
        // A request that comes in the datagram that completes the handshake is not early.
        biased;
        () = handshake => {}
        () = requests => {}
        () = keep_little_unsent(&connection, &meter, &gate, packet_bytes) => {}
        () = watch(&gate) => {}
    }
}

/// A connection, and what ends with its handshake where it is given out earlier.
///
/// The client's hello is awaited in any case: HTTP/3 over a connection whose hello is incomplete
/// hangs.
async fn connect(
    incoming: Incoming,
    config: Arc<noq::ServerConfig>,
    early_data: bool,
) -> Result<(noq::Connection, Option<ZeroRttAccepted>), noq::ConnectionError> {
    let mut connecting = incoming.accept_with(config)?;
    if early_data {
        connecting.handshake_data().await?;
        return match connecting.into_0rtt() {
            Ok((connection, complete)) => Ok((connection, Some(complete))),
            Err(connecting) => Ok((connecting.await?, None)),
        };
    }
    Ok((connecting.await?, None))
}

/// Whether requests come before the handshake is complete.
#[derive(Debug, Default)]
struct EarlyRequests {
    complete: AtomicBool,
    seen: AtomicBool,
}

/// Lets no more than the named bytes wait unsent, whatever the window is: the QUIC counterpart of
/// `TCP_NOTSENT_LOWAT`. Never ends.
async fn keep_little_unsent(
    connection: &noq::Connection,
    meter: &Meter,
    gate: &Gate,
    packet_bytes: u16,
) {
    let mut window = 0;
    loop {
        let in_flight = poll_fn(|context| meter.poll_in_flight(context)).await;
        let next = send_window(in_flight, packet_bytes, gate.is_shared());
        if next != window {
            window = next;
            connection.set_send_window(window);
        }
    }
}

async fn watch(gate: &Gate) {
    loop {
        tokio::time::sleep(STALL_INTERVAL).await;
        gate.look_for_stall();
    }
}

async fn requests(
    connection: H3Connection,
    entrance: Entrance,
    service: Arc<Service>,
    gate: &Gate,
    early: &EarlyRequests,
) {
    let mut builder = h3::server::builder();
    // No reserved frames and streams, since HTTP/2 here sends none either.
    builder
        .max_field_section_size(H3_HEADER_BYTES_MAX)
        .send_grease(false);
    let Ok(mut connection) = builder.build::<_, Bytes>(connection).await else {
        return;
    };
    let mut running = JoinSet::new();
    // A client that goes away is no fault of the server; its requests say how far they came.
    while let Ok(Some(resolver)) = connection.accept().await {
        while running.try_join_next().is_some() {}
        if !early.complete.load(Ordering::Relaxed) {
            early.seen.store(true, Ordering::Relaxed);
        }
        running.spawn(respond(resolver, entrance, service.clone(), gate.clone()));
    }
}

async fn respond(
    resolver: RequestResolver<H3Connection, Bytes>,
    entrance: Entrance,
    service: Arc<Service>,
    gate: Gate,
) {
    let Ok((request, mut stream)) = resolver.resolve_request().await else {
        return;
    };
    let started_ns = service.now_ns();
    let body = if matches!(*request.method(), Method::GET | Method::HEAD) {
        Bytes::new()
    } else {
        read_body(&mut stream).await
    };
    let head = RequestHead {
        method: request.method(),
        uri: request.uri(),
        headers: request.headers(),
    };
    let reply = service.answer(entrance, &head, &body, started_ns);
    if !reply.think.is_zero() {
        tokio::time::sleep(reply.think).await;
    }
    let mut response = Response::new(());
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    let mut body = ReplyBody::gated(
        reply.body,
        &gate,
        Some(stream.id().into_inner()),
        service.priority(request.headers()),
    );
    if stream.send_response(response).await.is_err() {
        return;
    }
    while let Some(Ok(frame)) = body.frame().await {
        if let Ok(data) = frame.into_data()
            && stream.send_data(data).await.is_err()
        {
            return;
        }
    }
    let _ = stream.finish().await;
}

/// The whole body is read, so that the client may go on; its beginning is kept.
async fn read_body<S>(stream: &mut RequestStream<S, Bytes>) -> Bytes
where
    S: h3::quic::RecvStream,
{
    let mut kept = BytesMut::new();
    while let Ok(Some(mut data)) = stream.recv_data().await {
        while data.has_remaining() {
            let chunk = data.chunk();
            let room = REQUEST_BODY_BYTES_MAX - kept.len();
            kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
            let length = chunk.len();
            data.advance(length);
        }
    }
    kept.freeze()
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
