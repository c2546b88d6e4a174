//! What of a stack cannot be served, and the bounds of its sizes.

use super::{
    BLOCKED_STREAMS_MAX, ChainBytes, HttpVersion, QUIC_PACKET_BYTES_MAX, SproutHorizon,
    StackConfig, ThinkTime, TlsVersion,
};
use crate::ReplayError;
use eyelevel_congestion::by_name;

/// RFC 9000, section 14: no path of QUIC may carry less.
const QUIC_PACKET_BYTES_MIN: u16 = 1200;
/// The range of `max_fragment_size` in rustls, less its five header bytes: RFC 8446, section 5.1.
const TLS_RECORD_BYTES: std::ops::RangeInclusive<usize> = 64..=16_384;
/// From what keeps two full packets ready to as much as no socket holds.
const UNSENT_BYTES: std::ops::RangeInclusive<u32> = 4096..=16 * 1024 * 1024;
/// Beyond this chain RFC 8446's certificate message, with names and entries, would pass what
/// clients take (64 kB in BoringSSL).
pub(crate) const CERTIFICATE_CHAIN_BYTES_MAX: u32 = 60_000;
/// A longer think time outlives every browser's patience.
const THINK_TIME_MS_MAX: f64 = 60_000.0;
/// What a kernel's TCP can be told; the other controllers exist for QUIC alone.
const TCP_CONGESTION_CONTROLS: [&str; 3] = ["cubic", "bbr", "reno"];
/// Beyond this a window is a mistake of units: 10,000 packets are 14 MB.
const INITIAL_WINDOW_PACKETS: std::ops::RangeInclusive<u32> = 1..=10_000;

/// h2's HPACK encoder has no larger table; for QPACK what Chromium offers.
fn header_table_bytes_max(http: HttpVersion) -> u32 {
    match http {
        HttpVersion::H1 => 0,
        HttpVersion::H2 => 4096,
        HttpVersion::H3 => 65_536,
    }
}

impl StackConfig {
    /// Refuses what cannot be served, before any socket is made.
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
        let quic = QUIC_PACKET_BYTES_MIN..=QUIC_PACKET_BYTES_MAX;
        if !quic.contains(&self.quic_packet_bytes) {
            return Err(format!(
                "quic_packet_bytes is {}, it must be within {quic:?}",
                self.quic_packet_bytes
            ));
        }
        if !TLS_RECORD_BYTES.contains(&self.tls_record_bytes) {
            return Err(format!(
                "tls_record_bytes is {}, it must be within {TLS_RECORD_BYTES:?}",
                self.tls_record_bytes
            ));
        }
        if !INITIAL_WINDOW_PACKETS.contains(&self.initial_window_packets) {
            return Err(format!(
                "initial_window_packets is {}, it must be within {INITIAL_WINDOW_PACKETS:?}",
                self.initial_window_packets
            ));
        }
        if let Some(bytes) = self.unsent_bytes_max
            && !UNSENT_BYTES.contains(&bytes)
        {
            return Err(format!(
                "unsent_bytes_max is {bytes}, it must be within {UNSENT_BYTES:?}"
            ));
        }
        if let Some(ChainBytes::Given(bytes)) = self.certificate_chain_bytes
            && bytes > CERTIFICATE_CHAIN_BYTES_MAX
        {
            return Err(format!(
                "certificate_chain_bytes is {bytes}, it must be at most \
                 {CERTIFICATE_CHAIN_BYTES_MAX}"
            ));
        }
        match self.think_time {
            ThinkTime::Ms(ms) if !(0.0..=THINK_TIME_MS_MAX).contains(&ms) => Err(format!(
                "think_time is {ms} ms, it must be within 0 and {THINK_TIME_MS_MAX}"
            )),
            _ => Ok(()),
        }
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
        if self.alt_svc.is_some() && http != HttpVersion::H3 {
            return Err(
                "alt_svc is HTTP/3's: over TCP it would lead the browser to another protocol; \
                        leave it out"
                    .into(),
            );
        }
        self.validate_tables()?;
        let known = TCP_CONGESTION_CONTROLS.contains(&self.congestion_control.as_str());
        if http != HttpVersion::H3 && !known {
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
