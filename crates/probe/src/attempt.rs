//! One attempt: a protocol, an address, a row.

use crate::http::{Asked, fetch_head};
use crate::kernel::{self, tcp_measured};
use crate::protocol::QUIC_V2;
use crate::quic::{QuicAttempt, QuicOutcome, connect};
use crate::row::key_exchange_kind;
use crate::timeline::is_split;
use crate::tls::{Observed, TlsStream, Trust, client_config};
use crate::{Failure, FailureClass, Protocol, Row, Timeline};
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, HandshakeKind};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream, UdpSocket};
use tokio::time::timeout_at;

/// Tickets of one host that are kept between the first connection and the resumed one.
const TICKETS_MAX: usize = 4;

/// What an attempt is to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The protocol.
    pub protocol: Protocol,
    /// The server.
    pub address: SocketAddr,
    /// The host, for SNI, certificate and request.
    pub host: String,
    /// The request; none: the handshake alone.
    pub asked: Option<Asked>,
    /// The port to send from.
    pub local_port: Option<u16>,
    /// For the whole attempt.
    pub timeout: Duration,
    /// Make one connection first, and resume its session.
    pub resume: bool,
    /// Send the request as early data.
    pub early_data: bool,
    /// Offer HTTP/2 before HTTP/1.1.
    pub offers_h2: bool,
}

/// Makes the attempt and fills the row in; failures are in the row.
pub async fn attempt(plan: &Plan, trust: &Trust, row: &mut Row) {
    let session = plan
        .resume
        .then(|| Resumption::in_memory_sessions(TICKETS_MAX));
    if plan.resume && plan.protocol != Protocol::Tcp {
        let mut first = Row::new(&row.host, row.port, &row.path, row.protocol);
        let plan = Plan {
            early_data: false,
            ..plan.clone()
        };
        once(&plan, trust, session.clone(), true, &mut first).await;
        row.http_version = first.http_version;
        if let (Some(class), Some(detail)) = (first.failure, first.failure_detail) {
            let detail = format!("the connection before: {detail}");
            return row.fail(Failure::new(class, detail));
        }
    }
    once(plan, trust, session, false, row).await;
}

async fn once(
    plan: &Plan,
    trust: &Trust,
    session: Option<Resumption>,
    is_first: bool,
    row: &mut Row,
) {
    row.at_unix_us = kernel::unix_ns() / 1000;
    row.at_ns = kernel::monotonic_ns();
    row.address = Some(plan.address.ip());
    row.resumption_offered = session.is_some() && !is_first;
    let result = if plan.protocol.quic_version().is_some() {
        over_quic(plan, trust, session, is_first, row).await
    } else {
        over_tcp(plan, trust, session, is_first, row).await
    };
    if let Err(failure) = result {
        row.fail(failure);
    }
}

fn deadline(plan: &Plan) -> tokio::time::Instant {
    tokio::time::Instant::now() + plan.timeout
}

fn timed_out(class: FailureClass, plan: &Plan) -> Failure {
    Failure::new(class, format!("nothing in {} ms", plan.timeout.as_millis()))
}

async fn over_tcp(
    plan: &Plan,
    trust: &Trust,
    session: Option<Resumption>,
    is_first: bool,
    row: &mut Row,
) -> Result<(), Failure> {
    let deadline = deadline(plan);
    let local = |error: std::io::Error| Failure::of_socket(&error, FailureClass::Local);
    let socket = tcp_socket(plan).map_err(local)?;
    // Everything that takes time is made before the clock starts.
    let tls = match plan.protocol {
        Protocol::Tcp => None,
        _ => Some(tls_connection(plan, trust, session)?),
    };
    let began_ns = kernel::monotonic_ns();
    row.at_ns = began_ns;
    let connected = timeout_at(deadline, socket.connect(plan.address)).await;
    let tcp = connected
        .map_err(|_| timed_out(FailureClass::TcpTimeout, plan))?
        .map_err(|error| Failure::of_socket(&error, FailureClass::Local))?;
    let connected_ns = note_tcp(&tcp, began_ns, row);
    let Some(mut tls) = tls else {
        row.connection_us = row.tcp_handshake_us;
        row.round_trips = row.syn_retransmits.map(|_| 1);
        row.version = Some("TCP".into());
        return Ok(());
    };
    let _ = tcp.set_nodelay(true);
    let _ = kernel::ask_for_stamps(tcp.as_fd());
    let wants_early = row.resumption_offered && plan.early_data && plan.asked.is_some();
    // There is none where the ticket does not allow it, or where there is no ticket.
    let early = wants_early && tls.early_data().is_some();
    let stream = TlsStream::new(tcp, tls);
    let observed = stream.observed();
    let result = tls_exchange(plan, stream, early, is_first, deadline, row).await;
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

fn unspecified(like: SocketAddr, port: u16) -> SocketAddr {
    match like {
        SocketAddr::V4(_) => ([0; 4], port).into(),
        SocketAddr::V6(_) => ([0_u16; 8], port).into(),
    }
}

fn server_name(host: &str) -> Result<ServerName<'static>, Failure> {
    ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
        .map_err(|error| Failure::new(FailureClass::Local, error))
}

