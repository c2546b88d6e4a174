use super::endpoint::{Configurator, UNIDIRECTIONAL_STREAMS_MAX, send_window};
use super::http3::{Compression, EarlyRequests, Http3};
use super::meter::Meter;
use super::report::Report;
use crate::scheduler::{Gate, Room, one_chunk, two_chunks};
use crate::service::Entrance;
use crate::tcp::STALL_INTERVAL;
use crate::{HttpVersion, Service, StackConfig};
use eyelevel_archive::Scheme;
use noq::crypto::rustls::HandshakeData;
use noq::{Endpoint, Incoming, ZeroRttAccepted};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The longest wait of a server that ends for its connections, which only send GOAWAY.
const GOAWAY_TIMEOUT: Duration = Duration::from_millis(200);

/// Accepts connections on one endpoint until `stopping`, or until it is dropped, which drops every
/// connection.
pub(super) async fn accept(
    endpoint: Endpoint,
    configurator: Configurator,
    stack: Arc<StackConfig>,
    service: Arc<Service>,
    mut stopping: watch::Receiver<bool>,
) {
    let stopped = stopping.clone();
    let port = endpoint.local_addr().map_or(0, |address| address.port());
    let mut connections = JoinSet::new();
    loop {
        let incoming = tokio::select! {
            biased;
            _ = stopping.wait_for(|stopping| *stopping) => break,
            incoming = endpoint.accept() => incoming,
        };
        let Some(incoming) = incoming else {
            break;
        };
        while connections.try_join_next().is_some() {}
        let (number, now_ns) = (service.next_connection(), service.now_ns());
        // If the scheduler does not bound unsent bytes, one chunk at a time: noq sends all that a
        // stream holds before it turns to the next, so that a second chunk would overtake another
        // response's first.
        let pending = match stack.unsent_bytes_max {
            Some(_) => two_chunks,
            None => one_chunk,
        };
        let gate = Gate::by_stream(stack.priorities, Room::for_stack(&stack, pending));
        let (local, qlog) = (incoming.local_ip(), service.logs().qlog(number, now_ns));
        let (config, watches) = configurator.connection(local, &gate, qlog);
        let address = local.map(|ip| SocketAddr::new(ip, port));
        let report = Report {
            number,
            accepted_at_ns: now_ns,
            ready_at_ns: Arc::default(),
            address,
            client: incoming.remote_address(),
            connection: None,
            watches,
            stack: stack.clone(),
            service: service.clone(),
            failure: None,
            early: None,
            gate,
            handshake_bytes: Arc::default(),
            compression: Arc::new(Compression::new(
                stack.header_table().into(),
                stack.blocked_streams().into(),
            )),
        };
        connections.spawn(serve(incoming, config, report, stopped.clone()));
    }
    let ended = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(GOAWAY_TIMEOUT, ended).await;
}

async fn serve(
    incoming: Incoming,
    config: Arc<noq::ServerConfig>,
    mut report: Report,
    mut stopping: watch::Receiver<bool>,
) {
    let connected = tokio::select! {
        biased;
        _ = stopping.wait_for(|stopping| *stopping) => return,
        connected = connect(incoming, config) => connected,
    };
    let (connection, complete) = match connected {
        Ok(connected) => connected,
        Err(error) => {
            report.failure = Some(error.to_string());
            return;
        }
    };
    report.connection = Some(connection.clone());
    let handshake = connection.handshake_data();
    let handshake = handshake.and_then(|data| data.downcast::<HandshakeData>().ok());
    if let Some(host) = handshake.and_then(|handshake| handshake.server_name) {
        report.service.on_server_name(report.number, &host);
    }
    let early = Arc::new(EarlyRequests::default());
    if report.stack.early_data {
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
            // It also ends with a connection that fails.
            if connection.close_reason().is_none() {
                early.complete.store(true, Ordering::Relaxed);
                meter.on_ready();
                let _ = ready.set(service.now_ns());
                // Early requests and their responses were in the same packets.
                if !early.seen.load(Ordering::Relaxed) {
                    let stats = connection.stats();
                    let _ = bytes.set((stats.udp_tx.bytes, stats.udp_rx.bytes));
                }
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
    let http3 = Http3::new(
        connection.clone(),
        report.compression.clone(),
        gate.clone(),
        entrance,
        service,
    );
    let stack = report.stack.clone();
    // The flight of the handshake waits, for microseconds, until our settings are in it: behind it
    // they might arrive after the client's first requests, since other connections' flights go
    // between.
    let on_begun = || {
        report.watches.meter.release();
        // Changes nothing, but wakes the sending task.
        connection.set_max_concurrent_uni_streams(UNIDIRECTIONAL_STREAMS_MAX.into());
    };
    let stopping = async {
        let _ = stopping.wait_for(|stopping| *stopping).await;
    };
    tokio::select! {
        // A request in the datagram that completes the handshake is not early.
        biased;
        () = handshake => {}
        () = http3.run(&stack, &early, stopping, on_begun) => {}
        () = keep_little_unsent(&connection, &meter, &gate, packet_bytes) => {}
        () = watch(&gate) => {}
    }
}

/// Returns a connection and the result of its early data.
///
/// It is returned once the client's hello is complete, since HTTP/3 over a connection with an
/// incomplete hello hangs: so our SETTINGS leave with the server's first flight, and the client's
/// first requests may use the table for requests, as they may over HTTP/2 from the start.
async fn connect(
    incoming: Incoming,
    config: Arc<noq::ServerConfig>,
) -> Result<(noq::Connection, Option<ZeroRttAccepted>), noq::ConnectionError> {
    let mut connecting = incoming.accept_with(config)?;
    connecting.handshake_data().await?;
    match connecting.into_0rtt() {
        Ok((connection, complete)) => Ok((connection, Some(complete))),
        Err(connecting) => Ok((connecting.await?, None)),
    }
}

/// Limits unsent bytes to [`NOT_SENT_BYTES_MAX`], whatever the window is: the QUIC counterpart of
/// `TCP_NOTSENT_LOWAT` for stacks whose scheduler does not bound them. Never ends.
async fn keep_little_unsent(
    connection: &noq::Connection,
    meter: &Meter,
    gate: &Gate,
    packet_bytes: u16,
) {
    if gate.room().unsent_bytes_max.is_some() {
        return std::future::pending().await;
    }
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
        gate.check_stall();
    }
}
