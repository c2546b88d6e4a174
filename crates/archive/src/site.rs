//! An open recorded site.

use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::bufread::GzDecoder;
use sha2::{Digest, Sha256};

use crate::budget::ReadBudget;
use crate::digest::hexadecimal;
use crate::error::Error;
use crate::exchange::screenshot::Screenshot;
use crate::exchange::{Exchange, Note};
use crate::initiators::start::start_page;
use crate::links::cleartext;
use crate::map::map_file;
use crate::origin::{self, Origin};
use crate::provenance::Provenance;
use crate::url::Url;
use crate::wacz::{self, Wacz};
use crate::warc::gzip;
use crate::warc::pairing;
use crate::warc::source::WarcFile;

/// A recorded site: its exchanges, its start page and its origins.
///
/// Bodies are slices of the mapped file or of its inflated records; cloning one copies nothing.
#[derive(Debug)]
pub struct Site {
    file_name: String,
    name: String,
    file: Bytes,
    digest: OnceLock<String>,
    main_url: Url,
    provenance: Provenance,
    exchanges: Vec<Exchange>,
    origins: Vec<Origin>,
    notes: Vec<Note>,
    screenshot: Option<Screenshot>,
}

impl Site {
    /// Opens a `.warc`, `.warc.gz` or `.wacz` file and builds its index.
    ///
    /// The kind is detected from the first bytes, not from the name. A damaged file is refused as a
    /// whole.
    pub fn open(path: impl AsRef<Path>) -> Result<Site, Error> {
        let path = path.as_ref();
        let file = map_file(path)?;
        let file_name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Site::from_bytes(&file_name, file)
    }

    /// Opens a recorded site from memory; `file_name` is for messages.
    pub fn from_bytes(file_name: &str, file: Bytes) -> Result<Site, Error> {
        let mut budget = ReadBudget::for_file(file.len() as u64);
        let container = read_container(file_name, &file, &mut budget)?;
        let mut index = pairing::Index::new(container.is_ours);
        let mut records_read = 0;
        for warc_file in &container.warc_files {
            let records = warc_file.records(&mut budget)?;
            records_read += records.len() as u64;
            index.add(warc_file, records, &mut budget)?;
        }
        let pairing::Found {
            exchanges,
            notes,
            altered,
            broken,
            screenshot,
        } = index.finish(&mut budget)?;
        let mut provenance = container.provenance;
        provenance.altered.extend(altered);
        let unread = container.left_out.first().cloned();
        provenance.left_out.extend(container.left_out);
        // The remaining exchanges must not be taken for the page.
        let is_recorded = |url: &Url| exchanges.iter().any(|each| each.url == *url);
        let is_broken = |url: &Url| broken.iter().any(|(broken, _)| broken == url);
        let mut pages = container.page_urls.into_iter();
        let page_url = pages.find(|url| is_recorded(url) || is_broken(url));
        let is_named = |url: &Url| page_url.as_ref() == Some(url);
        let page = broken.iter().find(|(url, _)| is_named(url));
        let has_page = match page {
            Some((url, _)) => is_recorded(url),
            None => broken.is_empty() || exchanges.iter().any(Exchange::is_html),
        };
        if let (false, false, Some((_, left_out))) =
            (has_page, exchanges.is_empty(), page.or(broken.first()))
        {
            return Err(Error::NoPage {
                file: file_name.to_owned(),
                left: exchanges.len(),
                left_out: eyelevel_units::one_line(left_out),
            });
        }
        let named = page_url.filter(is_recorded);
        let Some(main_url) = named.or_else(|| start_page(&exchanges)) else {
            return Err(Error::Empty {
                file: file_name.to_owned(),
                records: records_read,
                left_out: notes.into_iter().next().map(|note| note.message).or(unread),
            });
        };
        Ok(Site {
            file_name: file_name.to_owned(),
            name: site_name(file_name),
            digest: OnceLock::new(),
            main_url,
            origins: origin::list(&exchanges, &provenance),
            provenance,
            file,
            exchanges,
            notes,
            screenshot,
        })
    }

    /// Returns the site with http origins, for stacks without TLS. Only the scheme, links and the
    /// fields that lead back to https change; the recording's name and digest stay.
    #[must_use]
    pub fn to_cleartext(&self) -> Site {
        let exchanges = cleartext::to_cleartext(&self.exchanges);
        Site {
            file_name: self.file_name.clone(),
            name: self.name.clone(),
            file: self.file.clone(),
            digest: self.digest.clone(),
            main_url: cleartext::to_http(&self.main_url),
            origins: origin::list(&exchanges, &self.provenance),
            provenance: self.provenance.clone(),
            exchanges,
            notes: self.notes.clone(),
            screenshot: self.screenshot.clone(),
        }
    }

    /// Returns the file's name without its extension.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the SHA-256 of the file, 64 lower-case hexadecimal digits, as `sha256sum FILE`
    /// prints it. Computed on the first call.
    pub fn digest(&self) -> &str {
        self.digest
            .get_or_init(|| hexadecimal(&Sha256::digest(&self.file)))
    }

    /// Returns the URL of the page to load.
    ///
    /// In a WACZ, this is the page that it names. Otherwise it is the HTML document from which most
    /// of the recording was requested or, if redirects led there, the first of them.
    pub fn main_url(&self) -> &Url {
        &self.main_url
    }

    /// Returns all exchanges, in the order of their responses in the file; never empty.
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// Returns all origins with the addresses under which they are replayed.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// Returns how the recording was made; empty if its recorder did not state it.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// Returns notes on what was left out or corrected.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Returns the recorded screenshot of the page, if there is one.
    pub fn screenshot(&self) -> Option<&Screenshot> {
        self.screenshot.as_ref()
    }

    /// Returns the content of the file.
    pub(crate) fn file(&self) -> &Bytes {
        &self.file
    }

    /// Returns the file's name, for messages.
    pub(crate) fn file_name(&self) -> &str {
        &self.file_name
    }
}

/// Detects the kind of `file` from its first bytes and reads its container.
pub(crate) fn read_container(
    file_name: &str,
    file: &Bytes,
    budget: &mut ReadBudget,
) -> Result<Wacz, Error> {
    if is_arc(file) {
        Err(Error::Arc {
            file: file_name.to_owned(),
        })
    } else if file.starts_with(wacz::MAGIC) {
        wacz::read(file_name, file, budget)
    } else if file.starts_with(gzip::MAGIC) || file.starts_with(b"WARC/") {
        let warc_file = WarcFile {
            name: file_name.to_owned(),
            content: file.clone(),
            is_checked: false,
        };
        Ok(Wacz {
            warc_files: vec![warc_file],
            ..Wacz::default()
        })
    } else {
        Err(Error::Unrecognised {
            file: file_name.to_owned(),
        })
    }
}

/// Returns whether the file, or its first gzip member, begins as an ARC file does: with a record
/// that describes the file.
pub(crate) fn is_arc(file: &[u8]) -> bool {
    const MAGIC: &[u8] = b"filedesc://";
    let mut begin = [0; MAGIC.len()];
    let is_member = file.starts_with(gzip::MAGIC);
    file.starts_with(MAGIC)
        || (is_member && GzDecoder::new(file).read_exact(&mut begin).is_ok() && begin == MAGIC)
}

fn site_name(file_name: &str) -> String {
    let stem = file_name.strip_suffix(".gz").unwrap_or(file_name);
    let stem = stem
        .strip_suffix(".warc")
        .or_else(|| stem.strip_suffix(".wacz"))
        .unwrap_or(stem);
    stem.to_owned()
}