fn tls_connection(
    plan: &Plan,
    trust: &Trust,
    session: Option<Resumption>,
) -> Result<ClientConnection, Failure> {
    let alpn: &[&[u8]] = if plan.offers_h2 {
        &[b"h2", b"http/1.1"]
    } else {
        &[b"http/1.1"]
    };
    let config = client_config(trust, plan.protocol, alpn, session, plan.early_data)
        .map_err(|error| Failure::new(FailureClass::Local, error))?;
    ClientConnection::new(Arc::new(config), server_name(&plan.host)?)
        .map_err(|error| Failure::of_tls(&error))
}

/// Notes TCP's handshake; returns when it was complete.
///
/// The kernel's own measurement of the first SYN's round trip is free of this process's wake-up;
/// where a SYN was lost it does not tell the whole time, and the clock here does.
fn note_tcp(tcp: &TcpStream, began_ns: u64, row: &mut Row) -> u64 {
    let now_ns = kernel::monotonic_ns();
    row.local_port = tcp.local_addr().ok().map(|address| address.port());
    let measured = tcp_measured(tcp.as_fd());
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
    plan: &Plan,
    mut stream: TlsStream,
    early: bool,
    is_first: bool,
    deadline: tokio::time::Instant,
    row: &mut Row,
) -> Result<(), Failure> {
    let observed = stream.observed();
    let mut is_h2 = plan.offers_h2;
    row.early_data_offered = early;
    if early {
        // The session's protocol is the one that its early data speaks (RFC 8446, section 4.2.10).
        is_h2 = row.http_version == Some("h2");
    } else {
        let handshake = timeout_at(deadline, stream.handshake()).await;
        handshake.map_err(|_| timed_out(FailureClass::TlsTimeout, plan))??;
        is_h2 &= stream.tls().alpn_protocol() == Some(b"h2");
        note_agreed(&stream, row);
    }
    let Some(asked) = &plan.asked else {
        return Ok(());
    };
    row.http_version = Some(if is_h2 { "h2" } else { "http/1.1" });
    let shared = Shared(Arc::new(Mutex::new(stream)));
    let fetched = timeout_at(deadline, fetch_head(shared.clone(), is_h2, asked)).await;
    {
        let stream = shared.lock();
        if !stream.tls().is_handshaking() {
            note_agreed(&stream, row);
        }
        row.early_data_accepted = early && stream.tls().is_early_data_accepted();
    }
    let known = |failure| observed_failure(&observed).unwrap_or(failure);
    let head = fetched
        .map_err(|_| timed_out(FailureClass::HttpTimeout, plan))?
        .map_err(known)?;
    row.http_status = Some(head.status);
    row.alt_svc = head.alt_svc;
    let arrival_ns = {
        let seen = observed.lock().unwrap_or_else(PoisonError::into_inner);
        seen.last_arrival_ns
    };
    row.first_byte_us = arrival_ns.map(|at_ns| (at_ns - row.at_ns) / 1000);
    if is_first && plan.protocol != Protocol::Tls12 {
        let waited = timeout_at(deadline, shared.wait_for_ticket()).await;
        waited
            .map_err(|_| Failure::new(FailureClass::HttpTimeout, "the server gave no ticket"))??;
    }
    Ok(())
}

fn observed_failure(observed: &Mutex<Observed>) -> Option<Failure> {
    let seen = observed.lock().unwrap_or_else(PoisonError::into_inner);
    seen.tls_error.clone()
}

