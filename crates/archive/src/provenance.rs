//! How a recording came about: what this project adds to a WACZ's `datapackage.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What this project adds to `datapackage.json`, under the key `eyelevel` (`spec/archive.md`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The names in each host's recorded certificate.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub certificate_names: BTreeMap<String, Vec<String>>,
    /// The size of each host's recorded certificate chain, DER, bytes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub certificate_chain_bytes: BTreeMap<String, u64>,
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
    /// What was changed after the recording, a sentence each; empty for a faithful one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub altered: Vec<String>,
}

impl Provenance {
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
