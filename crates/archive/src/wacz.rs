//! WACZ containers (Web Archive Collection Zipped 1.1.1): a zip file with WARC files in it.

use std::collections::{HashMap, HashSet};
use std::io::{Cursor, Read};

use bytes::Bytes;
use eyelevel_units::one_line;
use serde::Deserialize;
use serde_json::value::RawValue;
use zip::{CompressionMethod, ZipArchive};

use crate::budget::ReadBudget;
use crate::error::Error;
use crate::limits::{METADATA_BYTES_MAX, ZIP_ENTRIES_MAX, ZIP_NAME_BYTES_MAX};
use crate::provenance::Provenance;
use crate::url::Url;
use crate::warc::source::WarcFile;

/// The nesting depth of WACZ files in WACZ files; collections of collections have two levels.
const NESTED_LEVELS_MAX: usize = 4;

/// The names that writers give the start page's member.
const MAIN_PAGE_MEMBERS: [&str; 3] = ["mainPageUrl", "mainPageURL", "main_page_url"];

/// The most pages that are considered as the start page.
const PAGES_MAX: usize = 100;

/// The most sentences about archives that are not read.
const LEFT_OUT_MAX: usize = 20;

/// The first bytes of a zip file with an entry (PKWARE APPNOTE, section 4.3.7).
pub const MAGIC: &[u8] = b"PK\x03\x04";

/// The parts of a WACZ that are used.
#[derive(Debug, Default)]
pub struct Wacz {
    /// The WARC files, sorted by name.
    pub warc_files: Vec<WarcFile>,
    /// The pages that the WACZ names, the start page first; not all need be recorded.
    pub page_urls: Vec<Url>,
    /// How the recording was made, if this project wrote it.
    pub provenance: Provenance,
    /// Whether this project wrote it, and so has checked its exchanges before.
    pub is_ours: bool,
    /// The resources that `datapackage.json` lists.
    pub resources: Vec<Resource>,
    /// The archives that are not read, one sentence each.
    pub left_out: Vec<String>,
}

/// An entry of `datapackage.json`'s `resources`.
#[derive(Debug, Clone)]
pub struct Resource {
    /// The zip entry's name.
    pub path: String,
    /// The digest, `sha256:HEX`.
    pub hash: Option<String>,
    /// The size.
    pub bytes: Option<u64>,
}

/// An entry of `resources` as it appears in the file. Values of an unexpected type are dropped, and
/// a size given as a string is parsed.
#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow)]
    path: Option<&'a RawValue>,
    #[serde(borrow)]
    hash: Option<&'a RawValue>,
    #[serde(borrow)]
    bytes: Option<&'a RawValue>,
}

impl Resource {
    fn read(entry: &RawValue) -> Option<Self> {
        let listed: Listed<'_> = serde_json::from_str(entry.get()).ok()?;
        let text = |value: Option<&RawValue>| -> Option<String> {
            serde_json::from_str(value?.get()).ok()
        };
        let number = |value: Option<&RawValue>| value?.get().trim_matches('"').parse().ok();
        Some(Self {
            path: text(listed.path)?.trim_start_matches("./").to_owned(),
            hash: text(listed.hash),
            bytes: number(listed.bytes),
        })
    }
}

/// The parts of `datapackage.json` that are used.
#[derive(Default)]
struct Package {
    resources: Vec<Resource>,
    main_url: Option<Url>,
    eyelevel: Option<Provenance>,
}

impl Package {
    fn read(json: &[u8]) -> Result<Self, serde_json::Error> {
        let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
        // Of two members with the same name the last one counts.
        let members: HashMap<String, &RawValue> = serde_json::from_slice(json)?;
        let entries = members.get("resources").map_or("[]", |raw| raw.get());
        let entries: Vec<&RawValue> = serde_json::from_str(entries).unwrap_or_default();
        let url = |name: &&str| {
            let text: String = serde_json::from_str(members.get(*name)?.get()).ok()?;
            text.parse().ok()
        };
        let eyelevel = members.get("eyelevel");
        Ok(Self {
            resources: entries.into_iter().filter_map(Resource::read).collect(),
            main_url: MAIN_PAGE_MEMBERS.iter().find_map(url),
            eyelevel: eyelevel.map_or(Ok(None), |raw| serde_json::from_str(raw.get()))?,
        })
    }
}

/// The entries of a WACZ by name, checked and read on demand.
pub struct Container<'a> {
    file: &'a str,
    content: &'a Bytes,
    zip: ZipArchive<Cursor<Bytes>>,
    /// The names of all entries, sorted.
    pub names: Vec<String>,
}

