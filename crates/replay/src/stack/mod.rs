mod limits;
mod validation;

use eyelevel_congestion::Settings;
pub(crate) use limits::CERTIFICATE_CHAIN_BYTES_MAX;
use limits::{BLOCKED_STREAMS_MAX, HPACK_TABLE_BYTES_MAX, QUIC_PACKET_BYTES};
pub use limits::{Limit, STACK_LIMITS};
use serde::{Deserialize, Serialize};

/// A protocol stack as `spec/lab-events.md` defines it: the servers' protocol and how they send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StackConfig {
    /// The preset's or plan's name, for messages.
    pub name: String,
    /// The protocol on secure ports.
    pub http_version: HttpVersion,
    /// The only TLS version offered over TCP, or none; QUIC always has 1.3.
    #[serde(default)]
    pub tls_version: TlsVersion,
    /// The congestion control: `cubic`, `bbr` or `reno`, set per socket, over TCP; any of ours over
    /// QUIC.
    pub congestion_control: String,
    /// The factor above Sprout-EWMA's window; `None`: 1.0, the published algorithm.
    #[serde(default)]
    pub probe_gain: Option<f64>,
    /// Sprout-EWMA's horizon: Das's code uses the larger of 100 ms and the smallest round trip
    /// time, his text the smaller.
    #[serde(default)]
    pub sprout_horizon: SproutHorizon,
    /// The servers' initial congestion window, in full packets.
    pub initial_window_packets: u32,
    /// Whether packets are spread over the round trip.
    pub pacing: bool,
    /// Whether idle connections restart in slow start: a sysctl of the namespace, which this crate
    /// does not set and keeps for the record.
    pub slow_start_after_idle: bool,
    /// Whether packets are ECN-capable, to be marked instead of dropped (RFC 3168, RFC 9000 section
    /// 13.4). Over TCP the namespace's sysctl, over QUIC each socket's option.
    #[serde(default)]
    pub ecn: Ecn,
    /// The initial receive window of TCP, by sysctls of the namespace, which this crate does not
    /// set; `None`: the kernel's.
    pub receive_window_bytes: Option<u32>,
    /// Bytes that may be granted by the response scheduler and not yet sent, whether the protocol,
    /// TLS, the kernel or the QUIC stack holds them; `None`: the transport's own bounds alone.
    #[serde(default)]
    pub unsent_bytes_max: Option<u32>,
    /// Largest TLS record that the servers write, in bytes.
    pub tls_record_bytes: usize,
    /// UDP payload of a full QUIC packet, in bytes.
    pub quic_packet_bytes: u16,
    /// The size of the dynamic tables of HPACK or QPACK, for requests and for responses; 0: unused.
    /// `None`: 4096, and no table over HTTP/1.1, which compresses no header.
    #[serde(default)]
    pub header_table_bytes: Option<u32>,
    /// Streams that may be blocked on inserts into QPACK's tables, HTTP/3 only; `None`: 100.
    #[serde(default)]
    pub blocked_streams_max: Option<u32>,
    /// Whether sessions may be resumed with data in the first flight (RFC 8446, section 2.3).
    #[serde(default)]
    pub early_data: bool,
    /// Whether servers issue session tickets; without, as on a first visit, no connection is
    /// resumed.
    #[serde(default = "default_true")]
    pub session_tickets: bool,
    /// Whether the browser's priorities decide the order of responses; else all share equally.
    #[serde(default = "default_true")]
    pub priorities: bool,
    /// The key exchange that the servers take part in.
    #[serde(default)]
    pub key_exchange: KeyExchange,
    /// The key of the certificates.
    #[serde(default)]
    pub certificate_key: CertificateKey,
    /// Bytes of the certificate chain, reached by padding; `None`: unpadded.
    #[serde(default)]
    pub certificate_chain_bytes: Option<ChainBytes>,
    /// The compression of certificates for clients that offer it (RFC 8879), TLS 1.3 only.
    #[serde(default)]
    pub certificate_compression: CertificateCompression,
    /// Whether certificates carry all recorded names, so that connections coalesce as they did;
    /// else each carries its host's alone.
    #[serde(default = "default_true")]
    pub coalescing: bool,
    /// The delay before each response.
    #[serde(default)]
    pub think_time: ThinkTime,
    /// Whether responses over HTTP/3 announce it for their origin (RFC 7838), as real servers do;
    /// HTTP/3 only, where `None` means true.
    #[serde(default)]
    pub alt_svc: Option<bool>,
    /// Whether clients use HTTP/3 from the start or find it over HTTP/2.
    #[serde(default)]
    pub discovery: Discovery,
    /// Which objects a 103 names before the page's response, over HTTP/2 and HTTP/3.
    #[serde(default)]
    pub early_hints: HintedObjects,
}

