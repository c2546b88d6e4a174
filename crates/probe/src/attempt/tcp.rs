use super::note::{note_agreed, note_extra, note_timeline};
use super::shared::Shared;
use super::{Connection, no_ticket, server_name, timed_out, unspecified};
use crate::http::fetch;
use crate::kernel::{self, read_tcp_info};
use crate::timeline::{MachineDelay, is_split};
use crate::tls::{Observed, TICKET_WAIT, TlsStream, client_config};
use crate::{Failure, FailureClass, Plan, Protocol, Row};
use rustls::ClientConnection;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, timeout_at};

/// Connects, and uses TLS if the protocol has it.
///
/// # Errors
/// The class and a description.
pub async fn over_tcp(connection: Connection<'_>, row: &mut Row) -> Result<(), Failure> {
    let Connection { plan, deadline, .. } = connection;
    let local = |error: std::io::Error| Failure::from_socket(&error, FailureClass::Local);
    let socket = tcp_socket(plan).map_err(local)?;
    // Everything that takes time is prepared before the clock starts.
    let tls = match plan.protocol {
        Protocol::Tcp => None,
        _ => Some(tls_connection(&connection)?),
    };
    let began_ns = kernel::monotonic_ns();
    row.at_ns = began_ns;
    let connected = timeout_at(deadline, socket.connect(plan.address)).await;
    let tcp = connected
        .map_err(|_| timed_out(FailureClass::TcpTimeout, plan))?
        .map_err(|error| Failure::from_socket(&error, FailureClass::Local))?;
    let connected_ns = note_tcp(&tcp, began_ns, row);
    let Some(mut tls) = tls else {
        row.connection_us = row.tcp_handshake_us;
        row.round_trips = row.syn_retransmits.map(|_| 1);
        row.version = Some("TCP".into());
        return Ok(());
    };
    let _ = tcp.set_nodelay(true);
    let _ = kernel::enable_timestamps(tcp.as_fd());
    let wants_early = row.resumption_offered && plan.early_data && plan.request.is_some();
    // Early data need a ticket that allows them.
    let early = wants_early && tls.early_data().is_some();
    let stream = TlsStream::new(tcp, tls);
    let observed = stream.observed();
    let result = tls_exchange(&connection, stream, early, row).await;
    note_tls(&observed, began_ns, connected_ns, row);
    result
}

fn tcp_socket(plan: &Plan) -> std::io::Result<TcpSocket> {
    let socket = match plan.address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    if let Some(port) = plan.local_port {
        // A port that the last attempt left in TIME-WAIT is free for another server.
        socket.set_reuseaddr(true)?;
        socket.bind(unspecified(plan.address, port))?;
    }
    Ok(socket)
}

fn tls_connection(connection: &Connection<'_>) -> Result<ClientConnection, Failure> {
    let plan = connection.plan;
    let alpn: &[&[u8]] = if plan.offers_h2 {
        &[b"h2", b"http/1.1"]
    } else {
        &[b"http/1.1"]
    };
    let config = client_config(
        connection.trust,
        plan.protocol,
        alpn,
        connection.session.clone(),
        plan.early_data,
    )
    .map_err(|error| Failure::new(FailureClass::Local, error))?;
    ClientConnection::new(Arc::new(config), server_name(&plan.host)?)
        .map_err(|error| Failure::from_tls(&error))
}

/// Records TCP's handshake; returns when it was complete.
///
/// The kernel's own measurement of the first SYN's round trip excludes this process's wake-up; if a
/// SYN was lost it excludes the earlier tries, and the clock here is used.
fn note_tcp(tcp: &TcpStream, began_ns: u64, row: &mut Row) -> u64 {
    let now_ns = kernel::monotonic_ns();
    row.local_port = tcp.local_addr().ok().map(|address| address.port());
    let measured = read_tcp_info(tcp.as_fd());
    row.syn_retransmits = measured.map(|measured| measured.retransmitted);
    row.rtt_us = measured.map(|measured| measured.rtt_us.into());
    let kernel_ns = measured
        .filter(|measured| measured.retransmitted == 0 && measured.rtt_us > 0)
        .map(|measured| began_ns + u64::from(measured.rtt_us) * 1000)
        .filter(|kernel_ns| *kernel_ns <= now_ns);
    let connected_ns = kernel_ns.unwrap_or(now_ns);
    row.kernel_stamps = kernel_ns.is_some();
    row.stamp_delay_us = kernel_ns.map(|kernel_ns| (now_ns - kernel_ns) as f64 / 1000.0);
    row.tcp_handshake_us = Some((connected_ns - began_ns) / 1000);
    connected_ns
}

