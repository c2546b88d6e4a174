use super::imported;
use bytes::Bytes;
use eyelevel_archive::Format;

/// Imports one file of a Mahimahi folder.
pub(crate) fn run(input: &[u8]) {
    imported::check(Format::Mahimahi, Bytes::copy_from_slice(input));
}
