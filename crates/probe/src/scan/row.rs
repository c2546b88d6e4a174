use crate::{FailureClass, HttpsRecord, Row};
use serde::Serialize;
use std::net::IpAddr;

/// The row of one name. What was not tried, or not reached, is null.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)] // spec/probe.md documents each field.
pub struct ScanRow {
    pub event: &'static str,
    pub vantage: Option<String>,
    pub name: String,
    pub host: String,
    pub port: u16,
    pub www_tried: bool,
    pub at_unix_us: u64,
    pub dns_us: Option<u64>,
    pub address: Option<IpAddr>,
    pub address6: Option<IpAddr>,
    pub cnames: Option<Vec<String>>,
    pub ipv6: Option<bool>,
    pub ipv6_reached: Option<bool>,
    pub ipv6_failure: Option<FailureClass>,
    pub https_record: Option<bool>,
    pub https_record_h3: Option<bool>,
    pub https_record_ech: Option<bool>,
    pub tls_version: Option<String>,
    pub tls13: Option<bool>,
    pub http2: Option<bool>,
    pub http_status: Option<u16>,
    pub alt_svc_h3: Option<bool>,
    pub server: Option<String>,
    pub key_exchange: Option<String>,
    pub post_quantum: Option<bool>,
    pub certificate_bytes: Option<u64>,
    pub tcp_handshake_us: Option<u64>,
    pub tls_handshake_us: Option<u64>,
    pub quic: Option<bool>,
    pub quic_handshake_us: Option<u64>,
    pub quic_versions_offered: Vec<String>,
    pub quic_failure: Option<FailureClass>,
    pub quic_failure_detail: Option<String>,
    pub skipped: Option<&'static str>,
    pub failure: Option<FailureClass>,
    pub failure_detail: Option<String>,
}

impl ScanRow {
    pub(super) fn new(name: &str, host: String, port: u16, vantage: Option<String>) -> Self {
        Self {
            event: "scan",
            vantage,
            name: name.into(),
            host,
            port,
            ..Self::default()
        }
    }

    /// Returns the rank of a name's hosts in a comparison: TLS 1.3, TLS, an address, nothing.
    pub(super) fn rank(&self) -> u8 {
        match (self.tls13, &self.tls_version, self.address) {
            (Some(true), ..) => 3,
            (_, Some(_), _) => 2,
            (.., Some(_)) => 1,
            _ => 0,
        }
    }

    pub(super) fn note_https(&mut self, records: &[HttpsRecord]) {
        let speaks = |record: &HttpsRecord| record.alpn.iter().any(|name| is_h3(name));
        self.https_record = Some(!records.is_empty());
        self.https_record_h3 = Some(records.iter().any(speaks));
        self.https_record_ech = Some(records.iter().any(|record| record.has_ech));
    }

    /// Records an attempt over TCP, even a failed one: a certificate is refused after the version
    /// and the key exchange were agreed on.
    pub(super) fn note_tls(&mut self, row: Row) {
        self.tcp_handshake_us = row.tcp_handshake_us;
        self.tls_handshake_us = row.tls_handshake_us;
        self.tls13 = row.version.as_deref().map(|version| version == "TLSv1_3");
        self.post_quantum = row.key_exchange_kind.map(|kind| kind == "post-quantum");
        self.http2 = row.http_version.map(|version| version == "h2");
        self.alt_svc_h3 = row.http_status.map(|_| offers_h3(row.alt_svc.as_deref()));
        self.http_status = row.http_status;
        self.server = row.server;
        self.tls_version = row.version;
        self.key_exchange = row.key_exchange;
        self.certificate_bytes = row.certificate_bytes;
        self.failure = row.failure;
        self.failure_detail = row.failure_detail;
    }

    pub(super) fn note_quic(&mut self, row: Row) {
        let is_spoken = row.failure.is_none()
            || row.quic_handshake_us.is_some()
            || row.failure == Some(FailureClass::Certificate);
        self.quic = Some(is_spoken);
        self.quic_handshake_us = row.quic_handshake_us;
        self.quic_versions_offered = row.versions_offered;
        if self.post_quantum.is_none() {
            self.post_quantum = row.key_exchange_kind.map(|kind| kind == "post-quantum");
            self.key_exchange = row.key_exchange;
        }
        self.quic_failure = row.failure;
        self.quic_failure_detail = row.failure_detail;
    }
}

/// Returns whether the field `Alt-Svc` announces HTTP/3 (RFC 7838, section 3; RFC 9114, section
/// 3.1.1).
fn offers_h3(alt_svc: Option<&str>) -> bool {
    let services = alt_svc.unwrap_or_default().split([',', ';']);
    services
        .filter_map(|service| service.split_once('='))
        .any(|(name, _)| is_h3(name.trim()))
}

/// Returns whether a protocol is HTTP/3, or one of its drafts.
fn is_h3(name: &str) -> bool {
    name == "h3" || name.starts_with("h3-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alt_svc_names_h3_among_others() {
        for (field, expected) in [
            (r#"h3=":443"; ma=2592000,h3-29=":443""#, true),
            (r#"h2=":443", h3-29=":443"; ma=60"#, true),
            (r#"h2="h3:443""#, false),
            ("clear", false),
        ] {
            assert_eq!(offers_h3(Some(field)), expected, "{field}");
        }
        assert!(!offers_h3(None));
    }
}
