use super::H3Connection;
use super::endpoint::{Configurator, send_window};
use super::meter::Meter;
use super::report::Report;
use super::requests::{EarlyRequests, requests};
use crate::scheduler::Gate;
use crate::service::Entrance;
use crate::tcp::STALL_INTERVAL;
use crate::{HttpVersion, Service, StackConfig};
use eyelevel_archive::Scheme;
use noq::{Endpoint, Incoming, ZeroRttAccepted};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::task::JoinSet;

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
