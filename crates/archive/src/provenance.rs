//! How a recording came about: what this project adds to a WACZ's `datapackage.json`.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::limits::{HANDSHAKE_RTT_MS_MAX, HANDSHAKE_SERVERS_MAX};

/// What this project adds to `datapackage.json`, under the key `eyelevel` (`spec/archive.md`).
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
    /// How the exchanges came here: `record`, or the name of an importer; none where unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How often the page was opened for this recording; 0 where unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub visits: u32,
    /// Width and height of the viewport, CSS pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewport_px: Option<(u32, u32)>,
    /// Whether the browser posed as a mobile one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub mobile: bool,
    /// Whether cookies and credentials were kept in what is stored.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cookies_kept: bool,
    /// What passed through but cannot be replayed (WebSockets, endless streams, ...), a sentence
    /// each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// What the browser must not ask for, URLs in which `*` stands for any characters: what an edit
    /// took away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<String>,
    /// What was changed after the recording, a sentence each; empty for a faithful one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub altered: Vec<String>,
}

/// The round trips of the TCP handshakes with one server at one address, from SYN to SYN-ACK.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandshakeRtt {
    /// Lower case; an IPv6 address in brackets.
    pub host: String,
    /// The server's port.
    pub port: u16,
    /// Where it was connected to.
    pub address: IpAddr,
    /// The least of them, milliseconds.
    pub handshake_rtt_ms_min: f64,
    /// How many there were.
    pub handshakes: u32,
}

impl HandshakeRtt {
    /// Whether a server can be that far: what a file says may be anything.
    pub(crate) fn is_possible(&self) -> bool {
        self.handshakes > 0 && (0.0..=HANDSHAKE_RTT_MS_MAX).contains(&self.handshake_rtt_ms_min)
    }
}

impl Provenance {
    /// Notes one more handshake with a server.
    pub fn add_handshake(&mut self, host: &str, port: u16, address: IpAddr, rtt_ms: f64) {
        self.merge_handshakes(&[HandshakeRtt {
            host: host.to_owned(),
            port,
            address,
            handshake_rtt_ms_min: rtt_ms,
            handshakes: 1,
        }]);
    }

    /// Adds those of another recording.
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

    /// Whether there is nothing to say.
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
