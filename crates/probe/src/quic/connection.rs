use super::packets::{Kind, kind_of, to_version1};
use super::session::{ClientCrypto, SessionFacts};
use super::{CONTROL_STREAM, request_stream, response_status};
use crate::http::Asked;
use crate::kernel::{self, Received};
use crate::{Failure, FailureClass, Timeline};
use bytes::BytesMut;
use noq_proto::congestion::NewRenoConfig;
use noq_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, Endpoint,
    EndpointConfig, Event, FourTuple, ReadError, ReadableError, StreamId, TransportConfig, VarInt,
};
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Instant;
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// RFC 9000, section 14: every path carries it.
const PACKET_BYTES: u16 = 1200;
/// The largest payload of UDP.
const DATAGRAM_BYTES_MAX: usize = 65_527;
/// What the library may write before it is sent.
const DATAGRAMS_AT_ONCE: NonZeroUsize = NonZeroUsize::new(10).unwrap();
/// More than the flights of any handshake.
const BATCHES_MAX: usize = 32;
/// Datagrams read before the connection gets its turn.
const READS_MAX: usize = 32;
/// Beyond 32 bits.
const WINDOW_BYTES_UNPACED: u64 = 1 << 33;
/// RFC 9114, section 8.1.
const H3_NO_ERROR: u32 = 0x100;

/// One connection to be made.
pub struct QuicAttempt<'a> {
    /// Bound and connected.
    pub socket: UdpSocket,
    /// The server.
    pub address: SocketAddr,
    /// The name in the certificate.
    pub server_name: &'a str,
    /// 1 or 2, as the wire has it.
    pub version: u32,
    /// What TLS offers.
    pub tls: Arc<rustls::ClientConfig>,
    /// The request, or none: then the handshake is all.
    pub asked: Option<&'a Asked>,
    /// Send the request as 0-RTT data where the session allows it.
    pub early_data: bool,
    /// Wait for a ticket, too.
    pub needs_ticket: bool,
}

/// What came of it; with a failure, up to that point.
#[derive(Debug, Default)]
pub struct QuicOutcome {
    /// The handshake's times and sizes.
    pub timeline: Timeline,
    /// The read that completed the handshake.
    pub completing: Option<Received>,
    /// When the first byte of the request went out.
    pub first_request_byte_ns: Option<u64>,
    /// When the response's head was there.
    pub first_byte_ns: Option<u64>,
    /// The response's status.
    pub status: Option<u16>,
    /// Retry packets.
    pub retries: u32,
    /// Versions of a Version Negotiation packet.
    pub versions: Option<Vec<u32>>,
    /// Whether 0-RTT data were sent.
    pub early_data_offered: bool,
    /// Whether they were accepted.
    pub early_data_accepted: bool,
    /// What TLS knows.
    pub facts: SessionFacts,
}

struct Driver<'a> {
    attempt: &'a QuicAttempt<'a>,
    endpoint: Endpoint,
    handle: ConnectionHandle,
    connection: Connection,
    outcome: &'a mut QuicOutcome,
    request: Option<StreamId>,
    response: Vec<u8>,
    is_connected: bool,
    buffer: Vec<u8>,
    last: Option<(Received, u64)>,
}

/// Makes the connection, asks and reads the response's head. `outcome` is filled in as it goes, so
/// that a caller's timeout loses nothing.
///
/// # Errors
/// The class and what was said.
pub async fn connect(attempt: &QuicAttempt<'_>, outcome: &mut QuicOutcome) -> Result<(), Failure> {
    let local = |error: &dyn ToString| Failure::new(FailureClass::Local, error.to_string());
    let _ = kernel::ask_for_stamps(attempt.socket.as_fd());
    let mut endpoint_config = EndpointConfig::default();
    endpoint_config.supported_versions(vec![attempt.version]);
    let mut endpoint = Endpoint::new(Arc::new(endpoint_config), None, false);
    let mut transport = unpaced();
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
        response: Vec::new(),
        is_connected: false,
        buffer: vec![0; DATAGRAM_BYTES_MAX],
        last: None,
    };
    if attempt.early_data && driver.connection.has_0rtt() {
        driver.outcome.early_data_offered = true;
        driver.ask()?;
    }
    let result = driver.run().await;
    driver.note_facts();
    let code = VarInt::from_u32(H3_NO_ERROR);
    driver
        .connection
        .close(Instant::now(), code, bytes::Bytes::new());
    // The server may forget the connection at once; whether this arrives is of no concern.
    let _ = driver.transmit();
    result
}

