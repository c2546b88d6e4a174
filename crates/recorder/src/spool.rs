//! Bodies wait for the end of a recording in a file, not in memory.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

use bytes::Bytes;

use crate::RecordError;

/// A file that only grows; gone when this is dropped.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Spool {
    /// Makes the file, which must not exist.
    pub fn create(path: PathBuf) -> Result<Self, RecordError> {
        let mut options = OpenOptions::new();
        match options.append(true).create_new(true).open(&path) {
            Ok(file) => Ok(Self {
                path,
                file,
                bytes: 0,
            }),
            Err(source) => Err(RecordError::Spool {
                attempt: "make",
                path,
                source,
            }),
        }
    }

    /// Adds a body; returns where it is.
    pub fn add(&mut self, body: &[u8]) -> Result<Range<u64>, RecordError> {
        self.file
            .write_all(body)
            .map_err(|source| RecordError::Spool {
                attempt: "write to",
                path: self.path.clone(),
                source,
            })?;
        let start = self.bytes;
        self.bytes += body.len() as u64;
        Ok(start..self.bytes)
    }

    /// Everything that was added, mapped.
    pub fn map(&self) -> Result<Bytes, RecordError> {
        Ok(eyelevel_archive::map_file(&self.path)?)
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path); // nothing is left to be told that it stays
    }
}
