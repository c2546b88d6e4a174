//! Round trips of TCP handshakes from a HAR's timings.
//!
//! `connect` includes `ssl` (HAR 1.2), so the difference is TCP's part. Some writers, Firefox among
//! them, leave TLS out of `connect`: a `connect` shorter than its `ssl` shows it, or a `time` that is
//! longer than the sum of the others by `ssl`. All https entries of such a file are ignored, since
//! their difference is meaningless. A reused connection has no `connect`, and
//! that of HTTP/3 is QUIC's handshake.

use super::har_log::Timings;
use super::json_loose::Leaf;
use crate::exchange::Exchange;
use crate::provenance::Provenance;
use crate::url::Scheme;

/// The largest rounding of a sum of timings, ms.
const ROUNDING_MS_MAX: f64 = 2.0;

/// The handshakes of one file's entries.
#[derive(Default)]
pub struct HarHandshakes {
    in_clear: Provenance,
    over_tls: Provenance,
    is_tls_apart: bool,
}

impl HarHandshakes {
    /// Adds an entry's handshake, if a connection was opened for it; `time` is the entry's.
    pub fn add(&mut self, exchange: &Exchange, timings: &Timings<'_>, time: Leaf<'_>) {
        let (Some(connect_ms), Some(address)) = (known(timings.connect), exchange.address) else {
            return;
        };
        if connect_ms <= 0.0 || exchange.protocol == "h3" {
            return;
        }
        let (host, port) = (&exchange.url.host, exchange.url.port);
        if exchange.url.scheme == Scheme::Http {
            return self.in_clear.add_handshake(host, port, address, connect_ms);
        }
        let Some(ssl_ms) = known(timings.ssl).filter(|ssl_ms| *ssl_ms > 0.0) else {
            return;
        };
        let beyond_ms = known(time).map_or(0.0, |time_ms| time_ms - sum_ms(timings));
        let is_counted_apart =
            beyond_ms > ROUNDING_MS_MAX && (beyond_ms - ssl_ms).abs() <= ROUNDING_MS_MAX;
        self.is_tls_apart |= connect_ms < ssl_ms || is_counted_apart;
        if connect_ms > ssl_ms {
            let rtt_ms = connect_ms - ssl_ms;
            self.over_tls.add_handshake(host, port, address, rtt_ms);
        }
    }

    /// Adds the plausible round trips to `provenance`.
    pub fn add_to(self, provenance: &mut Provenance) {
        provenance.merge_handshakes(&self.in_clear.handshake_rtts);
        if !self.is_tls_apart {
            provenance.merge_handshakes(&self.over_tls.handshake_rtts);
        }
    }
}

/// Returns the sum of the timings without `ssl`, which is a part of `connect` (HAR 1.2).
fn sum_ms(timings: &Timings<'_>) -> f64 {
    let Timings {
        blocked,
        dns,
        connect,
        send,
        wait,
        receive,
        ..
    } = *timings;
    let parts = [blocked, dns, connect, send, wait, receive];
    let known = parts.into_iter().filter_map(known);
    known.map(|part_ms| part_ms.max(0.0)).sum()
}

fn known(duration_ms: Leaf<'_>) -> Option<f64> {
    duration_ms.number().filter(|ms| ms.is_finite())
}
