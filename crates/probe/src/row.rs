//! One attempt's row (`spec/probe.md`); a pure record.

use crate::{Answer, Failure, FailureClass, Protocol};
use serde::Serialize;
use std::net::IpAddr;

/// One attempt. Durations are in microseconds, and null if the step was not reached.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)] // spec/probe.md documents each field.
pub struct Row {
    pub event: &'static str,
    pub vantage: Option<String>,
    pub host: String,
    pub port: u16,
    pub path: String,
    pub protocol: Protocol,
    pub attempt: u32,
    pub order: u32,
    pub at_unix_us: u64,
    pub at_ns: u64,
    pub address: Option<IpAddr>,
    pub cnames: Option<Vec<String>>,
    pub local_port: Option<u16>,
    pub dns_us: Option<u64>,
    pub tcp_handshake_us: Option<u64>,
    pub tls_handshake_us: Option<u64>,
    pub quic_handshake_us: Option<u64>,
    pub connection_us: Option<u64>,
    pub first_request_byte_us: Option<u64>,
    pub first_byte_us: Option<u64>,
    pub rtt_us: Option<u64>,
    pub round_trips: Option<u32>,
    pub extra_round_trips: Option<u32>,
    pub http_status: Option<u16>,
    pub http_version: Option<&'static str>,
    pub alt_svc: Option<String>,
    pub server: Option<String>,
    pub version: Option<String>,
    pub cipher: Option<String>,
    pub key_exchange: Option<String>,
    pub key_exchange_kind: Option<&'static str>,
    pub certificate_bytes: Option<u64>,
    pub sent_bytes: u64,
    pub sent_pieces: u64,
    pub received_bytes: u64,
    pub received_pieces: u64,
    pub syn_retransmits: Option<u32>,
    pub retries: u32,
    pub hello_retry_request: bool,
    pub version_negotiation: bool,
    pub versions_offered: Vec<String>,
    pub first_of_pair: bool,
    pub resumption_offered: bool,
    pub resumed: bool,
    pub early_data_offered: bool,
    pub early_data_accepted: bool,
    pub split_connection: bool,
    pub crypto_us: u64,
    pub stamp_delay_us: Option<f64>,
    pub kernel_stamps: bool,
    pub failure: Option<FailureClass>,
    pub failure_detail: Option<String>,
    #[serde(skip)]
    pub answer: Option<Answer>,
    /// The reason why a later attempt has no session to resume.
    #[serde(skip)]
    pub no_session: Option<Failure>,
}

/// The server's answer, in a line after its row's.
#[derive(Debug, Serialize)]
pub struct AnswerLine<'a> {
    event: &'static str,
    host: &'a str,
    port: u16,
    path: &'a str,
    protocol: Protocol,
    attempt: u32,
    order: u32,
    address: Option<IpAddr>,
    #[serde(flatten)]
    answer: &'a Answer,
}

impl Row {
    /// Creates a row of an attempt that has not begun.
    pub fn new(host: &str, port: u16, path: &str, protocol: Protocol) -> Self {
        Self {
            event: "attempt",
            vantage: None,
            host: host.into(),
            port,
            path: path.into(),
            protocol,
            attempt: 0,
            order: 0,
            at_unix_us: 0,
            at_ns: 0,
            address: None,
            cnames: None,
            local_port: None,
            dns_us: None,
            tcp_handshake_us: None,
            tls_handshake_us: None,
            quic_handshake_us: None,
            connection_us: None,
            first_request_byte_us: None,
            first_byte_us: None,
            rtt_us: None,
            round_trips: None,
            extra_round_trips: None,
            http_status: None,
            http_version: None,
            alt_svc: None,
            server: None,
            version: None,
            cipher: None,
            key_exchange: None,
            key_exchange_kind: None,
            certificate_bytes: None,
            sent_bytes: 0,
            sent_pieces: 0,
            received_bytes: 0,
            received_pieces: 0,
            syn_retransmits: None,
            retries: 0,
            hello_retry_request: false,
            version_negotiation: false,
            versions_offered: Vec::new(),
            first_of_pair: false,
            resumption_offered: false,
            resumed: false,
            early_data_offered: false,
            early_data_accepted: false,
            split_connection: false,
            crypto_us: 0,
            stamp_delay_us: None,
            kernel_stamps: false,
            failure: None,
            failure_detail: None,
            answer: None,
            no_session: None,
        }
    }

    /// Returns the answer's line, if one was kept.
    pub fn answer_line(&self) -> Option<AnswerLine<'_>> {
        Some(AnswerLine {
            event: "answer",
            host: &self.host,
            port: self.port,
            path: &self.path,
            protocol: self.protocol,
            attempt: self.attempt,
            order: self.order,
            address: self.address,
            answer: self.answer.as_ref()?,
        })
    }

    /// Records why the attempt failed.
    pub fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure.class);
        self.failure_detail = Some(failure.detail);
    }
}

/// Returns the kind of a key exchange group by its name, which contains ML-KEM's for hybrids.
pub fn key_exchange_kind(name: &str) -> &'static str {
    if name.contains("MLKEM") {
        "post-quantum"
    } else {
        "classical"
    }
}
