use super::imported;
use bytes::Bytes;
use eyelevel_archive::Format;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

/// Imports a Web Page Replay archive; the input is the content of its gzip, unless it is gzip
/// itself.
pub(crate) fn run(input: &[u8]) {
    if input.starts_with(&[0x1f, 0x8b]) {
        return imported::check(Format::WebPageReplay, Bytes::copy_from_slice(input));
    }
    let mut coder = GzEncoder::new(Vec::new(), Compression::fast());
    coder.write_all(input).expect("memory takes it");
    let packed = coder.finish().expect("memory takes it");
    imported::check(Format::WebPageReplay, packed.into());
}
