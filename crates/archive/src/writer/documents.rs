//! The JSON documents of a WACZ (WACZ 1.1.1).
//!
//! They are structs, because the order of a map's keys depends on how `serde_json` was built.

use serde::Serialize;

use super::SiteMetadata;
use crate::digest;
use crate::provenance::Provenance;
use crate::timestamp;
use crate::url::Url;

const WACZ_VERSION: &str = "1.1.1";

/// An entry of `resources`.
#[derive(Serialize)]
pub struct Resource {
    /// The file's name without its folder.
    pub name: String,
    /// The zip entry's name.
    pub path: String,
    /// The digest, `sha256:HEX`.
    pub hash: String,
    /// The size.
    pub bytes: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Package<'a> {
    profile: &'static str,
    #[serde(rename = "wacz_version")]
    wacz_version: &'static str,
    software: &'static str,
    title: &'a str,
    description: &'a str,
    created: &'a str,
    main_page_url: &'a Url,
    main_page_date: &'a str,
    resources: &'a [Resource],
    #[serde(skip_serializing_if = "Option::is_none")]
    eyelevel: Option<&'a Provenance>,
}

#[derive(Serialize)]
struct PackageDigest<'a> {
    path: &'a str,
    hash: String,
}

#[derive(Serialize)]
struct PageListHead {
    format: &'static str,
    id: &'static str,
    title: &'static str,
}

#[derive(Serialize)]
struct Page<'a> {
    id: &'static str,
    url: &'a Url,
    title: &'a str,
    ts: String,
}

/// Returns `pages/pages.jsonl`: its header and the one page.
pub fn pages(metadata: &SiteMetadata) -> String {
    let head = PageListHead {
        format: "json-pages-1.0",
        id: "pages",
        title: "All Pages",
    };
    let page = Page {
        id: "main",
        url: &metadata.main_url,
        title: &metadata.title,
        ts: timestamp::format(metadata.created_at_unix_ms),
    };
    format!("{}\n{}\n", line(&head), line(&page))
}

/// Returns `datapackage.json`.
pub fn package(metadata: &SiteMetadata, resources: &[Resource]) -> String {
    let created = timestamp::format(metadata.created_at_unix_ms);
    format_indented(&Package {
        profile: "data-package",
        wacz_version: WACZ_VERSION,
        software: concat!("eyelevel-archive ", env!("CARGO_PKG_VERSION")),
        title: &metadata.title,
        description: &metadata.description,
        created: &created,
        main_page_url: &metadata.main_url,
        main_page_date: &created,
        resources,
        eyelevel: (!metadata.provenance.is_empty()).then_some(&metadata.provenance),
    })
}

/// Returns `datapackage-digest.json` for the package document at `path`.
pub fn package_digest(path: &str, package: &str) -> String {
    let hash = digest::sha256(package.as_bytes());
    format_indented(&PackageDigest { path, hash })
}

fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts and numbers are JSON")
}

fn format_indented(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("texts and numbers are JSON") + "\n"
}
