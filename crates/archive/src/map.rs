//! Memory-mapped files: the only unsafe operation of this crate.
#![allow(unsafe_code)]

use std::fs::File;
use std::path::Path;

use bytes::Bytes;

use crate::error::Error;
use crate::limits::FILE_BYTES_MAX;

/// Maps `path` read-only; slices of the result share the mapping.
pub fn map_file(path: &Path) -> Result<Bytes, Error> {
    // Checked before opening, because opening a pipe blocks until it has a writer.
    let metadata = std::fs::metadata(path).map_err(io_error("open", path))?;
    if !metadata.is_file() {
        return Err(no_regular_file(path));
    }
    let file = File::open(path).map_err(io_error("open", path))?;
    map_open_file(&file, path)
}

/// Like [`map_file`], for an open file; `path` is for messages.
pub fn map_open_file(file: &File, path: &Path) -> Result<Bytes, Error> {
    let metadata = file
        .metadata()
        .map_err(io_error("read the size of", path))?;
    if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX {
        return Err(no_regular_file(path));
    }
    if metadata.len() == 0 {
        return Ok(Bytes::new()); // mmap refuses an empty range
    }
    // SAFETY: the mapping is private and read-only, and every access goes through `&[u8]`. As with
    // any mapped file, another process that truncates or rewrites it in place meanwhile can end
    // this process (SIGBUS) or change bytes under it; this crate's writer therefore replaces files
    // by rename, which leaves the mapped one alone.
    let map = unsafe { memmap2::Mmap::map(file) }.map_err(io_error("map", path))?;
    Ok(Bytes::from_owner(map))
}

fn no_regular_file(path: &Path) -> Error {
    io_error("map", path)(std::io::Error::other(format!(
        "a recorded site is a regular file of at most {FILE_BYTES_MAX} bytes"
    )))
}

fn io_error(attempt: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    move |source| Error::Io {
        attempt,
        path: path.to_owned(),
        source,
    }
}
