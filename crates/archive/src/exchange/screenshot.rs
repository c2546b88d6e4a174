//! What a recorded page looked like.

use bytes::Bytes;

/// A picture of the page's viewport at the end of its recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screenshot {
    /// `image/webp`, `image/png` or `image/jpeg`.
    pub media_type: String,
    /// The encoded picture.
    pub image: Bytes,
}

/// How Browsertrix names screenshots in WARC files: followed by the page's URL.
pub const URI_PREFIX: &str = "urn:view:";
