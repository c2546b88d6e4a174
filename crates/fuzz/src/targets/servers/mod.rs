//! What the lab's servers and its resolver read, and what they choose by it.

pub(crate) mod certificate_names;
pub(crate) mod client_hello;
pub(crate) mod dns_query;
pub(crate) mod http2_frames;
pub(crate) mod http3_streams;
pub(crate) mod matcher;
pub(crate) mod priority;
pub(crate) mod qpack;
pub(crate) mod range;
