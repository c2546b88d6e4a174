//! Files mapped into memory: the one unsafe operation of this crate.
#![allow(unsafe_code)]

use std::fs::File;
use std::path::Path;

use bytes::Bytes;

use crate::error::Error;
use crate::limits::FILE_BYTES_MAX;

/// Maps `path` read-only; slices of the result share the mapping.
pub fn map_file(path: &Path) -> Result<Bytes, Error> {
    let file = File::open(path).map_err(|source| Error::Io {
        attempt: "open",
        path: path.to_owned(),
        source,
    })?;
    map_open_file(&file, path)
}

/// As [`map_file`]; `path` is for messages.
pub fn map_open_file(file: &File, path: &Path) -> Result<Bytes, Error> {
    let error = |attempt| {
        move |source| Error::Io {
            attempt,
            path: path.to_owned(),
            source,
        }
    };
    let metadata = file.metadata().map_err(error("read the size of"))?;
    if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX {
        let reason = std::io::Error::other(format!(
            "a recorded site is a regular file of at most {FILE_BYTES_MAX} bytes"
        ));
        return Err(error("map")(reason));
    }
    if metadata.len() == 0 {
        return Ok(Bytes::new()); // mmap refuses an empty range
    }
    // SAFETY: the mapping is private and read-only, and every access goes through `&[u8]`. As with
    // any mapped file, somebody who truncates or rewrites it in place meanwhile can end this
    // process (SIGBUS) or change bytes under it; this crate's writer therefore replaces files by
    // rename, which leaves the mapped one alone.
    let map = unsafe { memmap2::Mmap::map(file) }.map_err(error("map"))?;
    Ok(Bytes::from_owner(map))
}
