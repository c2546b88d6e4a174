//! What a recorded site consists of, in numbers (Das, "Evaluation of QUIC on Web Page Performance",
//! table 4.1, lists the same).

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::exchange::Note;
use crate::initiators::depth;
use crate::origin::Origin;
use crate::provenance::Provenance;
use crate::site::Site;
use crate::url::{Scheme, Url};

/// A recorded site in numbers. Sizes are response bodies as sent, content coding included.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SiteInfo {
    /// The file's name without its extension.
    pub name: String,
    /// SHA-256 of the file, hexadecimal.
    pub digest: String,
    /// The page to load.
    pub main_url: Url,
    /// Origins with their addresses.
    pub origins: Vec<Origin>,
    /// Different server addresses among them.
    pub server_addresses: usize,
    /// Exchanges, redirects and failures included.
    pub objects: usize,
    /// Size of all bodies.
    pub body_bytes: u64,
    /// Size of the median body (the lower one of two).
    pub body_bytes_median: u64,
    /// Size of the largest body.
    pub body_bytes_max: u64,
    /// Share of exchanges over https, 0 to 1.
    pub secure_share: f64,
    /// Share of the bodies' bytes over https, 0 to 1; that of the exchanges where all are empty.
    pub secure_bytes_share: f64,
    /// Number of exchanges and their bytes by media type.
    pub media_types: BTreeMap<String, MediaType>,
    /// Longest chain of exchanges in which each made the browser ask for the next, the page's own
    /// included: by recorded initiators, else `Referer`, else the page.
    pub dependency_depth: usize,
    /// When the first exchange was recorded, milliseconds since 1970 UTC.
    pub recorded_at_unix_ms: Option<i64>,
    /// How the recording came about.
    pub provenance: Provenance,
    /// What in the file is left out.
    pub notes: Vec<Note>,
}

/// The exchanges of one media type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MediaType {
    /// How many.
    pub objects: usize,
    /// Size of their bodies.
    pub body_bytes: u64,
}

impl Site {
    /// The site in numbers.
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
            dependency_depth: depth::of(exchanges, self.main_url()),
            recorded_at_unix_ms: exchanges
                .iter()
                .filter_map(|each| each.recorded_at_unix_ms)
                .min(),
            provenance: self.provenance().clone(),
            notes: self.notes().to_vec(),
        }
    }
}