fn note_agreed(stream: &TlsStream, row: &mut Row) {
    let tls = stream.tls();
    row.version = tls.protocol_version().map(|version| format!("{version:?}"));
    row.cipher = tls
        .negotiated_cipher_suite()
        .map(|suite| format!("{:?}", suite.suite()));
    note_key_exchange(
        row,
        tls.negotiated_key_exchange_group()
            .map(|group| format!("{:?}", group.name())),
    );
    note_kind(row, tls.handshake_kind());
    row.certificate_bytes = tls
        .peer_certificates()
        .map(|list| list.iter().map(|each| each.len() as u64).sum());
}

fn note_key_exchange(row: &mut Row, group: Option<String>) {
    row.key_exchange_kind = group.as_deref().map(key_exchange_kind);
    row.key_exchange = group;
}

fn note_kind(row: &mut Row, kind: Option<HandshakeKind>) {
    row.hello_retry_request = kind == Some(HandshakeKind::FullWithHelloRetryRequest);
    row.resumed = kind == Some(HandshakeKind::Resumed);
}

fn note_tls(observed: &Mutex<Observed>, began_ns: u64, connected_ns: u64, row: &mut Row) {
    let seen = observed.lock().unwrap_or_else(PoisonError::into_inner);
    let since = |at_ns: u64| at_ns.saturating_sub(began_ns) / 1000;
    row.crypto_us = seen.crypto_ns / 1000;
    row.first_request_byte_us = seen.first_request_byte_ns.map(since);
    note_timeline(&seen.timeline, row);
    let Some(complete_ns) = seen.timeline.complete_ns() else {
        return;
    };
    let tls_us = complete_ns.saturating_sub(connected_ns) / 1000;
    row.tls_handshake_us = Some(tls_us);
    row.connection_us = Some(since(complete_ns));
    if let Some(completing) = seen.completing {
        row.kernel_stamps &= completing.stamped;
        row.stamp_delay_us = Some((completing.read_ns - completing.at_ns) as f64 / 1000.0);
    }
    let waits = u64::from(seen.timeline.round_trips().unwrap_or(1));
    // Early data can be answered before the handshake is complete; nothing is split then.
    let round_trip_us = tls_us.saturating_sub(row.crypto_us) / waits;
    row.split_connection = row
        .tcp_handshake_us
        .is_some_and(|tcp_us| row.syn_retransmits == Some(0) && is_split(tcp_us, round_trip_us));
    let expected = if row.version.as_deref() == Some("TLSv1_2") && !row.resumed {
        2
    } else {
        1
    };
    note_extra(row, expected);
    // TCP's own round trip comes before those of TLS.
    row.round_trips = row.round_trips.map(|count| count + 1);
}

fn note_timeline(timeline: &Timeline, row: &mut Row) {
    let (sent, received) = timeline.flights();
    (row.sent_bytes, row.sent_pieces) = (sent.bytes, sent.pieces);
    (row.received_bytes, row.received_pieces) = (received.bytes, received.pieces);
    row.round_trips = timeline.round_trips();
}

fn note_extra(row: &mut Row, expected: u32) {
    let told = expected + row.retries + u32::from(row.hello_retry_request);
    row.extra_round_trips = row.round_trips.map(|count| count.saturating_sub(told));
}

async fn over_quic(
    plan: &Plan,
    trust: &Trust,
    session: Option<Resumption>,
    is_first: bool,
    row: &mut Row,
) -> Result<(), Failure> {
    let deadline = deadline(plan);
    let version = plan.protocol.quic_version().unwrap_or(1);
    let bound = unspecified(plan.address, plan.local_port.unwrap_or(0));
    let local = |error: std::io::Error| Failure::of_socket(&error, FailureClass::Local);
    let socket = UdpSocket::bind(bound).await.map_err(local)?;
    socket.connect(plan.address).await.map_err(local)?;
    // Until its readiness is known, tokio's socket refuses to send.
    socket.writable().await.map_err(local)?;
    row.local_port = socket.local_addr().ok().map(|address| address.port());
    let early = row.resumption_offered && plan.early_data;
    let tls = client_config(trust, plan.protocol, &[b"h3"], session, early)
        .map_err(|error| Failure::new(FailureClass::Local, error))?;
    let quic = QuicAttempt {
        socket,
        address: plan.address,
        server_name: plan.host.trim_matches(['[', ']']),
        version,
        tls: Arc::new(tls),
        asked: plan.asked.as_ref(),
        early_data: early,
        needs_ticket: is_first,
    };
    let began_ns = kernel::monotonic_ns();
    row.at_ns = began_ns;
    let mut outcome = QuicOutcome::default();
    let result = timeout_at(deadline, connect(&quic, &mut outcome)).await;
    note_quic(&outcome, began_ns, version, row);
    result.unwrap_or_else(|_| {
        let class = match outcome.completing {
            Some(_) => FailureClass::HttpTimeout,
            None => FailureClass::QuicTimeout,
        };
        Err(timed_out(class, plan))
    })
}