fn default_true() -> bool {
    true
}

/// How clients get to HTTP/3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discovery {
    /// From the start: secure origins have QUIC alone.
    #[default]
    Known,
    /// By Alt-Svc (RFC 7838): secure origins also have HTTP/2 over TCP, and all responses name HTTP/3.
    AltSvc,
}

/// Which objects Early Hints name (RFC 8297).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HintedObjects {
    /// None: there is no 103.
    #[default]
    None,
    /// The recording's render-blocking objects of the page's own origin.
    Auto,
}

/// Whether packets may be marked instead of dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ecn {
    /// Every packet is Not-ECT.
    #[default]
    Off,
    /// Data are ECT(0), and the congestion control handles marks.
    On,
}

/// The key exchange groups of the servers, in the order of their preference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyExchange {
    /// X25519MLKEM768, which is safe from quantum computers and takes 1,088 bytes more of the
    /// server's first flight; else X25519 or P-256.
    #[default]
    Hybrid,
    /// X25519 or P-256.
    Classical,
}

/// The algorithm that compresses certificates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CertificateCompression {
    /// None: certificates are sent as they are.
    #[default]
    None,
    /// Brotli, which Chromium offers.
    Brotli,
}

/// The key of the certificates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CertificateKey {
    /// ECDSA with P-256.
    #[default]
    Ecdsa,
    /// RSA with 2048 bits.
    Rsa,
}

/// The size of certificate chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ChainBytes {
    /// The same size for all hosts, in bytes.
    Given(u32),
    /// `recorded`.
    Named(NamedChainBytes),
}

/// A named size of certificate chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NamedChainBytes {
    /// The size of each host's recorded chain; unpadded if that is unknown or shorter.
    Recorded,
}

/// Sprout-EWMA's horizon: which of 100 ms and the smallest round trip time it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SproutHorizon {
    /// The larger, as in Das's code.
    #[default]
    Max,
    /// The smaller, as in his text.
    Min,
}

/// The delay of a server before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ThinkTime {
    /// `none` or `recorded`.
    Named(NamedThinkTime),
    /// A delay for every response, in milliseconds.
    Ms(f64),
}

/// A named think time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NamedThinkTime {
    /// No delay, as in the papers.
    None,
    /// The excess of the recorded time to first byte over the origin's smallest, which estimates
    /// its round trip.
    Recorded,
}

impl Default for ThinkTime {
    fn default() -> Self {
        Self::Named(NamedThinkTime::None)
    }
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
    /// Returns the name in the TLS extension ALPN.
    pub fn alpn(self) -> &'static [u8] {
        self.protocol().as_bytes()
    }

    /// Returns the name in events and in DevTools, which is the registered ALPN name.
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
    /// Cleartext, HTTP/1.1 alone.
    #[serde(rename = "none")]
    None,
    /// TLS 1.2 (RFC 5246).
    #[serde(rename = "1.2")]
    Tls12,
    /// TLS 1.3 (RFC 8446).
    #[default]
    #[serde(rename = "1.3")]
    Tls13,
}