impl<'a> Container<'a> {
    /// Reads the zip directory; refuses entries that overlap and names that lead out of the
    /// archive.
    pub fn open(file: &'a str, content: &'a Bytes) -> Result<Self, Error> {
        let broken = |reason: String| Error::Container {
            file: file.to_owned(),
            entry: "zip directory".to_owned(),
            offset: Some(content.len() as u64),
            reason,
        };
        let mut zip = ZipArchive::new(Cursor::new(content.clone()))
            .map_err(|error| broken(error.to_string()))?;
        if zip.len() > ZIP_ENTRIES_MAX {
            return Err(broken(format!("more than {ZIP_ENTRIES_MAX} entries")));
        }
        // Without overlaps, all stored content together is no longer than the file, however many
        // entries there are.
        let overlaps = zip.has_overlapping_entries();
        if overlaps.map_err(|error| broken(error.to_string()))? {
            return Err(broken("its entries overlap".to_owned()));
        }
        let names: Result<Vec<String>, _> = zip
            .file_names()
            .map(|name| name.map(|name| name.into_owned()))
            .collect();
        let mut names = names.map_err(|error| broken(error.to_string()))?;
        names.sort_unstable();
        let mut container = Container {
            file,
            content,
            zip,
            names,
        };
        for name in &container.names.clone() {
            if name.len() > ZIP_NAME_BYTES_MAX {
                let cut: String = name.chars().take(80).collect();
                let reason = format!("its name has more than {ZIP_NAME_BYTES_MAX} bytes");
                return Err(container.error(&cut, &reason));
            }
            if name.contains('\\') {
                let reason =
                    "its name has a backslash, which zip files do not have; pack it with `/`";
                return Err(container.error(name, reason));
            }
            let leads_out = name.starts_with('/')
                || name.contains('\0')
                || name.split('/').any(|part| part == "..");
            if leads_out {
                return Err(container.error(name, "its name leads out of the archive"));
            }
        }
        Ok(container)
    }

    /// Reads an entry's content and verifies its checksum; stored entries are not copied.
    ///
    /// Returns `None` if there is no such entry.
    pub fn read(&mut self, name: &str, budget: &mut ReadBudget) -> Result<Option<Bytes>, Error> {
        let Some(index) = self.zip.index_for_name(name) else {
            return Ok(None);
        };
        let entry = self
            .zip
            .by_index(index)
            .map_err(|error| container_error(self.file, name, None, &error.to_string()))?;
        let (size, checksum) = (entry.size(), entry.crc32());
        let at = Some(entry.header_start());
        let content = match entry.compression() {
            CompressionMethod::Stored => {
                let start = entry.data_start();
                drop(entry);
                let end = start.and_then(|start| start.checked_add(size));
                let range = start
                    .zip(end)
                    .filter(|&(_, end)| end <= self.content.len() as u64);
                let (start, end) = range.ok_or_else(|| {
                    container_error(self.file, name, at, "it ends beyond the file")
                })?;
                self.content.slice(start as usize..end as usize)
            }
            _ => inflate(entry, budget)
                .map_err(|reason| container_error(self.file, name, at, &reason))?,
        };
        if content.len() as u64 != size || crc32fast::hash(&content) != checksum {
            return Err(self.error(name, "its checksum or size is not the recorded one"));
        }
        Ok(Some(content))
    }

    /// Returns an error about one entry.
    pub fn error(&mut self, entry: &str, reason: &str) -> Error {
        let index = self.zip.index_for_name(entry);
        let found = index.and_then(|index| self.zip.by_index_raw(index).ok());
        let offset = found.map(|entry| entry.header_start());
        container_error(self.file, entry, offset, reason)
    }
}

fn container_error(file: &str, entry: &str, offset: Option<u64>, reason: &str) -> Error {
    Error::Container {
        file: file.to_owned(),
        entry: entry.to_owned(),
        offset,
        reason: reason.to_owned(),
    }
}

fn inflate(entry: impl Read, budget: &mut ReadBudget) -> Result<Bytes, String> {
    let mut content = Vec::new();
    let mut bounded = entry.take(budget.bytes_left().saturating_add(1));
    bounded
        .read_to_end(&mut content)
        .map_err(|error| error.to_string())?;
    let spent = budget.spend(content.len() as u64);
    spent.map_err(|damage| damage.to_string())?;
    Ok(content.into())
}

/// Reads the used parts of a WACZ, including WACZ files nested in it, as exported collections have
/// them. Refuses one whose directory lacks a listed resource.
pub fn read(file: &str, content: &Bytes, budget: &mut ReadBudget) -> Result<Wacz, Error> {
    read_one(file, content, budget, NESTED_LEVELS_MAX)
}

