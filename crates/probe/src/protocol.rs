use rustls::SupportedProtocolVersion;
use serde::{Deserialize, Serialize};

/// The protocol of an attempt, in one literal table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Protocol {
    /// TCP's handshake alone.
    #[serde(rename = "tcp")]
    Tcp,
    /// TCP and TLS 1.2 (RFC 5246), with nothing later offered.
    #[serde(rename = "tls1.2")]
    Tls12,
    /// TCP and TLS 1.3 (RFC 8446), with nothing earlier offered.
    #[serde(rename = "tls1.3")]
    Tls13,
    /// QUIC version 1 (RFC 9000).
    #[serde(rename = "quic")]
    Quic,
    /// QUIC version 2 (RFC 9369).
    #[serde(rename = "quic-v2")]
    QuicV2,
    /// TCP and the one of TLS 1.2 and 1.3 that the server prefers: what a scan offers.
    #[serde(rename = "tls")]
    TlsAny,
}

impl Protocol {
    /// Returns the versions to offer over TCP; empty without TLS over TCP.
    pub fn tls_versions(self) -> &'static [&'static SupportedProtocolVersion] {
        static BOTH: [&SupportedProtocolVersion; 2] =
            [&rustls::version::TLS13, &rustls::version::TLS12];
        match self {
            Self::Tcp => &[],
            Self::TlsAny => &BOTH,
            Self::Tls12 => &BOTH[1..],
            Self::Tls13 | Self::Quic | Self::QuicV2 => &BOTH[..1],
        }
    }

    /// Returns the version in QUIC packets (RFC 9369, section 3.1).
    pub fn quic_version(self) -> Option<u32> {
        match self {
            Self::Quic => Some(1),
            Self::QuicV2 => Some(QUIC_V2),
            _ => None,
        }
    }
}

/// QUIC version 2's number (RFC 9369, section 3.1).
pub const QUIC_V2: u32 = 0x6b33_43cf;