/// The default table size (RFC 9113, section 6.5.2).
const HEADER_TABLE_BYTES: u32 = 4096;

impl StackConfig {
    /// Returns a stack tuned as `tcp+` and `quic` are.
    pub fn tuned(name: &str, http_version: HttpVersion) -> Self {
        Self {
            name: name.into(),
            http_version,
            tls_version: TlsVersion::Tls13,
            congestion_control: "cubic".into(),
            probe_gain: None,
            sprout_horizon: SproutHorizon::Max,
            initial_window_packets: 32,
            pacing: true,
            slow_start_after_idle: false,
            ecn: Ecn::Off,
            receive_window_bytes: None,
            unsent_bytes_max: None,
            tls_record_bytes: 4096,
            quic_packet_bytes: *QUIC_PACKET_BYTES.end(),
            header_table_bytes: None,
            blocked_streams_max: None,
            early_data: false,
            session_tickets: true,
            priorities: true,
            key_exchange: KeyExchange::Hybrid,
            certificate_key: CertificateKey::Ecdsa,
            certificate_chain_bytes: None,
            certificate_compression: CertificateCompression::None,
            coalescing: true,
            think_time: ThinkTime::default(),
            alt_svc: None,
            discovery: Discovery::Known,
            early_hints: HintedObjects::None,
        }
    }

    /// Returns whether secure origins have HTTP/2 over TCP beside HTTP/3.
    pub(crate) fn is_discovered(&self) -> bool {
        self.http_version == HttpVersion::H3 && self.discovery == Discovery::AltSvc
    }

    /// Returns the stack of the TCP listeners: beside QUIC's it is HTTP/2, with the settings that the
    /// kernel's TCP and HPACK have.
    pub(crate) fn over_tcp(&self) -> Self {
        if self.http_version != HttpVersion::H3 {
            return self.clone();
        }
        let has_controller = validation::is_of_kernel(&self.congestion_control);
        Self {
            http_version: HttpVersion::H2,
            congestion_control: if has_controller {
                self.congestion_control.clone()
            } else {
                "cubic".into()
            },
            header_table_bytes: self
                .header_table_bytes
                .map(|bytes| bytes.min(HPACK_TABLE_BYTES_MAX)),
            blocked_streams_max: None,
            alt_svc: None,
            discovery: Discovery::Known,
            probe_gain: None,
            sprout_horizon: SproutHorizon::Max,
            ..self.clone()
        }
    }

    /// Returns whether responses announce the alternative service of their origin.
    pub(crate) fn announces_alt_svc(&self) -> bool {
        self.http_version == HttpVersion::H3 && self.alt_svc.unwrap_or(true)
    }

    /// Returns the size of each dynamic table of HPACK or QPACK; 0 if unused.
    pub fn header_table(&self) -> u32 {
        match self.http_version {
            HttpVersion::H1 => 0,
            _ => self.header_table_bytes.unwrap_or(HEADER_TABLE_BYTES),
        }
    }

    /// Returns the number of streams that may be blocked on inserts into QPACK's tables.
    pub fn blocked_streams(&self) -> u32 {
        match self.http_version {
            HttpVersion::H3 => self.blocked_streams_max.unwrap_or(BLOCKED_STREAMS_MAX),
            _ => 0,
        }
    }

    /// Returns the settings of our controllers.
    pub(crate) fn congestion_settings(&self) -> Settings {
        let defaults = Settings::default();
        Settings {
            packet_bytes: self.quic_packet_bytes.into(),
            initial_window_packets: self.initial_window_packets.into(),
            pacing: self.pacing,
            slow_start_after_idle: self.slow_start_after_idle,
            sprout_probe_gain: self.probe_gain.unwrap_or(defaults.sprout_probe_gain),
            sprout_horizon_min: self.sprout_horizon == SproutHorizon::Min,
            ..defaults
        }
    }
}
