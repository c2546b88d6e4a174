//! Packs files from a folder into a recorded site, as a manifest describes.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Component, Path};

use bytes::Bytes;
use serde::Deserialize;

use crate::coding;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::exchange::header::Header;
use crate::limits::METADATA_BYTES_MAX;
use crate::map::map_file;
use crate::provenance::{HandshakeRtt, Provenance};
use crate::timestamp;
use crate::url::Url;
use crate::writer::{SiteMetadata, write_wacz};

/// A site to pack: the file that answers each URL.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    title: String,
    #[serde(default)]
    description: String,
    main_url: Url,
    /// The date of every exchange, a WARC date like `2026-11-01T00:00:00Z`.
    created_at: String,
    /// The server's address of each host.
    addresses: BTreeMap<String, IpAddr>,
    exchanges: Vec<Entry>,
    /// The names in each host's certificate; a host that is not listed gets its own certificate.
    #[serde(default)]
    certificate_names: BTreeMap<String, Vec<String>>,
    /// The round trips of TCP handshakes, in the provenance's form.
    #[serde(default)]
    handshake_rtts: Vec<HandshakeRtt>,
    /// How the site was made, for the provenance.
    source: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    url: Url,
    /// The body's path relative to the manifest's folder; `None` for an empty body.
    file: Option<String>,
    #[serde(default = "status_default")]
    status: u16,
    #[serde(default)]
    reason: String,
    /// Name and value pairs, in order; `content-length` is appended, and `content-encoding` if
    /// `compress` is set.
    headers: Vec<(String, String)>,
    compress: Option<Coding>,
    /// The URL of the object that makes the browser request this one.
    initiator: Option<Url>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Coding {
    Gzip,
}

fn status_default() -> u16 {
    200
}

/// Writes the site that `manifest` describes to `out`, a WACZ; `spec/archive.md` documents the
/// manifest. The same files give the same WACZ.
pub fn pack(manifest: &Path, out: &Path) -> Result<(), Error> {
    let error = |reason: String| Error::Manifest {
        path: manifest.to_owned(),
        reason,
    };
    let json = map_file(manifest)?;
    if json.len() as u64 > METADATA_BYTES_MAX {
        return Err(error(format!(
            "it has more than {METADATA_BYTES_MAX} bytes; pack parts of it and import them together"
        )));
    }
    let site: Manifest = serde_json::from_slice(&json)
        .map_err(|source| error(format!("{source}; write it as spec/archive.md says")))?;
    let created_at_unix_ms = timestamp::parse(&site.created_at).ok_or_else(|| {
        error(format!(
            "created_at `{}` is not a WARC date; write one such as 2026-11-24T12:00:00Z",
            site.created_at
        ))
    })?;
    let folder = manifest.parent().unwrap_or(Path::new("."));
    let mut exchanges = Vec::with_capacity(site.exchanges.len());
    for (index, entry) in site.exchanges.into_iter().enumerate() {
        let body = match &entry.file {
            Some(file) => read_inside(folder, file).map_err(|reason| {
                reason.unwrap_or_else(|| {
                    error(format!("{file} leads out of its folder; copy it there"))
                })
            })?,
            None => Bytes::new(),
        };
        let address = site.addresses.get(&entry.url.host).copied();
        let host = &entry.url.host;
        let address =
            address.ok_or_else(|| error(format!("addresses lacks the host {host}; add it")))?;
        exchanges.push(exchange(index, entry, body, address, created_at_unix_ms));
    }
    if !exchanges
        .iter()
        .any(|exchange| exchange.url == site.main_url)
    {
        return Err(error(format!(
            "no exchange answers main_url {}; name the URL of one",
            site.main_url
        )));
    }
    let mut provenance = Provenance {
        source: site.source,
        certificate_names: site.certificate_names,
        ..Provenance::default()
    };
    provenance.merge_handshakes(&site.handshake_rtts);
    let metadata = SiteMetadata {
        title: site.title,
        description: site.description,
        main_url: site.main_url,
        created_at_unix_ms,
        provenance,
        screenshot: None,
    };
    write_wacz(out, &exchanges, &metadata)
}

fn exchange(
    index: usize,
    entry: Entry,
    body: Bytes,
    address: IpAddr,
    created_at_unix_ms: i64,
) -> Exchange {
    let mut response_headers: Vec<Header> = entry
        .headers
        .into_iter()
        .map(|(name, value)| Header::new(name, value))
        .collect();
    let body = match entry.compress {
        Some(Coding::Gzip) => {
            response_headers.push(Header::new("content-encoding", "gzip"));
            coding::gzip(&body)
        }
        None => body,
    };
    response_headers.push(Header::new("content-length", body.len().to_string()));
    Exchange {
        index,
        method: "GET".to_owned(),
        request_headers: vec![
            Header::new("host", entry.url.authority()),
            Header::new("accept-encoding", "gzip"),
        ],
        request_body: Bytes::new(),
        url: entry.url,
        status: entry.status,
        reason: entry.reason,
        response_headers,
        body,
        address: Some(address),
        protocol: "http/1.1".to_owned(),
        recorded_at_unix_ms: Some(created_at_unix_ms),
        time_to_first_byte_ms: None,
        initiator: entry.initiator.map(|url| url.to_string()),
    }
}

/// Reads a file below `folder`; returns `Err(None)` if its name leads outside.
fn read_inside(folder: &Path, file: &str) -> Result<Bytes, Option<Error>> {
    let is_inside = Path::new(file)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if !is_inside {
        return Err(None);
    }
    map_file(&folder.join(file)).map_err(Some)
}
