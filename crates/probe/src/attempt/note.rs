//! Writes the results of TLS and a timeline into a row.

use crate::row::key_exchange_kind;
use crate::tls::TlsStream;
use crate::{Row, Timeline};
use rustls::HandshakeKind;

/// Records version, cipher, key exchange, certificates and kind of a TLS connection.
pub fn note_agreed(stream: &TlsStream, row: &mut Row) {
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

/// Records the group, and whether it is classical.
pub fn note_key_exchange(row: &mut Row, group: Option<String>) {
    row.key_exchange_kind = group.as_deref().map(key_exchange_kind);
    row.key_exchange = group;
}

/// Records whether the handshake was full, had a HelloRetryRequest, or was resumed.
pub fn note_kind(row: &mut Row, kind: Option<HandshakeKind>) {
    row.hello_retry_request = kind == Some(HandshakeKind::FullWithHelloRetryRequest);
    row.resumed = kind == Some(HandshakeKind::Resumed);
}

/// Records flights and round trips.
pub fn note_timeline(timeline: &Timeline, row: &mut Row) {
    let (sent, received) = timeline.flights();
    (row.sent_bytes, row.sent_pieces) = (sent.bytes, sent.pieces);
    (row.received_bytes, row.received_pieces) = (received.bytes, received.pieces);
    row.round_trips = timeline.complete_ns().and_then(|_| timeline.round_trips());
}

/// Records the round trips beyond those that the protocol needs and those that Retry and
/// HelloRetryRequest explain.
pub fn note_extra(row: &mut Row, expected: u32) {
    let explained = expected + row.retries + u32::from(row.hello_retry_request);
    row.extra_round_trips = row.round_trips.map(|count| count.saturating_sub(explained));
}
