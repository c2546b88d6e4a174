//! TLS inside QUIC, built on rustls directly so that the agreement can be read: cipher, key
//! exchange, HelloRetryRequest, tickets. The QUIC library's own session hides them.

use super::keys::{Header, Packet, convert_keys, initial_suite, version_of};
use super::retry::retry_tag;
use crate::kernel::monotonic_ns;
use noq_proto::crypto::{
    self, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, UnsupportedVersion,
};
use noq_proto::transport_parameters::TransportParameters;
use noq_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};
use rustls::pki_types::ServerName;
use rustls::quic::{Connection, KeyChange, Secrets, Suite, Version};
use rustls::{CipherSuite, HandshakeKind};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The facts of a session, which the QUIC library returns as its connection's `handshake_data`.
#[derive(Clone, Debug, Default)]
pub struct SessionFacts {
    /// The cipher suite.
    pub cipher: Option<CipherSuite>,
    /// The key exchange group.
    pub key_exchange: Option<String>,
    /// The kind: full, with HelloRetryRequest, or resumed.
    pub kind: Option<HandshakeKind>,
    /// Bytes of the server's certificates.
    pub certificate_bytes: Option<u64>,
    /// Whether a valid Retry arrived. A stateless server answers each datagram of a ClientHello
    /// with one; the first counts (RFC 9000, section 17.2.5.2).
    pub is_retried: bool,
    /// Tickets received.
    pub tickets: u32,
    /// Time inside the TLS library while handshaking, derivation of the first keys included.
    pub crypto_ns: u64,
    /// The error of TLS itself.
    pub error: Option<rustls::Error>,
}

/// A client's TLS for QUIC 1 and 2.
#[derive(Debug)]
pub struct ClientCrypto(pub Arc<rustls::ClientConfig>);

/// A server's TLS for QUIC 1 and 2.
#[derive(Debug)]
pub struct ServerCrypto(pub Arc<rustls::ServerConfig>);

struct Session {
    version: Version,
    tls: Connection,
    initial: Suite,
    next: Option<Secrets>,
    is_told: bool,
    /// Atomic, as is the next, for methods that have a shared reference alone.
    crypto_ns: AtomicU64,
    is_retried: AtomicBool,
    error: Option<rustls::Error>,
}

impl crypto::ClientConfig for ClientCrypto {
    fn start_session(
        &self,
        version: u32,
        server_name: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn crypto::Session>, ConnectError> {
        let invalid = || ConnectError::InvalidServerName(server_name.into());
        let began_ns = monotonic_ns();
        let version = version_of(version)?;
        let name = ServerName::try_from(server_name.to_owned()).map_err(|_| invalid())?;
        let written = bytes_of(parameters);
        let tls = rustls::quic::ClientConnection::new(self.0.clone(), version, name, written)
            .map_err(|_| ConnectError::UnsupportedVersion)?;
        let initial = initial_suite(self.0.crypto_provider());
        let session = Session::new(version, Connection::Client(tls), initial);
        session.note_crypto(began_ns);
        Ok(Box::new(session))
    }
}

impl crypto::ServerConfig for ServerCrypto {
    fn initial_keys(&self, version: u32, id: ConnectionId) -> Result<Keys, UnsupportedVersion> {
        let version = version_of(version)?;
        let suite = initial_suite(self.0.crypto_provider());
        Ok(convert_keys(suite.keys(&id, rustls::Side::Server, version)))
    }

    fn retry_tag(&self, version: u32, id: ConnectionId, packet: &[u8]) -> [u8; 16] {
        // Never called with another version, as `initial_keys` refuses it.
        retry_tag(version_of(version).unwrap_or_default(), &id, packet)
    }

    fn start_session(
        &self,
        version: u32,
        parameters: &TransportParameters,
    ) -> Box<dyn crypto::Session> {
        let version = version_of(version).unwrap_or_default();
        let tls =
            rustls::quic::ServerConnection::new(self.0.clone(), version, bytes_of(parameters))
                .expect("the configuration is checked when the server starts");
        let initial = initial_suite(self.0.crypto_provider());
        Box::new(Session::new(version, Connection::Server(tls), initial))
    }
}

impl Session {
    fn new(version: Version, tls: Connection, initial: Suite) -> Self {
        Self {
            version,
            tls,
            initial,
            next: None,
            is_told: false,
            crypto_ns: AtomicU64::new(0),
            is_retried: AtomicBool::new(false),
            error: None,
        }
    }

    /// Adds the time of cryptography that began at `began_ns`; after the handshake none is counted.
    fn note_crypto(&self, began_ns: u64) {
        let took_ns = monotonic_ns() - began_ns;
        self.crypto_ns.fetch_add(took_ns, Ordering::Relaxed);
    }

