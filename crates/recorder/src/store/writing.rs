//! Writes the recorded exchanges as a WACZ.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use eyelevel_archive::{Provenance, Screenshot, SiteMetadata, Url, start_page, write_wacz};

use super::{Inner, Store, Stored, unix_ms};
use crate::RecordError;
use crate::merge::merge;

/// The metadata of the WACZ to write.
#[derive(Debug, Clone, Default)]
pub struct Writing {
    /// The page; by default, the one that a reader would choose.
    pub main_url: Option<Url>,
    /// The title, for display; by default, the page's URL.
    pub title: Option<String>,
    /// What the recorded browser did; `left_out` and certificates are added.
    pub provenance: Provenance,
    /// The screenshot of the page.
    pub screenshot: Option<Screenshot>,
    /// The initiators, by requested URL.
    pub initiators: HashMap<String, String>,
    /// The hosts that the page requested; others are the browser's own traffic. `None` to include
    /// all.
    pub hosts: Option<HashSet<String>>,
}

impl Store {
    /// Writes the stored exchanges as a WACZ.
    pub fn write(&self, out: &Path, writing: Writing) -> Result<(), RecordError> {
        let mut inner = self.lock();
        inner.stored.sort_by_key(|stored| stored.ticket.number);
        let bodies = inner.spool.map()?;
        let slice = |range: &Range<u64>| bodies.slice(range.start as usize..range.end as usize);
        let is_wanted = |stored: &&Stored| {
            let hosts = writing.hosts.as_ref();
            hosts.is_none_or(|hosts| hosts.contains(&stored.exchange.url.host))
        };
        let with_bodies = inner.stored.iter().filter(is_wanted).map(|stored| {
            let mut exchange = stored.exchange.clone();
            exchange.request_body = slice(&stored.request_body);
            exchange.body = slice(&stored.body);
            exchange.initiator = writing.initiators.get(&exchange.url.to_string()).cloned();
            (stored.ticket.visit, exchange)
        });
        let exchanges = merge(with_bodies.collect());
        let main_url = match writing.main_url.or_else(|| start_page(&exchanges)) {
            Some(url) => url,
            None => {
                return Err(RecordError::Nothing {
                    reason: inner.left_out.reason_for_nothing(inner.open),
                });
            }
        };
        if !exchanges.iter().any(|each| each.url == main_url) {
            return Err(RecordError::Nothing {
                reason: match inner.left_out.about(&main_url.host) {
                    Some(sentence) => format!("the page {main_url} was not stored: {sentence}"),
                    None => format!("the page {main_url} was not asked for"),
                },
            });
        }
        let metadata = SiteMetadata {
            title: writing.title.unwrap_or_else(|| main_url.to_string()),
            description: String::new(),
            main_url,
            created_at_unix_ms: exchanges
                .iter()
                .filter_map(|each| each.recorded_at_unix_ms)
                .min()
                .unwrap_or_else(unix_ms),
            provenance: inner.provenance(writing.provenance, writing.hosts, self.keep_cookies),
            screenshot: writing.screenshot,
        };
        Ok(write_wacz(out, &exchanges, &metadata)?)
    }
}

impl Inner {
    fn provenance(
        &self,
        given: Provenance,
        wanted: Option<HashSet<String>>,
        cookies_kept: bool,
    ) -> Provenance {
        let mut handshake_rtts = self.handshakes.handshake_rtts.clone();
        if let Some(hosts) = &wanted {
            handshake_rtts.retain(|each| hosts.contains(&each.host));
        }
        let is_wanted = |text: &str| {
            wanted
                .as_ref()
                .is_none_or(|hosts| hosts.iter().any(|host| text.contains(host)))
        };
        let left_out = self.left_out.list(is_wanted, self.open);
        let hosts = || self.certificates.iter().filter(|(host, _)| is_wanted(host));
        Provenance {
            certificate_names: hosts()
                .map(|(host, each)| (host.clone(), each.names.clone()))
                .collect(),
            certificate_chain_bytes: hosts()
                .map(|(host, each)| (host.clone(), each.chain_bytes))
                .collect(),
            handshake_rtts,
            source: Some("record".to_owned()),
            cookies_kept,
            left_out,
            ..given
        }
    }
}