fn read_one(
    file: &str,
    content: &Bytes,
    budget: &mut ReadBudget,
    levels_left: usize,
) -> Result<Wacz, Error> {
    let mut container = Container::open(file, content)?;
    let package = read_package(&mut container, budget)?;
    let resources = package.resources;
    let names = container.names.clone();
    let mut listed = HashSet::new();
    for Resource { path, .. } in &resources {
        if names.binary_search(path).is_err() {
            return Err(container.error(path, "datapackage.json lists it, but it lacks"));
        }
        if !listed.insert(path) {
            return Err(container.error(path, "datapackage.json lists it twice"));
        }
    }
    let mut wacz = Wacz {
        is_ours: package.eyelevel.is_some(),
        provenance: package.eyelevel.unwrap_or_default(),
        page_urls: package.main_url.into_iter().collect(),
        resources,
        ..Wacz::default()
    };
    for name in names.iter().filter(|name| is_archive(name)) {
        if !is_warc(name) {
            if wacz.left_out.len() < LEFT_OUT_MAX {
                let reason = "only .warc and .warc.gz are read; recompress it with `gzip`";
                wacz.left_out
                    .push(one_line(&format!("{name:.200}: {reason}")));
            }
        } else {
            let content = container.read(name, budget)?.unwrap_or_default();
            wacz.warc_files.push(WarcFile {
                name: format!("{file}!{name}"),
                content,
                is_checked: true,
            });
        }
    }
    let is_nested = |name: &&String| has_ending(name, ".wacz") && !is_of_finder(name);
    for name in names.iter().filter(is_nested) {
        let Some(levels_left) = levels_left.checked_sub(1) else {
            let reason =
                format!("WACZ files in WACZ files are read {NESTED_LEVELS_MAX} levels deep");
            return Err(container.error(name, &reason));
        };
        let content = container.read(name, budget)?.unwrap_or_default();
        let inner = read_one(&format!("{file}!{name}"), &content, budget, levels_left)?;
        if wacz.warc_files.is_empty() {
            (wacz.is_ours, wacz.provenance) = (inner.is_ours, inner.provenance);
        }
        wacz.is_ours &= inner.is_ours;
        let room = PAGES_MAX.saturating_sub(wacz.page_urls.len());
        wacz.page_urls
            .extend(inner.page_urls.into_iter().take(room));
        wacz.warc_files.extend(inner.warc_files);
        wacz.left_out.extend(inner.left_out);
    }
    let room = PAGES_MAX.saturating_sub(wacz.page_urls.len());
    let pages = list_pages(&mut container, budget)?;
    wacz.page_urls.extend(pages.into_iter().take(room));
    Ok(wacz)
}

/// Whether `name` has this ending, in any case.
fn has_ending(name: &str, ending: &str) -> bool {
    name.to_ascii_lowercase().ends_with(ending)
}

/// Whether an entry should hold records: a file in `archive/`, but for what macOS adds.
fn is_archive(name: &str) -> bool {
    let is_file = !name.ends_with('/') && !has_ending(name, ".wacz") && !is_of_finder(name);
    is_file && name.to_ascii_lowercase().starts_with("archive/")
}

/// Whether macOS added the entry: it has the attributes of the file after which it is named.
fn is_of_finder(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.starts_with("._") || file == ".DS_Store"
}

fn is_warc(name: &str) -> bool {
    has_ending(name, ".warc") || has_ending(name, ".warc.gz")
}

fn read_package(container: &mut Container<'_>, budget: &mut ReadBudget) -> Result<Package, Error> {
    const NAME: &str = "datapackage.json";
    let json = container.read(NAME, budget)?;
    let is_har = |name: &String| has_ending(name, ".har");
    let names = &container.names;
    if json.is_none() && names.iter().any(is_har) && !names.iter().any(|name| is_warc(name)) {
        let is_folder = |name: &String| name.ends_with('/');
        return Err(Error::HarInZip {
            file: container.file.to_owned(),
            has_bodies_beside: !names.iter().all(|name| is_har(name) || is_folder(name)),
        });
    }
    let json = json.ok_or_else(|| Error::OtherZip {
        file: container.file.to_owned(),
        has_warc: container.names.iter().any(|name| is_warc(name)),
    })?;
    if json.len() as u64 > METADATA_BYTES_MAX {
        return Err(container.error(
            NAME,
            &format!("it has more than {METADATA_BYTES_MAX} bytes"),
        ));
    }
    Package::read(&json).map_err(|error| container.error(NAME, &error.to_string()))
}

/// Returns the pages of `pages/pages.jsonl`, whose first line is its header: first those with which
/// a crawl began, since parallel workers list pages as they finish them.
fn list_pages(container: &mut Container<'_>, budget: &mut ReadBudget) -> Result<Vec<Url>, Error> {
    #[derive(Deserialize)]
    struct Page {
        url: Option<String>,
        seed: Option<serde_json::Value>,
    }
    let lines = container
        .read("pages/pages.jsonl", budget)?
        .unwrap_or_default();
    let bounded = &lines[..lines.len().min(METADATA_BYTES_MAX as usize)];
    let bounded = bounded.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bounded);
    let lines = bounded.split(|&byte| byte == b'\n');
    let (mut seeds, mut others) = (Vec::new(), Vec::new());
    for page in lines.filter_map(|line| serde_json::from_slice::<Page>(line).ok()) {
        let is_seed = page.seed == Some(serde_json::Value::Bool(true));
        let pages = if is_seed { &mut seeds } else { &mut others };
        let url = page.url.filter(|_| pages.len() < PAGES_MAX);
        pages.extend(url.and_then(|url| url.parse().ok()));
    }
    seeds.append(&mut others);
    Ok(seeds)
}
