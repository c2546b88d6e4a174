//! Screenshots of recorded pages.

use bytes::Bytes;

/// An image of the page's viewport at the end of its recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screenshot {
    /// `image/webp`, `image/png` or `image/jpeg`.
    pub media_type: String,
    /// The encoded image.
    pub image: Bytes,
}

/// The prefix of screenshot URIs in Browsertrix's WARC files; the page's URL follows.
pub const URI_PREFIX: &str = "urn:view:";
