use super::H3Connection;
use super::endpoint::{Configurator, QUIC_VERSION, send_window};
use super::meter::Meter;
use crate::scheduler::{Gate, ReplyBody};
use crate::service::{Entrance, REQUEST_BODY_BYTES_MAX, RequestHead};
use crate::tcp::{STALL_INTERVAL, priority};
use crate::{ConnectionEvent, Event, HttpVersion, InForce, Service, StackConfig};
use bytes::{Buf, Bytes, BytesMut};
use eyelevel_archive::Scheme;
use h3::server::{RequestResolver, RequestStream};
use http::{Method, Response};
use http_body_util::BodyExt;
use noq::crypto::rustls::HandshakeData;
use noq::{Endpoint, Incoming, PathId};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::task::JoinSet;

const H3_HEADER_BYTES_MAX: u64 = 64 * 1024;

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
        let (config, meter) = configurator.connection();
        let address = incoming.local_ip().map(|ip| SocketAddr::new(ip, port));
        let report = Report {
            number: service.next_connection(),
            address,
            connection: None,
            meter,
            stack: stack.clone(),
            service: service.clone(),
            failure: None,
        };
        connections.spawn(serve(incoming, config, report));
    }
}

/// A connection that reports what was in force when it is dropped.
struct Report {
    number: u64,
    address: Option<SocketAddr>,
    connection: Option<noq::Connection>,
    meter: Arc<Meter>,
    stack: Arc<StackConfig>,
    service: Arc<Service>,
    failure: Option<String>,
}

async fn serve(incoming: Incoming, config: Arc<noq::ServerConfig>, mut report: Report) {
    // The whole handshake is awaited: HTTP/3 over a connection whose hello is incomplete hangs.
    let connection = match incoming.accept_with(config) {
        Ok(connecting) => connecting.await,
        Err(error) => Err(error),
    };
    let connection = match connection {
        Ok(connection) => connection,
        Err(error) => {
            report.failure = Some(error.to_string());
            return;
        }
    };
    report.connection = Some(connection.clone());
    let entrance = Entrance {
        connection: report.number,
        protocol: HttpVersion::H3.protocol(),
        scheme: Scheme::Https,
    };
    let (service, meter) = (report.service.clone(), report.meter.clone());
    let packet_bytes = report.stack.quic_packet_bytes;
    let gate = Gate::default();
    tokio::select! {
        () = requests(H3Connection::new(connection.clone()), entrance, service, &gate) => {}
        () = keep_little_unsent(&connection, &meter, packet_bytes) => {}
        () = watch(&gate) => {}
    }
}

/// Lets no more than the named bytes wait unsent, whatever the window is: the QUIC counterpart of
/// `TCP_NOTSENT_LOWAT`. Never ends.
async fn keep_little_unsent(connection: &noq::Connection, meter: &Meter, packet_bytes: u16) {
    let mut window = 0;
    loop {
        let in_flight = poll_fn(|context| meter.poll_in_flight(context)).await;
        let next = send_window(in_flight, packet_bytes);
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
    let mut response = Response::new(());
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    let mut body = ReplyBody::gated(reply.body, &gate, priority(request.headers()));
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
            congestion_control: self.meter.congestion_control().map(str::to_owned),
            pacing_rate_bytes_s_max: self.meter.pacing_rate_bytes_s_max(),
            initial_window_packets: packet_bytes
                .and_then(|packet_bytes| self.meter.initial_window_packets(packet_bytes)),
            retransmitted_packets: stats.as_ref().map(|stats| stats.lost_packets),
            rtt_ms_min: self.meter.rtt_ms_min(),
            tls_version: connected.then_some("1.3"),
            cipher: None,
            key_exchange: handshake
                .and_then(|handshake| handshake.negotiated_key_exchange_group)
                .and_then(|group| group.as_str())
                .map(str::to_owned),
            quic_version: connected.then_some(QUIC_VERSION),
            packet_bytes,
            failure: self.failure.take(),
        };
        self.service.emit(Event::Connection(ConnectionEvent {
            at_ns: self.service.now_ns(),
            connection: self.number,
            protocol: HttpVersion::H3.protocol(),
            address: self.address,
            in_force,
        }));
    }
}
