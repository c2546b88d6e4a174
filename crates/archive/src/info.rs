//! A recorded site in numbers, as in table 4.1 of Das, "Evaluation of QUIC on Web Page
//! Performance".

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::exchange::Note;
use crate::initiators::depth;
use crate::origin::Origin;
use crate::provenance::Provenance;
use crate::site::Site;
use crate::url::{Scheme, Url};

/// The numbers of a recorded site. Sizes are those of response bodies as sent, with content coding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SiteInfo {
    /// The file's name without its extension.
    pub name: String,
    /// SHA-256 of the file, hexadecimal.
    pub digest: String,
    /// The page to load.
    pub main_url: Url,
    /// The origins with their addresses.
    pub origins: Vec<Origin>,
    /// The number of different server addresses.
    pub server_addresses: usize,
    /// The number of exchanges, including redirects and failures.
    pub objects: usize,
    /// The size of all bodies.
    pub body_bytes: u64,
    /// The size of the median body (the lower one of two).
    pub body_bytes_median: u64,
    /// The size of the largest body.
    pub body_bytes_max: u64,
    /// The share of exchanges over https, 0 to 1.
    pub secure_share: f64,
    /// The share of body bytes over https, 0 to 1; equal to `secure_share` if all bodies are empty.
    pub secure_bytes_share: f64,
    /// The number of exchanges and their bytes by media type.
    pub media_types: BTreeMap<String, MediaType>,
    /// The length of the longest chain of exchanges in which each made the browser request the
    /// next, including the page. Links come from recorded initiators, else from `Referer`, else
    /// from the page.
    pub dependency_depth: usize,
    /// When the first exchange was recorded, milliseconds since 1970 UTC.
    pub recorded_at_unix_ms: Option<i64>,
    /// How the recording was made.
    pub provenance: Provenance,
    /// Exchanges that were left out or corrected.
    pub notes: Vec<Note>,
}

/// The exchanges of one media type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MediaType {
    /// The number of exchanges.
    pub objects: usize,
    /// The size of their bodies.
    pub body_bytes: u64,
}

impl Site {
    /// Computes the numbers of this site.
    pub fn info(&self) -> SiteInfo {
        let exchanges = self.exchanges();
        let mut sizes: Vec<u64> = exchanges
            .iter()
            .map(|each| each.body.len() as u64)
            .collect();
        sizes.sort_unstable();
        let mut media_types: BTreeMap<String, MediaType> = BTreeMap::new();
        for exchange in exchanges {
            let content_type = exchange.response_header("content-type").unwrap_or("");
            let name = content_type
                .split(';')
                .next()
                .unwrap_or("")
                .trim()
                .to_ascii_lowercase();
            let media_type = media_types.entry(name).or_default();
            media_type.objects += 1;
            media_type.body_bytes += exchange.body.len() as u64;
        }
        let (mut secure, mut secure_bytes) = (0, 0);
        for exchange in exchanges {
            if exchange.url.scheme == Scheme::Https {
                secure += 1;
                secure_bytes += exchange.body.len() as u64;
            }
        }
        let body_bytes = sizes.iter().sum();
        let secure_share = f64::from(secure) / exchanges.len() as f64;
        let addresses: BTreeSet<_> = self.origins().iter().map(|origin| origin.address).collect();
        SiteInfo {
            name: self.name().to_owned(),
            digest: self.digest().to_owned(),
            main_url: self.main_url().clone(),
            origins: self.origins().to_vec(),
            server_addresses: addresses.len(),
            objects: exchanges.len(),
            body_bytes,
            body_bytes_median: sizes[(sizes.len() - 1) / 2],
            body_bytes_max: sizes[sizes.len() - 1],
            secure_share,
            secure_bytes_share: match body_bytes {
                0 => secure_share,
                all => secure_bytes as f64 / all as f64,
            },
            media_types,
            dependency_depth: depth::measure(exchanges, self.main_url()),
            recorded_at_unix_ms: exchanges
                .iter()
                .filter_map(|each| each.recorded_at_unix_ms)
                .min(),
            provenance: self.provenance().clone(),
            notes: self.notes().to_vec(),
        }
    }
}
