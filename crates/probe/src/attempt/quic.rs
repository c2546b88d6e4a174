use super::note::{note_extra, note_key_exchange, note_kind, note_timeline};
use super::{Connection, no_ticket, timed_out, unspecified};
use crate::protocol::QUIC_V2;
use crate::quic::{QuicAttempt, QuicOutcome, connect};
use crate::tls::client_config;
use crate::{Failure, FailureClass, Row};
use std::sync::Arc;
use tokio::net::UdpSocket;
use tokio::time::timeout_at;

/// Makes a QUIC connection and sends the request over it.
///
/// # Errors
/// The class and a description.
pub async fn over_quic(connection: Connection<'_>, row: &mut Row) -> Result<(), Failure> {
    let plan = connection.plan;
    let version = plan.protocol.quic_version().unwrap_or(1);
    let bound = unspecified(plan.address, plan.local_port.unwrap_or(0));
    let local = |error: std::io::Error| Failure::from_socket(&error, FailureClass::Local);
    let socket = UdpSocket::bind(bound).await.map_err(local)?;
    socket.connect(plan.address).await.map_err(local)?;
    // Until its readiness is known, tokio's socket refuses to send.
    socket.writable().await.map_err(local)?;
    row.local_port = socket.local_addr().ok().map(|address| address.port());
    let early = row.resumption_offered && plan.early_data;
    let tls = client_config(
        connection.trust,
        plan.protocol,
        &[b"h3"],
        connection.session,
        early,
    )
    .map_err(|error| Failure::new(FailureClass::Local, error))?;
    let quic = QuicAttempt {
        socket,
        address: plan.address,
        server_name: plan.host.trim_matches(['[', ']']),
        version,
        tls: Arc::new(tls),
        request: plan.request.as_ref(),
        early_data: early,
        needs_ticket: connection.is_first,
        keeps_answer: plan.keeps_answer,
    };
    let mut outcome = QuicOutcome::default();
    let result = timeout_at(connection.deadline, connect(&quic, &mut outcome)).await;
    // The ClientHello is built before the clock starts, as for TLS over TCP.
    row.at_ns = outcome.timeline.first_sent_ns().unwrap_or(row.at_ns);
    note_quic(&outcome, version, row);
    row.answer = outcome.answer.take();
    let lacks_ticket = connection.is_first && outcome.is_answered && outcome.facts.tickets == 0;
    row.no_session = lacks_ticket.then(no_ticket);
    result.unwrap_or_else(|_| {
        if outcome.is_answered {
            return Ok(());
        }
        let class = match outcome.completing {
            Some(_) => FailureClass::HttpTimeout,
            None => FailureClass::QuicTimeout,
        };
        Err(timed_out(class, plan))
    })
}

fn note_quic(outcome: &QuicOutcome, version: u32, row: &mut Row) {
    let began_ns = row.at_ns;
    let since = |at_ns: u64| at_ns.saturating_sub(began_ns) / 1000;
    row.crypto_us = outcome.facts.crypto_ns / 1000;
    row.retries = u32::from(outcome.facts.is_retried);
    row.version_negotiation = outcome.versions.is_some();
    let offered = outcome.versions.iter().flatten();
    row.versions_offered = offered.map(|version| format!("{version:#010x}")).collect();
    row.early_data_offered = outcome.early_data_offered;
    row.early_data_accepted = outcome.early_data_accepted;
    row.first_request_byte_us = outcome.first_request_byte_ns.map(since);
    row.first_byte_us = outcome.first_byte_ns.map(since);
    if let Some(head) = &outcome.head {
        row.http_status = Some(head.status);
        row.http_version = Some("h3");
        (row.alt_svc, row.server) = (head.alt_svc.clone(), head.server.clone());
    }
    row.cipher = outcome.facts.cipher.map(|cipher| format!("{cipher:?}"));
    note_key_exchange(row, outcome.facts.key_exchange.clone());
    note_kind(row, outcome.facts.kind);
    row.certificate_bytes = outcome.facts.certificate_bytes;
    note_timeline(&outcome.timeline, row);
    row.rtt_us = outcome.timeline.first_answer_ns().map(|ns| ns / 1000);
    if let (Some(complete_ns), Some(completing)) =
        (outcome.timeline.complete_ns(), outcome.completing)
    {
        let own_ns = outcome.timeline.own_delay_ns();
        row.quic_handshake_us = Some(since(complete_ns - own_ns));
        row.connection_us = row.quic_handshake_us;
        row.kernel_stamps = completing.stamped;
        let late_ns = own_ns + completing.read_ns - completing.at_ns;
        row.stamp_delay_us = Some(late_ns as f64 / 1000.0);
        row.version = Some(if version == QUIC_V2 { "2" } else { "1" }.into());
        note_extra(row, 1);
    }
}
