use super::imported;
use bytes::Bytes;
use eyelevel_archive::Format;

/// Imports mitmproxy's flows.
pub(crate) fn run(input: &[u8]) {
    imported::check(Format::Mitmproxy, Bytes::copy_from_slice(input));
}
