//! Writes exchanges as a WACZ that ReplayWeb.page, pywb and warcio read too.
//!
//! The same input gives the same bytes: no clock, no random identifiers, fixed zip dates.

mod cdxj;
mod documents;
mod records;
mod writable;

pub use writable::check_writable;

use std::fs::File;
use std::io::{BufWriter, Seek, Write};
use std::path::Path;

use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::digest;
use crate::draft::{Step, write_atomically};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::exchange::screenshot::Screenshot;
use crate::limits::EXCHANGES_MAX;
use crate::provenance::Provenance;
use crate::url::Url;

/// The metadata of a WACZ.
#[derive(Debug, Clone)]
pub struct SiteMetadata {
    /// The page's title, for display.
    pub title: String,
    /// The site's source and licence, in one paragraph; may be empty.
    pub description: String,
    /// The page to load.
    pub main_url: Url,
    /// When the recording was made, milliseconds since 1970 UTC; also the date of exchanges that
    /// have none.
    pub created_at_unix_ms: i64,
    /// How the recording was made.
    pub provenance: Provenance,
    /// The screenshot of the page.
    pub screenshot: Option<Screenshot>,
}

/// The WARC file's name in the container; CDXJ has it without its folder. It is not compressed:
/// bodies are compressed as they were sent, heads are small, and a plain file is served from its
/// mapping.
const WARC_NAME: &str = "data.warc";
/// The index's name. It is plain, not `.cdx.gz`: ReplayWeb.page reads a compressed index only along
/// with a second-level one.
const INDEX_PATH: &str = "indexes/index.cdx";
const PAGES_PATH: &str = "pages/pages.jsonl";
const PACKAGE_PATH: &str = "datapackage.json";

/// Writes a WACZ to `path` atomically: as a temporary file in the same folder that is synced and
/// then renamed, so that `path` is complete or unchanged, on the disk too.
///
/// Reading it back gives equal exchanges in the same order, except that those without a date have
/// `metadata.created_at_unix_ms`.
pub fn write_wacz(
    path: &Path,
    exchanges: &[Exchange],
    metadata: &SiteMetadata,
) -> Result<(), Error> {
    write_wacz_in_steps(path, exchanges, metadata, |_| ())
}

/// Like [`write_wacz`]; `at` is called with each step.
pub fn write_wacz_in_steps(
    path: &Path,
    exchanges: &[Exchange],
    metadata: &SiteMetadata,
    at: impl FnMut(Step),
) -> Result<(), Error> {
    if exchanges.len() > EXCHANGES_MAX {
        return Err(Error::Unwritable {
            index: EXCHANGES_MAX,
            reason: format!("a recorded site holds at most {EXCHANGES_MAX} exchanges"),
        });
    }
    let io_error = |attempt, source| Error::Io {
        attempt,
        path: path.to_owned(),
        source,
    };
    let write = |file: &File| {
        let file = write_into(BufWriter::new(file), exchanges, metadata, path)?;
        let flushed = file.into_inner().map_err(|error| error.into_error());
        flushed.map(drop).map_err(|error| io_error("write", error))
    };
    write_atomically(path, write, at, io_error)
}

/// Writes a WACZ to `out`; `path` is for messages.
fn write_into<W: Write + Seek>(
    out: W,
    exchanges: &[Exchange],
    metadata: &SiteMetadata,
    path: &Path,
) -> Result<W, Error> {
    let io_error = |source: std::io::Error| Error::Io {
        attempt: "write",
        path: path.to_owned(),
        source,
    };
    let mut container = Packer {
        zip: ZipWriter::new(out),
        resources: Vec::new(),
    };
    let mut lines = write_warc(&mut container, exchanges, metadata, io_error)?;
    lines.sort_unstable();
    container
        .add(INDEX_PATH, &lines.concat())
        .map_err(io_error)?;
    container
        .add(PAGES_PATH, &documents::pages(metadata))
        .map_err(io_error)?;
    let package = documents::package(metadata, &container.resources);
    container.add(PACKAGE_PATH, &package).map_err(io_error)?;
    let package_digest = documents::package_digest(PACKAGE_PATH, &package);
    container
        .add("datapackage-digest.json", &package_digest)
        .map_err(io_error)?;
    container
        .zip
        .finish()
        .map_err(|error| io_error(std::io::Error::other(error)))
}

/// Writes the WARC file; returns the lines of its index.
fn write_warc<W: Write + Seek>(
    container: &mut Packer<W>,
    exchanges: &[Exchange],
    metadata: &SiteMetadata,
    io_error: impl Fn(std::io::Error) -> Error,
) -> Result<Vec<String>, Error> {
    let path = format!("archive/{WARC_NAME}");
    container.start(&path).map_err(&io_error)?;
    let mut warc = Hashed {
        out: &mut container.zip,
        hash: Sha256::new(),
        bytes: 0,
    };
    let warcinfo = records::warcinfo(WARC_NAME, metadata);
    warcinfo.write(&mut warc).map_err(&io_error)?;
    let mut lines = Vec::with_capacity(exchanges.len());
    for (index, exchange) in exchanges.iter().enumerate() {
        let records = records::create_records(index, exchange, metadata.created_at_unix_ms)?;
        lines.push(cdxj::line(
            exchange,
            &records,
            WARC_NAME,
            warc.bytes,
            records.response.bytes(),
        ));
        let after = records.request.iter().chain(&records.metadata);
        for record in std::iter::once(&records.response).chain(after) {
            record.write(&mut warc).map_err(&io_error)?;
        }
    }
    if let Some(screenshot) = &metadata.screenshot {
        let record = records::screenshot(screenshot, metadata);
        record.write(&mut warc).map_err(&io_error)?;
    }
    let (hash, bytes) = (warc.hash.finalize(), warc.bytes);
    container.list(&path, &hash, bytes);
    Ok(lines)
}

/// The zip file with the list of its resources.
struct Packer<W: Write + Seek> {
    zip: ZipWriter<W>,
    resources: Vec<documents::Resource>,
}

impl<W: Write + Seek> Packer<W> {
    fn start(&mut self, path: &str) -> std::io::Result<()> {
        // Stored, since WACZ readers seek inside; `large_file`, since the size is not known yet.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(0o644)
            .large_file(path.ends_with(".warc"));
        self.zip
            .start_file(path, options)
            .map_err(std::io::Error::other)
    }

    fn list(&mut self, path: &str, hash: &[u8], bytes: u64) {
        self.resources.push(documents::Resource {
            name: path.rsplit('/').next().unwrap_or(path).to_owned(),
            path: path.to_owned(),
            hash: format!("sha256:{}", digest::hexadecimal(hash)),
            bytes,
        });
    }

    fn add(&mut self, path: &str, content: &str) -> std::io::Result<()> {
        self.start(path)?;
        self.zip.write_all(content.as_bytes())?;
        self.list(path, &Sha256::digest(content), content.len() as u64);
        Ok(())
    }
}

/// A writer that counts and hashes what passes through it.
struct Hashed<W: Write> {
    out: W,
    hash: Sha256,
    bytes: u64,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, content: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(content)?;
        self.hash.update(&content[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
