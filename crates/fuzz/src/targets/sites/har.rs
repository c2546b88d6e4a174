use super::imported;
use bytes::Bytes;
use eyelevel_archive::Format;

/// Imports a HAR file with bodies.
pub(crate) fn run(input: &[u8]) {
    imported::check(Format::Har, Bytes::copy_from_slice(input));
}
