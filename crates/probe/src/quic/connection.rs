use super::response::Response;
use super::session::{ClientCrypto, SessionFacts};
use crate::http::{Head, ProbeRequest};
use crate::kernel::{self, Received};
use crate::tls::TICKET_WAIT;
use crate::{Answer, Failure, FailureClass, Timeline};
use noq_proto::congestion::NewRenoConfig;
use noq_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, Endpoint, EndpointConfig, Event,
    StreamId, TransportConfig, VarInt,
};
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Instant;
use tokio::net::UdpSocket;

/// The size of a datagram that every path carries (RFC 9000, section 14).
pub(super) const PACKET_BYTES: u16 = 1200;
/// The limit that the server is given: the payload of Ethernet's packets.
pub(super) const DATAGRAM_BYTES_MAX: u16 = 1472;
/// A window beyond 32 bits.
const WINDOW_BYTES_UNPACED: u64 = 1 << 33;
/// The code of a close without error (RFC 9114, section 8.1).
const H3_NO_ERROR: u32 = 0x100;

/// The parameters of one connection.
pub struct QuicAttempt<'a> {
    /// The socket, bound and connected.
    pub socket: UdpSocket,
    /// The server.
    pub address: SocketAddr,
    /// The name in the certificate.
    pub server_name: &'a str,
    /// The version, 1 or 2, as its number on the wire.
    pub version: u32,
    /// The client's TLS configuration.
    pub tls: Arc<rustls::ClientConfig>,
    /// The request; `None`: the handshake alone.
    pub request: Option<&'a ProbeRequest>,
    /// Whether to send the request as 0-RTT data if the session allows it.
    pub early_data: bool,
    /// Whether to wait for a ticket, too.
    pub needs_ticket: bool,
    /// Whether to read the body's beginning, too.
    pub keeps_answer: bool,
}

/// The outcome of a connection; after a failure, up to that point.
#[derive(Debug, Default)]
pub struct QuicOutcome {
    /// The handshake's times and sizes.
    pub timeline: Timeline,
    /// The read that completed the handshake.
    pub completing: Option<Received>,
    /// Time when the first byte of the request was sent.
    pub first_request_byte_ns: Option<u64>,
    /// Time when the response's head had arrived.
    pub first_byte_ns: Option<u64>,
    /// The response's head.
    pub head: Option<Head>,
    /// The head with all fields and the body's beginning, if it is kept.
    pub answer: Option<Answer>,
    /// Whether the connection is made and the response's head has arrived; a body or a ticket may
    /// be missing.
    pub is_answered: bool,
    /// Versions of a Version Negotiation packet.
    pub versions: Option<Vec<u32>>,
    /// Whether 0-RTT data were sent.
    pub early_data_offered: bool,
    /// Whether they were accepted.
    pub early_data_accepted: bool,
    /// Facts of the TLS session.
    pub facts: SessionFacts,
}

pub(super) struct Driver<'a> {
    pub(super) attempt: &'a QuicAttempt<'a>,
    pub(super) endpoint: Endpoint,
    pub(super) handle: ConnectionHandle,
    pub(super) connection: Connection,
    pub(super) outcome: &'a mut QuicOutcome,
    pub(super) request: Option<StreamId>,
    pub(super) response: Response,
    /// Whether the body has ended or reached its limit.
    pub(super) is_body_over: bool,
    is_connected: bool,
    /// End of the wait for a ticket; `None` if not yet answered, or over.
    ticket_until: Option<Instant>,
    is_ticket_given_up: bool,
    /// Time of cryptography before the first datagram was sent, which is in no other time.
    before_ns: u64,
    pub(super) last: Option<(Received, u64)>,
}

/// Makes the connection, sends the request and reads the response's head. `outcome` is filled in on
/// the way, so that a caller's timeout loses nothing.
///
/// # Errors
/// The class and a description.
pub async fn connect(attempt: &QuicAttempt<'_>, outcome: &mut QuicOutcome) -> Result<(), Failure> {
    let local = |error: &dyn ToString| Failure::new(FailureClass::Local, error.to_string());
    let _ = kernel::enable_timestamps(attempt.socket.as_fd());
    let mut endpoint_config = EndpointConfig::default();
    endpoint_config
        .supported_versions(vec![attempt.version])
        .max_udp_payload_size(DATAGRAM_BYTES_MAX)
        .map_err(|error| local(&error))?;
    let mut endpoint = Endpoint::new(Arc::new(endpoint_config), None, false);
    let mut transport = unpaced_transport();
    transport
        .initial_mtu(PACKET_BYTES)
        .mtu_discovery_config(None);
    let mut config = ClientConfig::new(Arc::new(ClientCrypto(attempt.tls.clone())));
    config
        .version(attempt.version)
        .transport_config(Arc::new(transport));
    let (handle, connection) = endpoint
        .connect(Instant::now(), config, attempt.address, attempt.server_name)
        .map_err(|error| local(&error))?;
    let mut driver = Driver {
        attempt,
        endpoint,
        handle,
        connection,
        outcome,
        request: None,
        response: Response::default(),
        is_body_over: false,
        is_connected: false,
        ticket_until: None,
        is_ticket_given_up: false,
        before_ns: 0,
        last: None,
    };
    driver.note_facts();
    driver.before_ns = driver.outcome.facts.crypto_ns;
    if attempt.early_data && driver.connection.has_0rtt() {
        driver.outcome.early_data_offered = true;
        driver.send_request()?;
    }
    let result = driver.run().await;
    driver.note_facts();
    let code = VarInt::from_u32(H3_NO_ERROR);
    driver
        .connection
        .close(Instant::now(), code, bytes::Bytes::new());
    // The server may drop the connection at once; whether this arrives does not matter.
    let _ = driver.transmit();
    if driver.outcome.is_answered {
        return Ok(());
    }
    result
}

