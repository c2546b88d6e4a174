//! The TLS session of a QUIC connection, observed for what the client's hello offers, which noq
//! does not expose.

use super::sent_frames::{OnSent, WatchedKey, read_varint};
use crate::tls::HelloWatch;
use noq::crypto::rustls::QuicServerConfig;
use noq::crypto::{
    ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, ServerConfig, Session,
    UnsupportedVersion,
};
use noq_proto::transport_parameters::TransportParameters;
use noq_proto::{ConnectionId, Side, TransportError};
use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One connection's configuration, shared with its report.
pub(super) struct WatchedConfig {
    pub inner: QuicServerConfig,
    pub hello: Arc<Mutex<HelloWatch>>,
    pub offered: Arc<OnceLock<u64>>,
    pub on_sent: OnSent,
}

impl ServerConfig for WatchedConfig {
    fn initial_keys(
        &self,
        version: u32,
        dst_cid: ConnectionId,
    ) -> Result<Keys, UnsupportedVersion> {
        self.inner.initial_keys(version, dst_cid)
    }

    fn retry_tag(&self, version: u32, orig_dst_cid: ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.inner.retry_tag(version, orig_dst_cid, packet)
    }

    fn start_session(&self, version: u32, params: &TransportParameters) -> Box<dyn Session> {
        Box::new(WatchedSession {
            inner: self.inner.start_session(version, params),
            hello: self.hello.clone(),
            offered: self.offered.clone(),
            on_sent: self.on_sent.clone(),
        })
    }
}

struct WatchedSession {
    inner: Box<dyn Session>,
    hello: Arc<Mutex<HelloWatch>>,
    offered: Arc<OnceLock<u64>>,
    on_sent: OnSent,
}

impl WatchedSession {
    fn watch(&self, inner: Box<dyn PacketKey>) -> Box<dyn PacketKey> {
        let on_sent = self.on_sent.clone();
        Box::new(WatchedKey { inner, on_sent })
    }
}

impl Session for WatchedSession {
    fn initial_keys(&self, dst_cid: ConnectionId, side: Side) -> Keys {
        self.inner.initial_keys(dst_cid, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.inner.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.inner.peer_identity()
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        self.inner.early_crypto()
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.inner.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.inner.is_handshaking()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        let mut hello = self.hello.lock().unwrap_or_else(PoisonError::into_inner);
        hello.on_messages(buf);
        drop(hello);
        self.inner.read_handshake(buf)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let parameters = self.inner.transport_parameters()?;
        if let Some(bytes) = parameters.as_ref().and_then(initial_max_data) {
            let _ = self.offered.set(bytes);
        }
        Ok(parameters)
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let mut keys = self.inner.write_handshake(buf)?;
        keys.packet.local = self.watch(keys.packet.local);
        Some(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let mut keys = self.inner.next_1rtt_keys()?;
        keys.local = self.watch(keys.local);
        Some(keys)
    }

    fn is_valid_retry(&self, orig_dst_cid: ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.inner.is_valid_retry(orig_dst_cid, header, payload)
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.inner.export_keying_material(output, label, context)
    }
}

/// Returns `initial_max_data` (RFC 9000, section 18.2). noq keeps its fields private, but encodes
/// them as on the wire.
fn initial_max_data(parameters: &TransportParameters) -> Option<u64> {
    const INITIAL_MAX_DATA: u64 = 0x04;
    let mut written = Vec::new();
    parameters.write(&mut written);
    let mut rest = &written[..];
    loop {
        let (name, length) = (read_varint(&mut rest)?, read_varint(&mut rest)?);
        let (mut value, after) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        if name == INITIAL_MAX_DATA {
            return read_varint(&mut value);
        }
        rest = after;
    }
}
