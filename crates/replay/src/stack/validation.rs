//! Validates stacks: refuses what cannot be served.

use super::limits::{self, BLOCKED_STREAMS_MAX, HPACK_TABLE_BYTES_MAX, QPACK_TABLE_BYTES_MAX};
use super::{
    CertificateCompression, ChainBytes, Discovery, HintedObjects, HttpVersion, SproutHorizon,
    StackConfig, ThinkTime, TlsVersion,
};
use crate::ReplayError;
use eyelevel_congestion::by_name;

/// The congestion controls of the kernel's TCP; the others exist for QUIC alone.
const TCP_CONGESTION_CONTROLS: [&str; 3] = ["cubic", "bbr", "reno"];

/// Returns whether the kernel's TCP has this controller.
pub(super) fn is_of_kernel(congestion_control: &str) -> bool {
    TCP_CONGESTION_CONTROLS.contains(&congestion_control)
}

fn header_table_bytes_max(http: HttpVersion) -> u32 {
    match http {
        HttpVersion::H1 => 0,
        HttpVersion::H2 => HPACK_TABLE_BYTES_MAX,
        HttpVersion::H3 => QPACK_TABLE_BYTES_MAX,
    }
}

impl StackConfig {
    /// Refuses a stack that cannot be served, before any socket is created.
    ///
    /// # Errors
    /// [`ReplayError::Stack`] with the first setting that is wrong.
    pub fn validate(&self) -> Result<(), ReplayError> {
        self.validate_sizes()
            .and_then(|()| self.validate_protocol())
            .map_err(|reason| ReplayError::Stack {
                stack: self.name.clone(),
                reason,
            })
    }

    fn validate_sizes(&self) -> Result<(), String> {
        let chain_bytes = match self.certificate_chain_bytes {
            Some(ChainBytes::Given(bytes)) => Some(bytes.into()),
            _ => None,
        };
        let think_ms = match self.think_time {
            ThinkTime::Ms(ms) => Some(ms),
            ThinkTime::Named(_) => None,
        };
        let sizes = [
            ("quic_packet_bytes", Some(self.quic_packet_bytes.into())),
            ("tls_record_bytes", Some(self.tls_record_bytes as f64)),
            (
                "initial_window_packets",
                Some(self.initial_window_packets.into()),
            ),
            (
                "receive_window_bytes",
                self.receive_window_bytes.map(f64::from),
            ),
            ("unsent_bytes_max", self.unsent_bytes_max.map(f64::from)),
            ("certificate_chain_bytes", chain_bytes),
            ("think_time", think_ms),
            ("probe_gain", self.probe_gain),
        ];
        sizes
            .into_iter()
            .try_for_each(|(setting, value)| limits::check(setting, value))
    }

    fn validate_protocol(&self) -> Result<(), String> {
        let (http, tls) = (self.http_version, self.tls_version);
        if http == HttpVersion::H3 && tls != TlsVersion::Tls13 {
            return Err("QUIC has TLS 1.3 only: set tls_version to \"1.3\"".into());
        }
        if http == HttpVersion::H2 && tls == TlsVersion::None {
            return Err("browsers speak HTTP/2 over TLS only: set tls_version, or use h1".into());
        }
        if self.early_data && tls != TlsVersion::Tls13 {
            return Err("early data needs TLS 1.3: set tls_version to \"1.3\"".into());
        }
        if self.certificate_compression != CertificateCompression::None && tls != TlsVersion::Tls13
        {
            return Err(
                "certificates are compressed in TLS 1.3 alone: set tls_version to \"1.3\", or \
                        leave certificate_compression out"
                    .into(),
            );
        }
        if self.alt_svc.is_some() && http != HttpVersion::H3 {
            return Err(
                "alt_svc is HTTP/3's: over TCP it would lead the browser to another protocol; \
                        leave it out"
                    .into(),
            );
        }
        if self.discovery == Discovery::AltSvc {
            if http != HttpVersion::H3 {
                return Err("discovery is HTTP/3's: leave it out".into());
            }
            if self.alt_svc == Some(false) {
                return Err(
                    "clients cannot find HTTP/3 by Alt-Svc without it: set alt_svc to true, \
                            or discovery to \"known\""
                        .into(),
                );
            }
        }
        if self.early_hints == HintedObjects::Auto && http == HttpVersion::H1 {
            return Err("browsers ignore Early Hints over HTTP/1.1: leave early_hints out".into());
        }
        self.validate_tables()?;
        if http != HttpVersion::H3 && !is_of_kernel(&self.congestion_control) {
            return Err(format!(
                "the kernel's TCP has no {:?}: use one of {TCP_CONGESTION_CONTROLS:?}, or h3",
                self.congestion_control
            ));
        }
        if self.probe_gain.is_some() && !self.congestion_control.starts_with("sprout") {
            return Err("probe_gain is Sprout-EWMA's: leave it out".into());
        }
        if self.sprout_horizon != SproutHorizon::Max && self.congestion_control != "sprout_ewma" {
            return Err("sprout_horizon is Sprout-EWMA's: leave it out".into());
        }
        by_name(&self.congestion_control, &self.congestion_settings())
            .map(|_| ())
            .map_err(|error| error.to_string())
    }

    fn validate_tables(&self) -> Result<(), String> {
        let http = self.http_version;
        let table_bytes = self.header_table_bytes.unwrap_or_default();
        let blocked = self.blocked_streams_max.unwrap_or_default();
        let bytes_max = header_table_bytes_max(http);
        if http == HttpVersion::H1 && self.header_table_bytes.is_some() {
            return Err("HTTP/1.1 compresses no header: leave header_table_bytes out".into());
        }
        if table_bytes > bytes_max {
            return Err(format!(
                "header_table_bytes is {table_bytes}, over {} it must be at most {bytes_max}",
                http.protocol()
            ));
        }
        if http != HttpVersion::H3 && self.blocked_streams_max.is_some() {
            return Err("blocked_streams_max is QPACK's, of h3: leave it out".into());
        }
        if blocked > BLOCKED_STREAMS_MAX {
            return Err(format!(
                "blocked_streams_max is {blocked}, it must be at most {BLOCKED_STREAMS_MAX}: a \
                 connection has no more requests at once"
            ));
        }
        Ok(())
    }
}
