use crate::ReplayError;
use serde::{Deserialize, Serialize};

/// A protocol stack as `spec/lab-events.md` defines it: what the servers speak and how they send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StackConfig {
    /// The preset's or plan's name, for messages.
    pub name: String,
    /// The one protocol that the servers speak on secure ports.
    pub http_version: HttpVersion,
    /// The oldest and only TLS version that is offered over TCP; QUIC always has 1.3.
    #[serde(default)]
    pub tls_version: TlsVersion,
    /// `cubic`, `bbr`, `reno`: set per socket over TCP, ours over QUIC.
    pub congestion_control: String,
    /// The servers' congestion window at the start, in full packets.
    pub initial_window_packets: u32,
    /// Whether packets are spread over the round trip.
    pub pacing: bool,
    /// A sysctl of the namespace: not this crate's to set, kept for the record.
    pub slow_start_after_idle: bool,
    /// Sysctls of the namespace: not this crate's to set, kept for the record.
    pub buffer_bytes_max: Option<u64>,
    /// Largest TLS record that the servers write, in bytes.
    pub tls_record_bytes: usize,
    /// UDP payload of a full QUIC packet, in bytes.
    pub quic_packet_bytes: u16,
}

/// The HTTP version of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HttpVersion {
    /// HTTP/1.1 over TLS (RFC 9112).
    H1,
    /// HTTP/2 over TLS (RFC 9113).
    H2,
    /// HTTP/3 over QUIC (RFC 9114).
    H3,
}

impl HttpVersion {
    /// The name in the TLS extension ALPN.
    pub fn alpn(self) -> &'static [u8] {
        self.protocol().as_bytes()
    }

    /// The name in events and in DevTools: also the registered ALPN name.
    pub fn protocol(self) -> &'static str {
        match self {
            Self::H1 => "http/1.1",
            Self::H2 => "h2",
            Self::H3 => "h3",
        }
    }
}

/// The TLS version of a stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TlsVersion {
    /// TLS 1.2 (RFC 5246).
    #[serde(rename = "1.2")]
    Tls12,
    /// TLS 1.3 (RFC 8446).
    #[default]
    #[serde(rename = "1.3")]
    Tls13,
}

/// RFC 9000, section 14: no path of QUIC may carry less.
const QUIC_PACKET_BYTES_MIN: u16 = 1200;
/// What an Ethernet frame holds after the headers of IPv6 and UDP.
const QUIC_PACKET_BYTES_MAX: u16 = 1452;
/// The range of `max_fragment_size` in rustls, less its five header bytes: RFC 8446, section 5.1.
const TLS_RECORD_BYTES: std::ops::RangeInclusive<usize> = 64..=16_384;
/// Beyond this a window is a mistake of units: 10,000 packets are 14 MB.
const INITIAL_WINDOW_PACKETS: std::ops::RangeInclusive<u32> = 1..=10_000;

impl StackConfig {
    /// Refuses what cannot be served, before any socket is made.
    ///
    /// # Errors
    /// [`ReplayError::Stack`] with the first setting that is wrong.
    pub fn validate(&self) -> Result<(), ReplayError> {
        let refuse = |reason: String| {
            Err(ReplayError::Stack {
                stack: self.name.clone(),
                reason,
            })
        };
        let quic = QUIC_PACKET_BYTES_MIN..=QUIC_PACKET_BYTES_MAX;
        if !quic.contains(&self.quic_packet_bytes) {
            return refuse(format!(
                "quic_packet_bytes is {}, it must be within {quic:?}",
                self.quic_packet_bytes
            ));
        }
        if !TLS_RECORD_BYTES.contains(&self.tls_record_bytes) {
            return refuse(format!(
                "tls_record_bytes is {}, it must be within {TLS_RECORD_BYTES:?}",
                self.tls_record_bytes
            ));
        }
        if !INITIAL_WINDOW_PACKETS.contains(&self.initial_window_packets) {
            return refuse(format!(
                "initial_window_packets is {}, it must be within {INITIAL_WINDOW_PACKETS:?}",
                self.initial_window_packets
            ));
        }
        if self.http_version == HttpVersion::H3 && self.tls_version == TlsVersion::Tls12 {
            return refuse("QUIC has TLS 1.3 only: set tls_version to \"1.3\"".into());
        }
        Ok(())
    }
}