/// A transport that sends its few datagrams at once. The library paces from the first one on, with a
/// round trip that it can only guess: the second half of a ClientHello would leave 27 ms late, and
/// the handshake would be that much longer. Windows beyond 32 bits turn its pacer off; a handshake
/// of ours stays within the ten packets that RFC 9002, section 7.2, allows anyway.
pub fn unpaced() -> TransportConfig {
    let mut congestion = NewRenoConfig::default();
    congestion.initial_window(WINDOW_BYTES_UNPACED);
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(congestion));
    transport
}

impl Driver<'_> {
    async fn run(&mut self) -> Result<(), Failure> {
        loop {
            self.transmit().map_err(|error| of_udp(&error))?;
            if self.handle_events()? {
                return Ok(());
            }
            self.transmit().map_err(|error| of_udp(&error))?;
            let timeout = self.connection.poll_timeout();
            tokio::select! {
                ready = self.attempt.socket.readable() => {
                    ready.map_err(|error| of_udp(&error))?;
                    self.receive().map_err(|error| of_udp(&error))?;
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

    /// Sends what is ready, one datagram a system call.
    ///
    /// Several datagrams are asked for at once although each is sent by itself: a close goes out at
    /// two levels of encryption, the padded first of them fills a datagram, and a library that may
    /// write only one would write that one again and again. The bound keeps any such error finite.
    fn transmit(&mut self) -> io::Result<()> {
        let mut batch = Vec::with_capacity(DATAGRAMS_AT_ONCE.get() * usize::from(PACKET_BYTES));
        for _ in 0..BATCHES_MAX {
            batch.clear();
            let now = Instant::now();
            let Some(transmit) =
                (self.connection).poll_transmit(now, DATAGRAMS_AT_ONCE, &mut batch)
            else {
                return Ok(());
            };
            let datagram_bytes = transmit.segment_size.unwrap_or(transmit.size).max(1);
            for datagram in batch[..transmit.size].chunks(datagram_bytes) {
                let at_ns = kernel::monotonic_ns();
                match self.attempt.socket.try_send(datagram) {
                    // A full buffer loses the datagram, as a network does; QUIC recovers.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    result => drop(result?),
                }
                self.outcome.timeline.sent(at_ns, datagram.len());
                if self.request.is_some() {
                    self.outcome.first_request_byte_ns.get_or_insert(at_ns);
                }
            }
        }
        Err(io::Error::other("the QUIC library did not cease to send"))
    }

    fn receive(&mut self) -> io::Result<()> {
        for _ in 0..READS_MAX {
            let (socket, buffer) = (&self.attempt.socket, &mut self.buffer);
            let read = socket.try_io(Interest::READABLE, || {
                kernel::receive(socket.as_fd(), buffer)
            });
            let received = match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                result => result?,
            };
            let began_ns = kernel::monotonic_ns();
            self.outcome
                .timeline
                .received(received.at_ns, received.bytes);
            let mut datagram = BytesMut::from(&self.buffer[..received.bytes]);
            match kind_of(&datagram) {
                Kind::Retry => self.outcome.retries += 1,
                Kind::VersionNegotiation(versions) => self.outcome.versions = Some(versions),
                Kind::Other => {}
            }
            to_version1(&mut datagram);
            self.handle_datagram(datagram);
            self.last = Some((received, kernel::monotonic_ns() - began_ns));
            self.note_progress();
        }
        Ok(())
    }

    fn handle_datagram(&mut self, datagram: BytesMut) {
        let path = FourTuple::from(self.attempt.address);
        let mut answer = Vec::new();
        let event = self
            .endpoint
            .handle(Instant::now(), path, None, datagram, &mut answer);
        if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
            self.connection.handle_event(event);
        }
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(event);
            }
        }
    }

    /// The datagram that ends the handshake gives its time: arrival, and what processing took.
    fn note_progress(&mut self) {
        if !self.connection.is_handshaking()
            && self.outcome.completing.is_none()
            && let Some((received, took_ns)) = self.last
        {
            self.outcome.timeline.complete(received.at_ns + took_ns);
            self.outcome.completing = Some(received);
        }
    }

    /// True when everything that was asked for is there.
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
                        self.ask()?;
                    }
                }
                Event::ConnectionLost { reason } => return Err(self.failure(reason)),
                _ => {}
            }
        }
        self.read_response()?;
        let has_response = self.attempt.asked.is_none() || self.outcome.status.is_some();
        let has_ticket = !self.attempt.needs_ticket || {
            self.note_facts();
            self.outcome.facts.tickets > 0
        };
        Ok(self.is_connected && has_response && has_ticket)
    }

    fn ask(&mut self) -> Result<(), Failure> {
        let Some(asked) = self.attempt.asked else {
            return Ok(());
        };
        let none = || Failure::new(FailureClass::HttpProtocol, "the server allows no streams");
        let control = self.connection.streams().open(Dir::Uni).ok_or_else(none)?;
        let request = self.connection.streams().open(Dir::Bi).ok_or_else(none)?;
        let failed =
            |error: &dyn ToString| Failure::new(FailureClass::HttpProtocol, error.to_string());
        let written = self.connection.send_stream(control).write(&CONTROL_STREAM);
        written.map_err(|error| failed(&error))?;
        let bytes = request_stream(asked);
        let mut stream = self.connection.send_stream(request);
        // Ours are a few hundred bytes: any server's first window takes them whole.
        stream.write(&bytes).map_err(|error| failed(&error))?;
        stream.finish().map_err(|error| failed(&error))?;
        self.request = Some(request);
        Ok(())
    }

    fn read_response(&mut self) -> Result<(), Failure> {
        let (Some(request), None) = (self.request, self.outcome.status) else {
            return Ok(());
        };
        let mut stream = self.connection.recv_stream(request);
        let mut chunks = match stream.read(true) {
            Ok(chunks) => chunks,
            Err(ReadableError::ClosedStream | ReadableError::IllegalOrderedRead) => return Ok(()),
            #[allow(unreachable_patterns)]
            Err(_) => return Ok(()),
        };
        let mut is_over = false;
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.response.extend_from_slice(&chunk.bytes),
                Ok(None) => {
                    is_over = true;
                    break;
                }
                Err(ReadError::Blocked) => break,
                Err(error) => {
                    let _ = chunks.finalize();
                    return Err(Failure::new(FailureClass::Closed, error));
                }
            }
        }
        let _ = chunks.finalize();
        let protocol = |reason| Failure::new(FailureClass::HttpProtocol, reason);
        if let Some(status) = response_status(&self.response).map_err(protocol)? {
            self.outcome.status = Some(status);
            self.outcome.first_byte_ns = self.last.map(|(received, _)| received.at_ns);
        } else if is_over {
            return Err(protocol("the response ended before its head"));
        }
        Ok(())
    }

    fn note_facts(&mut self) {
        let data = self.connection.crypto_session().handshake_data();
        if let Some(facts) = data.and_then(|data| data.downcast::<SessionFacts>().ok()) {
            self.outcome.facts = *facts;
        }
    }

    fn failure(&mut self, reason: ConnectionError) -> Failure {
        self.note_facts();
        if let Some(error) = &self.outcome.facts.error {
            return Failure::of_tls(error);
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

/// An ICMP error shows on a connected socket: a closed port as `ConnectionRefused`.
fn of_udp(error: &io::Error) -> Failure {
    Failure::of_socket(error, FailureClass::Local)
}

async fn sleep_until(timeout: Option<Instant>) {
    match timeout {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
