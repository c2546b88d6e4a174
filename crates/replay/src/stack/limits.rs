//! The bounds of a stack's numbers, in one table, which
//! [`StackConfig::validate`](super::StackConfig) enforces and from which plans read them
//! (`eyelevel-lab tables`).

use core::ops::RangeInclusive;
use eyelevel_congestion::{INITIAL_WINDOW_PACKETS, SPROUT_PROBE_GAIN};

/// The smallest and the largest value of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// The setting's name in configurations.
    pub setting: &'static str,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl Limit {
    /// Creates the bounds of a setting.
    pub const fn new(setting: &'static str, min: f64, max: f64) -> Self {
        Self { setting, min, max }
    }

    /// Refuses a value outside the bounds.
    fn check(&self, value: f64) -> Result<(), String> {
        let Self { setting, min, max } = self;
        if (*min..=*max).contains(&value) {
            return Ok(());
        }
        Err(format!(
            "{setting} is {value}, it must be within {min} and {max}"
        ))
    }
}

/// The packet sizes of QUIC: no path may carry less (RFC 9000, section 14), and an Ethernet frame
/// holds no more after the headers of IPv6 and UDP.
pub(super) const QUIC_PACKET_BYTES: RangeInclusive<u16> = 1200..=1452;
/// The longest chain: with it RFC 8446's certificate message, with names and entries, reaches the
/// length that clients accept (64 kB in BoringSSL).
pub(crate) const CERTIFICATE_CHAIN_BYTES_MAX: u32 = 60_000;
/// The most blocked streams, Chromium's limit; as many requests as a connection may have open.
pub(super) const BLOCKED_STREAMS_MAX: u32 = 100;
/// The largest table of h2's HPACK encoder.
pub(super) const HPACK_TABLE_BYTES_MAX: u32 = 4096;
/// The table that Chromium offers.
pub(super) const QPACK_TABLE_BYTES_MAX: u32 = 65_536;

/// The bounds of a stack's numbers.
pub const STACK_LIMITS: &[Limit] = &[
    Limit::new(
        "initial_window_packets",
        *INITIAL_WINDOW_PACKETS.start() as f64,
        *INITIAL_WINDOW_PACKETS.end() as f64,
    ),
    // From two full packets to the largest window that the kernel can scale to.
    Limit::new("receive_window_bytes", 4096.0, 268_435_456.0),
    // From the minimum that keeps two full packets ready to more than any socket holds.
    Limit::new("unsent_bytes_max", 4096.0, 16_777_216.0),
    // The range of `max_fragment_size` in rustls, less its five header bytes: RFC 8446, section 5.1.
    Limit::new("tls_record_bytes", 64.0, 16_384.0),
    Limit::new(
        "quic_packet_bytes",
        *QUIC_PACKET_BYTES.start() as f64,
        *QUIC_PACKET_BYTES.end() as f64,
    ),
    Limit::new("header_table_bytes", 0.0, QPACK_TABLE_BYTES_MAX as f64),
    Limit::new("blocked_streams_max", 0.0, BLOCKED_STREAMS_MAX as f64),
    // Our own chains have about 1 kB and cannot be made shorter.
    Limit::new(
        "certificate_chain_bytes",
        1200.0,
        CERTIFICATE_CHAIN_BYTES_MAX as f64,
    ),
    // A longer think time exceeds every browser's timeouts.
    Limit::new("think_time", 0.0, 60_000.0),
    Limit::new(
        "probe_gain",
        *SPROUT_PROBE_GAIN.start(),
        *SPROUT_PROBE_GAIN.end(),
    ),
];

/// Refuses a value outside its setting's bounds; `None` is accepted.
pub(super) fn check(setting: &str, value: Option<f64>) -> Result<(), String> {
    let limit = STACK_LIMITS.iter().find(|limit| limit.setting == setting);
    let limit = limit.expect("a setting that is checked has bounds");
    value.map_or(Ok(()), |value| limit.check(value))
}
