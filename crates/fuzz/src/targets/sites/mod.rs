//! Recorded sites: archives, other tools' recordings, and the servers that the recorder's requests
//! name.

pub(crate) mod archive;
pub(crate) mod coding;
pub(crate) mod edits;
pub(crate) mod har;
pub(crate) mod mahimahi;
pub(crate) mod mitmproxy;
pub(crate) mod request_authority;
pub(crate) mod wpr;

mod imported;