    fn facts(&self) -> SessionFacts {
        let certificates = self.tls.peer_certificates();
        SessionFacts {
            cipher: self
                .tls
                .negotiated_cipher_suite()
                .map(|suite| suite.suite()),
            key_exchange: self
                .tls
                .negotiated_key_exchange_group()
                .map(|group| format!("{:?}", group.name())),
            kind: self.tls.handshake_kind(),
            certificate_bytes: certificates
                .map(|list| list.iter().map(|each| each.len() as u64).sum()),
            tickets: match &self.tls {
                Connection::Client(client) => client.tls13_tickets_received(),
                Connection::Server(_) => 0,
            },
            is_retried: self.is_retried.load(Ordering::Relaxed),
            crypto_ns: self.crypto_ns.load(Ordering::Relaxed),
            error: self.error.clone(),
        }
    }
}

impl crypto::Session for Session {
    fn initial_keys(&self, id: ConnectionId, side: Side) -> Keys {
        let side = match side {
            Side::Client => rustls::Side::Client,
            Side::Server => rustls::Side::Server,
        };
        let began_ns = monotonic_ns();
        let keys = convert_keys(self.initial.keys(&id, side, self.version));
        self.note_crypto(began_ns);
        keys
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        Some(Box::new(self.facts()))
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        let keys = self.tls.zero_rtt_keys()?;
        Some((Box::new(Header(keys.header)), Box::new(Packet(keys.packet))))
    }

    fn early_data_accepted(&self) -> Option<bool> {
        match &self.tls {
            Connection::Client(client) => Some(client.is_early_data_accepted()),
            Connection::Server(_) => None,
        }
    }

    fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        let was_handshaking = self.tls.is_handshaking();
        let began_ns = monotonic_ns();
        let result = self.tls.read_hs(bytes);
        if was_handshaking {
            self.note_crypto(began_ns);
        }
        if let Err(error) = result {
            self.error = Some(error.clone());
            let code = self
                .tls
                .alert()
                .map_or(TransportErrorCode::PROTOCOL_VIOLATION, |alert| {
                    TransportErrorCode::crypto(alert.into())
                });
            return Err(TransportError::new(code, error.to_string()));
        }
        // A server's are available with the client's hello, a client's with the handshake's end.
        let is_ready = match &self.tls {
            Connection::Server(server) => server.quic_transport_parameters().is_some(),
            Connection::Client(_) => false,
        };
        let is_news = !self.is_told && (is_ready || !self.tls.is_handshaking());
        self.is_told |= is_news;
        Ok(is_news)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let side = match self.tls {
            Connection::Client(_) => Side::Client,
            Connection::Server(_) => Side::Server,
        };
        self.tls
            .quic_transport_parameters()
            .map(|bytes| TransportParameters::read(side, &mut &bytes[..]))
            .transpose()
            .map_err(TransportError::from)
    }

    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        let is_handshaking = self.tls.is_handshaking();
        let began_ns = monotonic_ns();
        let change = self.tls.write_hs(buffer);
        if is_handshaking {
            self.note_crypto(began_ns);
        }
        match change? {
            KeyChange::Handshake { keys } => Some(convert_keys(keys)),
            KeyChange::OneRtt { keys, next } => {
                self.next = Some(next);
                Some(convert_keys(keys))
            }
        }
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.next.as_mut()?.next_packet_keys();
        Some(KeyPair {
            local: Box::new(Packet(keys.local)),
            remote: Box::new(Packet(keys.remote)),
        })
    }

    fn is_valid_retry(&self, id: ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        let Some((token, tag)) = payload.split_last_chunk::<16>() else {
            return false;
        };
        let mut packet = [header, token].concat();
        if matches!(self.version, Version::V2) && super::packets::is_version2(&packet) {
            packet[0] = super::packets::first_byte_of_version2(packet[0]);
        }
        // Both sides are public: no need for a comparison in constant time.
        let began_ns = monotonic_ns();
        let is_valid = retry_tag(self.version, &id, &packet) == *tag;
        self.note_crypto(began_ns);
        self.is_retried.fetch_or(is_valid, Ordering::Relaxed);
        is_valid
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.tls
            .export_keying_material(output, label, Some(context))
            .map(drop)
            .map_err(|_| ExportKeyingMaterialError)
    }
}

fn bytes_of(parameters: &TransportParameters) -> Vec<u8> {
    let mut bytes = Vec::new();
    parameters.write(&mut bytes);
    bytes
}