async fn tls_exchange(
    connection: &Connection<'_>,
    mut stream: TlsStream,
    early: bool,
    row: &mut Row,
) -> Result<(), Failure> {
    let Connection { plan, deadline, .. } = *connection;
    let observed = stream.observed();
    let mut is_h2 = plan.offers_h2;
    row.early_data_offered = early;
    if early {
        // The session's protocol is the one of its early data (RFC 8446, section 4.2.10).
        is_h2 = row.http_version == Some("h2");
    } else {
        let handshake = timeout_at(deadline, stream.handshake()).await;
        // A certificate is refused after everything else was agreed.
        note_agreed(&stream, row);
        handshake.map_err(|_| timed_out(FailureClass::TlsTimeout, plan))??;
        is_h2 &= stream.tls().alpn_protocol() == Some(b"h2");
    }
    let Some(request) = &plan.request else {
        return Ok(());
    };
    row.http_version = Some(if is_h2 { "h2" } else { "http/1.1" });
    let shared = Shared::new(stream);
    let fetched = timeout_at(deadline, fetch(shared.clone(), is_h2, request)).await;
    {
        let stream = shared.lock();
        if !stream.tls().is_handshaking() {
            note_agreed(&stream, row);
        }
        row.early_data_accepted = early && stream.tls().is_early_data_accepted();
    }
    let failure = |failure| observed_failure(&observed).unwrap_or(failure);
    let mut fetched = fetched
        .map_err(|_| timed_out(FailureClass::HttpTimeout, plan))?
        .map_err(failure)?;
    let head = fetched.head();
    row.http_status = Some(head.status);
    (row.alt_svc, row.server) = (head.alt_svc, head.server);
    let arrival_ns = {
        let observed = observed.lock().unwrap_or_else(PoisonError::into_inner);
        observed.last_arrival_ns
    };
    row.first_byte_us = arrival_ns.map(|at_ns| (at_ns - row.at_ns) / 1000);
    if plan.keeps_answer {
        let mut answer = fetched.answer();
        // The attempt has succeeded; a body that does not arrive in time is recorded as incomplete.
        let _ = timeout_at(deadline, fetched.read_body(&mut answer)).await;
        row.answer = Some(answer);
    }
    drop(fetched);
    if connection.is_first && plan.protocol != Protocol::Tls12 {
        let until = deadline.min(Instant::now() + TICKET_WAIT);
        let waited = timeout_at(until, shared.wait_for_ticket()).await;
        row.no_session = waited.unwrap_or_else(|_| Err(no_ticket())).err();
    }
    Ok(())
}

fn observed_failure(observed: &Mutex<Observed>) -> Option<Failure> {
    let observed = observed.lock().unwrap_or_else(PoisonError::into_inner);
    observed.tls_error.clone()
}

/// Returns this machine's delay, updated with one more attempt of this process.
fn machine_delay(late_us: u64) -> MachineDelay {
    static SEEN: Mutex<MachineDelay> = Mutex::new(MachineDelay::NONE);
    let mut delay = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    *delay = delay.with(late_us);
    *delay
}

fn note_tls(observed: &Mutex<Observed>, began_ns: u64, connected_ns: u64, row: &mut Row) {
    let observed = observed.lock().unwrap_or_else(PoisonError::into_inner);
    let since = |at_ns: u64| at_ns.saturating_sub(began_ns) / 1000;
    row.crypto_us = observed.crypto_ns / 1000;
    row.first_request_byte_us = observed.first_request_byte_ns.map(since);
    note_timeline(&observed.timeline, row);
    let Some(complete_ns) = observed.timeline.complete_ns() else {
        return;
    };
    // From the SYN-ACK until this process sends the ClientHello, TLS has not begun.
    let hello_ns = observed.timeline.first_sent_ns().unwrap_or(connected_ns);
    let own_ns = observed.timeline.own_delay_ns();
    let tls_us = complete_ns.saturating_sub(hello_ns + own_ns) / 1000;
    row.tls_handshake_us = Some(tls_us);
    row.connection_us = row.tcp_handshake_us.map(|tcp_us| tcp_us + tls_us);
    if let Some(completing) = observed.completing {
        row.kernel_stamps &= completing.stamped;
        let late_ns =
            hello_ns.saturating_sub(connected_ns) + own_ns + completing.read_ns - completing.at_ns;
        row.stamp_delay_us = Some(late_ns as f64 / 1000.0);
    }
    let waits = u64::from(observed.timeline.round_trips().unwrap_or(1));
    // Early data can be answered before the handshake is complete; splitting is not judged then.
    let handshake_us = tls_us.saturating_sub(row.crypto_us) / waits;
    // A server may be slow to create its ServerHello: one answer that arrived as soon as TCP's
    // disproves a proxy, be it a ticket, and without a response nothing is claimed.
    let machine = machine_delay(row.stamp_delay_us.unwrap_or(0.0) as u64);
    let wait_us = observed.first_request_byte_ns.zip(row.tcp_handshake_us);
    let wait_us = wait_us.and_then(|(asked_ns, tcp_us)| {
        let came_ns = observed
            .timeline
            .first_arrival_from(asked_ns + tcp_us * 1000)?;
        Some(handshake_us.min((came_ns - asked_ns) / 1000))
    });
    row.split_connection = row.first_byte_us.is_some()
        && row.syn_retransmits == Some(0)
        && row
            .tcp_handshake_us
            .zip(wait_us)
            .is_some_and(|(tcp_us, wait_us)| is_split(tcp_us, wait_us, machine));
    let expected = if row.version.as_deref() == Some("TLSv1_2") && !row.resumed {
        2
    } else {
        1
    };
    note_extra(row, expected);
    // TCP's own round trip precedes those of TLS.
    row.round_trips = row.round_trips.map(|count| count + 1);
}
