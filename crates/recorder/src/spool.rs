//! Spools bodies to a file until the end of a recording, to save memory.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::RecordError;

/// The file's mode: bodies are what a site sent to one user.
const PRIVATE: u32 = 0o600;

/// A file without a name, which disappears with its process, however that ends.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    file: File,
}

impl Spool {
    /// Creates the file on the disk of `path`, which must not exist and is used in messages.
    pub fn create(path: PathBuf) -> Result<Self, RecordError> {
        match create_unnamed(&path) {
            Ok(file) => Ok(Self { path, file }),
            Err(source) => Err(RecordError::Spool {
                attempt: "make",
                path,
                source,
            }),
        }
    }

    /// Appends a body; returns its range. After an error nothing was added.
    pub fn add(&mut self, body: &[u8]) -> Result<Range<u64>, RecordError> {
        add(&mut self.file, body).map_err(|source| RecordError::Spool {
            attempt: "write to",
            path: self.path.clone(),
            source,
        })
    }

    /// Maps everything that was added.
    pub fn map(&self) -> Result<Bytes, RecordError> {
        Ok(eyelevel_archive::map_open_file(&self.file, &self.path)?)
    }
}

/// Appends a body. The file's length determines its start: a body that is partially written before
/// a full disk is truncated, and where even that fails, it becomes an unused gap.
fn add(file: &mut File, body: &[u8]) -> io::Result<Range<u64>> {
    let start = file.seek(SeekFrom::End(0))?;
    match file.write_all(body) {
        Ok(()) => Ok(start..start + body.len() as u64),
        Err(error) => {
            let _ = file.set_len(start); // the next body begins after what stays
            Err(error)
        }
    }
}

fn create_unnamed(path: &Path) -> io::Result<File> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(PRIVATE);
    let without_name = options
        .clone()
        .custom_flags(libc::O_TMPFILE)
        .open(folder.unwrap_or(Path::new(".")));
    without_name.or_else(|_| {
        // Some file systems do not support unnamed files: then the name is removed at once.
        let file = options.create_new(true).open(path)?;
        std::fs::remove_file(path)?;
        Ok(file)
    })
}

#[cfg(test)]
mod tests;
