//! Content codings of bodies: undone to rewrite them, and made again.

use std::io::{Read, Write};

use bytes::Bytes;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use flate2::{Compression, GzBuilder};

/// As a server with compression set to its usual level 6 would send it.
pub fn gzip(body: &[u8]) -> Bytes {
    let mut encoder = GzBuilder::new()
        .mtime(0)
        .write(Vec::new(), Compression::new(6));
    encoder.write_all(body).expect("a vector takes every byte");
    encoder.finish().expect("a vector takes every byte").into()
}

/// Undoes gzip, all its members, up to `bytes_max`.
pub fn gunzip(content: &[u8], bytes_max: u64) -> Result<Vec<u8>, String> {
    read_bounded(MultiGzDecoder::new(content), bytes_max)
}

/// Undoes the content coding `name`; none where it is not one that is known here.
pub fn decode(name: &str, body: &[u8], bytes_max: u64) -> Option<Result<Vec<u8>, String>> {
    match name.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => Some(Ok(body.to_vec())),
        "gzip" | "x-gzip" => Some(gunzip(body, bytes_max)),
        "deflate" => Some(read_bounded(ZlibDecoder::new(body), bytes_max)),
        _ => None,
    }
}

fn read_bounded(reader: impl Read, bytes_max: u64) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let mut bounded = reader.take(bytes_max + 1);
    bounded
        .read_to_end(&mut content)
        .map_err(|error| error.to_string())?;
    if content.len() as u64 > bytes_max {
        return Err(format!("it inflates beyond {bytes_max} bytes"));
    }
    Ok(content)
}