/// Returns a transport configuration that sends its few datagrams at once. The library paces from
/// the first one on, with a guessed round trip: the second half of a ClientHello would leave 27 ms
/// late, which would prolong the handshake. Windows beyond 32 bits turn its pacer off; our
/// handshake stays within the ten packets that RFC 9002, section 7.2, allows anyway.
pub fn unpaced_transport() -> TransportConfig {
    let mut congestion = NewRenoConfig::default();
    congestion.initial_window(WINDOW_BYTES_UNPACED);
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(congestion));
    transport
}

impl Driver<'_> {
    async fn run(&mut self) -> Result<(), Failure> {
        loop {
            self.transmit()
                .map_err(|error| classify_udp_error(&error))?;
            if self.handle_events()? {
                return Ok(());
            }
            self.transmit()
                .map_err(|error| classify_udp_error(&error))?;
            let timeouts = [self.connection.poll_timeout(), self.ticket_until];
            let timeout = timeouts.into_iter().flatten().min();
            tokio::select! {
                ready = self.attempt.socket.readable() => {
                    ready.map_err(|error| classify_udp_error(&error))?;
                    self.receive().map_err(|error| classify_udp_error(&error))?;
                }
                () = sleep_until(timeout) => self.connection.handle_timeout(Instant::now()),
            }
            if let (Some(_), false) = (&self.outcome.versions, self.is_connected) {
                let offered = self.outcome.versions.iter().flatten();
                let list: Vec<String> = offered.map(|version| format!("{version:#x}")).collect();
                let detail = format!("the server speaks {}", list.join(", "));
                return Err(Failure::new(FailureClass::QuicVersion, detail));
            }
        }
    }

    /// Handles events; returns true when everything requested has arrived.
    fn handle_events(&mut self) -> Result<bool, Failure> {
        while let Some(event) = self.connection.poll() {
            match event {
                Event::Connected => {
                    self.is_connected = true;
                    self.outcome.early_data_accepted =
                        self.outcome.early_data_offered && self.connection.accepted_0rtt();
                    let is_lost =
                        self.outcome.early_data_offered && !self.outcome.early_data_accepted;
                    if self.request.is_none() || is_lost {
                        self.send_request()?;
                    }
                }
                Event::ConnectionLost { reason } => return Err(self.failure(reason)),
                _ => {}
            }
        }
        self.read_response()?;
        self.read_body();
        let has_response = self.attempt.request.is_none() || self.outcome.head.is_some();
        let has_body = self.outcome.answer.is_none() || self.is_body_over;
        self.outcome.is_answered = self.is_connected && has_response;
        let has_ticket = !self.attempt.needs_ticket || {
            self.note_facts();
            self.outcome.facts.tickets > 0 || self.is_ticket_overdue()
        };
        Ok(self.outcome.is_answered && has_ticket && has_body)
    }

    /// Returns whether the server has answered and had its time to send a ticket.
    fn is_ticket_overdue(&mut self) -> bool {
        if !self.outcome.is_answered || self.is_ticket_given_up {
            return self.is_ticket_given_up;
        }
        let until = *self
            .ticket_until
            .get_or_insert_with(|| Instant::now() + TICKET_WAIT);
        self.is_ticket_given_up = Instant::now() >= until;
        if self.is_ticket_given_up {
            self.ticket_until = None;
        }
        self.is_ticket_given_up
    }

    fn note_facts(&mut self) {
        let data = self.connection.crypto_session().handshake_data();
        if let Some(facts) = data.and_then(|data| data.downcast::<SessionFacts>().ok()) {
            self.outcome.facts = *facts;
            self.outcome.facts.crypto_ns -= self.before_ns;
        }
    }

    fn failure(&mut self, reason: ConnectionError) -> Failure {
        self.note_facts();
        if let Some(error) = &self.outcome.facts.error {
            return Failure::from_tls(error);
        }
        let class = match &reason {
            ConnectionError::VersionMismatch => FailureClass::QuicVersion,
            ConnectionError::TransportError(_) => FailureClass::QuicProtocol,
            ConnectionError::Reset => FailureClass::Reset,
            ConnectionError::TimedOut => FailureClass::QuicTimeout,
            ConnectionError::ConnectionClosed(_) | ConnectionError::ApplicationClosed(_) => {
                FailureClass::QuicClosed
            }
            ConnectionError::LocallyClosed | ConnectionError::CidsExhausted => FailureClass::Local,
        };
        Failure::new(class, reason)
    }
}

/// Classifies an ICMP error on a connected socket: a closed port is `ConnectionRefused`.
fn classify_udp_error(error: &io::Error) -> Failure {
    Failure::from_socket(error, FailureClass::Local)
}

async fn sleep_until(timeout: Option<Instant>) {
    match timeout {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
