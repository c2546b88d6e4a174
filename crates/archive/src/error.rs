//! Errors of reading and writing recorded sites.

use eyelevel_units::{one_line, refusal};
use std::path::PathBuf;

/// An error from opening, verifying or writing a recorded site.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed.
    #[error("cannot {attempt} {}: {}", path.display(), refusal(source))]
    Io {
        /// What was attempted, as a verb.
        attempt: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is neither WARC nor WACZ.
    #[error(
        "{file} is not a recorded site: it begins with neither a WARC record, a gzip member nor a \
         zip entry; give a .warc, .warc.gz or .wacz file"
    )]
    Unrecognised {
        /// The file.
        file: String,
    },
    /// The file is an ARC file, the format before WARC.
    #[error(
        "{file} is an ARC file, the format before WARC, which is not read; make a WARC of it with \
         `warcio recompress FILE.arc.gz FILE.warc.gz`"
    )]
    Arc {
        /// The file.
        file: String,
    },
    /// The file holds no response that can be replayed.
    #[error(
        "{file} holds {records} records but no recorded HTTP response{}; record the site again, \
         responses included",
        left_out.as_ref().map_or_else(String::new, |first| format!(" (left out: {first})"))
    )]
    Empty {
        /// The file.
        file: String,
        /// The number of records of all kinds.
        records: u64,
        /// Why the first response in the file was left out.
        left_out: Option<String>,
    },
    /// The page itself cannot be replayed, and another exchange must not be taken for it.
    #[error(
        "the {left} exchanges of {file} that can be replayed hold no page (left out: {left_out}); \
         record the page again"
    )]
    NoPage {
        /// The file.
        file: String,
        /// The number of exchanges that can be replayed.
        left: usize,
        /// Which exchange was left out, and why.
        left_out: String,
    },
    /// A record is damaged.
    #[error(
        "{} is damaged at record {record}, byte {offset}: {reason}; copy or record it again",
        one_line(file)
    )]
    Damaged {
        /// The file; a member of a WACZ as `FILE!member`.
        file: String,
        /// The record's number, counted from 0.
        record: u64,
        /// The offset of the record, or of its gzip member, in that file, bytes.
        offset: u64,
        /// What is wrong.
        reason: Damage,
    },
    /// A WACZ's container is invalid.
    #[error(
        "{} is not a sound WACZ at {}{}: {}; copy or pack it again",
        one_line(file),
        one_line(entry),
        offset.map_or_else(String::new, |offset| format!(", byte {offset}")),
        one_line(reason)
    )]
    Container {
        /// The file.
        file: String,
        /// The zip entry or `zip directory`.
        entry: String,
        /// The offset of the entry in the file, or where the directory should have ended, bytes;
        /// `None` if there is no such entry.
        offset: Option<u64>,
        /// What is wrong.
        reason: String,
    },
    /// The zip file holds a HAR, written by another tool.
    #[error(
        "{} is no WACZ but a HAR in a zip file{}",
        one_line(file),
        match has_bodies_beside {
            true => ", with its bodies beside it, as Playwright writes it; record it again as a .har \
                     file with the bodies in it (content: \"embed\") and import that",
            false => "; unzip it and import the .har file",
        }
    )]
    HarInZip {
        /// The file.
        file: String,
        /// Whether the zip file has other entries besides the HAR.
        has_bodies_beside: bool,
    },
    /// The zip file was written by another tool.
    #[error(
        "{} is a zip file and no WACZ, which has a datapackage.json; {}",
        one_line(file),
        match has_warc {
            true => "unzip it and import its WARC files",
            false => "pack it again, or export a HAR with bodies from the tool that wrote it",
        }
    )]
    OtherZip {
        /// The file.
        file: String,
        /// Whether it holds a WARC file.
        has_warc: bool,
    },
    /// The manifest of a site to pack cannot be used.
    #[error("cannot pack {}: {}", path.display(), one_line(reason))]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// Another tool's recording cannot be read.
    #[error("cannot import {}: {}", path.display(), one_line(reason))]
    Import {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// An exchange cannot be written so that it reads back the same.
    #[error(
        "cannot write exchange {index}: {}; correct it or leave it out",
        one_line(reason)
    )]
    Unwritable {
        /// The exchange's position in the list to write, counted from 0.
        index: usize,
        /// What is wrong with it.
        reason: String,
    },
}

impl Damage {
    /// Whether a single HTTP message is broken. Such damage leaves out its exchange and does not
    /// refuse the file. Applies only to errors from parsing a message.
    pub(crate) fn is_message_damage(&self) -> bool {
        matches!(
            self,
            Self::Http(_)
                | Self::Chunked { .. }
                | Self::HeadTooLong { .. }
                | Self::HeadCut { .. }
                | Self::TooManyFields { .. }
        )
    }
}

/// What is wrong with one record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // each message says it
pub enum Damage {
    #[error("gzip member cannot be inflated ({})", one_line(.0))]
    Gzip(String),
    #[error("it inflates beyond the bound of {bytes_max} bytes for a file of this size")]
    InflatesTooFar { bytes_max: u64 },
    #[error(
        "it would take more than {bytes_max} bytes of memory, the bound for a file of this size"
    )]
    TakesTooMuch { bytes_max: u64 },
    #[error("there is no line with the version, such as `WARC/1.1`")]
    NoVersion,
    #[error("its header has no end within {bytes_max} bytes")]
    HeadTooLong { bytes_max: usize },
    #[error("its header of {bytes} bytes ends without an empty line")]
    HeadCut { bytes: usize },
    #[error("its header has more than {fields_max} fields")]
    TooManyFields { fields_max: usize },
    #[error("the header line `{}` has no colon", one_line(.0))]
    BadHeaderLine(String),
    #[error("the field `{0}` is missing")]
    MissingField(&'static str),
    #[error("the field `{field}` has the value `{}`", one_line(value))]
    BadField { field: &'static str, value: String },
    #[error("its block of {length} bytes ends beyond the {available} bytes that are there")]
    Truncated { length: u64, available: u64 },
    #[error("its block is not followed by two line ends, each CR LF")]
    NoTrailer,
    #[error("its HTTP message is broken: {}", one_line(.0))]
    Http(String),
    #[error("its chunked body is broken at byte {offset} of the body")]
    Chunked { offset: u64 },
    #[error("its {what} digest is {found}, recorded was {}", one_line(recorded))]
    Digest {
        what: &'static str,
        recorded: String,
        found: String,
    },
    #[error("the file has more than {records_max} records")]
    TooManyRecords { records_max: u64 },
}
