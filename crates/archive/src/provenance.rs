//! How a recording was made: what this project adds to a WACZ's `datapackage.json`.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::limits::{HANDSHAKE_RTT_MS_MAX, HANDSHAKE_SERVERS_MAX};

/// The object under the key `eyelevel` in `datapackage.json` (`spec/archive.md`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The names in each host's recorded certificate.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub certificate_names: BTreeMap<String, Vec<String>>,
    /// The size of each host's recorded certificate chain, DER, bytes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub certificate_chain_bytes: BTreeMap<String, u64>,
    /// The round trips of the TCP handshakes with each server, by host, port and address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handshake_rtts: Vec<HandshakeRtt>,
    /// The source of the exchanges: `record`, or the name of an importer; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How often the page was opened for this recording; 0 if unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub visits: u32,
    /// Width and height of the viewport, CSS pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewport_px: Option<(u32, u32)>,
    /// Whether the browser emulated a mobile one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub mobile: bool,
    /// Whether cookies and credentials are stored in the recording.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cookies_kept: bool,
    /// What was seen but cannot be replayed (WebSockets, endless streams, ...), one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// URLs that the browser must not request, in which `*` matches any characters: those that an
    /// edit removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<String>,
    /// Changes made after the recording, one sentence each; empty for an unmodified one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub altered: Vec<String>,
}

/// The round trips of the TCP handshakes with one server at one address, from SYN to SYN-ACK.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandshakeRtt {
    /// The host in lower case; an IPv6 address is in brackets.
    pub host: String,
    /// The server's port.
    pub port: u16,
    /// The server's address.
    pub address: IpAddr,
    /// The smallest of them, milliseconds.
    pub handshake_rtt_ms_min: f64,
    /// The number of handshakes.
    pub handshakes: u32,
}

impl HandshakeRtt {
    /// Whether the round trip is plausible, since a file may hold any number.
    pub(crate) fn is_possible(&self) -> bool {
        self.handshakes > 0 && (0.0..=HANDSHAKE_RTT_MS_MAX).contains(&self.handshake_rtt_ms_min)
    }
}

impl Provenance {
    /// Adds one more handshake with a server.
    pub fn add_handshake(&mut self, host: &str, port: u16, address: IpAddr, rtt_ms: f64) {
        self.merge_handshakes(&[HandshakeRtt {
            host: host.to_owned(),
            port,
            address,
            handshake_rtt_ms_min: rtt_ms,
            handshakes: 1,
        }]);
    }

    /// Adds the handshakes of another recording.
    pub fn merge_handshakes(&mut self, further: &[HandshakeRtt]) {
        for each in further.iter().filter(|each| each.is_possible()) {
            let key = (each.host.as_str(), each.port, each.address);
            let known = &mut self.handshake_rtts;
            match known.binary_search_by(|a| (a.host.as_str(), a.port, a.address).cmp(&key)) {
                Ok(at) => {
                    let least = &mut known[at].handshake_rtt_ms_min;
                    *least = least.min(each.handshake_rtt_ms_min);
                    known[at].handshakes = known[at].handshakes.saturating_add(each.handshakes);
                }
                Err(at) if known.len() < HANDSHAKE_SERVERS_MAX => known.insert(at, each.clone()),
                Err(_) => {}
            }
        }
    }

    /// Whether no field is set.
    pub fn is_empty(&self) -> bool {
        *self == Provenance::default()
    }
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn is_false(value: &bool) -> bool {
    !*value
}