fn note_quic(outcome: &QuicOutcome, began_ns: u64, version: u32, row: &mut Row) {
    let since = |at_ns: u64| at_ns.saturating_sub(began_ns) / 1000;
    row.crypto_us = outcome.facts.crypto_ns / 1000;
    row.retries = outcome.retries;
    row.version_negotiation = outcome.versions.is_some();
    let offered = outcome.versions.iter().flatten();
    row.versions_offered = offered.map(|version| format!("{version:#010x}")).collect();
    row.early_data_offered = outcome.early_data_offered;
    row.early_data_accepted = outcome.early_data_accepted;
    row.first_request_byte_us = outcome.first_request_byte_ns.map(since);
    row.first_byte_us = outcome.first_byte_ns.map(since);
    row.http_status = outcome.status;
    row.http_version = outcome.status.map(|_| "h3");
    row.cipher = outcome.facts.cipher.map(|cipher| format!("{cipher:?}"));
    note_key_exchange(row, outcome.facts.key_exchange.clone());
    note_kind(row, outcome.facts.kind);
    row.certificate_bytes = outcome.facts.certificate_bytes;
    note_timeline(&outcome.timeline, row);
    row.rtt_us = outcome.timeline.first_answer_ns().map(|ns| ns / 1000);
    if let (Some(complete_ns), Some(completing)) =
        (outcome.timeline.complete_ns(), outcome.completing)
    {
        row.quic_handshake_us = Some(since(complete_ns));
        row.connection_us = row.quic_handshake_us;
        row.kernel_stamps = completing.stamped;
        row.stamp_delay_us = Some((completing.read_ns - completing.at_ns) as f64 / 1000.0);
        row.version = Some(if version == QUIC_V2 { "2" } else { "1" }.into());
        note_extra(row, 1);
    }
}

/// The stream, shared between HTTP and whoever wants to know what TLS agreed on.
#[derive(Clone)]
struct Shared(Arc<Mutex<TlsStream>>);

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, TlsStream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn wait_for_ticket(&self) -> Result<(), Failure> {
        use tokio::io::{AsyncRead, ReadBuf};
        let mut room = [0; 4096];
        std::future::poll_fn(|context| {
            loop {
                let mut stream = self.lock();
                if stream.tls().tls13_tickets_received() > 0
                    || stream.tls().protocol_version() == Some(rustls::ProtocolVersion::TLSv1_2)
                {
                    return std::task::Poll::Ready(Ok(()));
                }
                let mut buffer = ReadBuf::new(&mut room);
                let read = std::pin::Pin::new(&mut *stream).poll_read(context, &mut buffer);
                match std::task::ready!(read) {
                    Ok(()) if buffer.filled().is_empty() => {
                        let detail = "the server closed and gave no ticket";
                        return std::task::Poll::Ready(Err(Failure::new(
                            FailureClass::Closed,
                            detail,
                        )));
                    }
                    Ok(()) => {}
                    Err(error) => {
                        return std::task::Poll::Ready(Err(stream.failure(&error)));
                    }
                }
            }
        })
        .await
    }
}

mod shared_io {
    use super::Shared;
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

    impl AsyncRead for Shared {
        fn poll_read(
            self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut *self.lock()).poll_read(context, buffer)
        }
    }

    impl AsyncWrite for Shared {
        fn poll_write(
            self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut *self.lock()).poll_write(context, bytes)
        }

        fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut *self.lock()).poll_flush(context)
        }

        fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut *self.lock()).poll_shutdown(context)
        }
    }
}
