//! Inputs of the lab's servers and resolver, and the selection of responses.

pub(crate) mod certificate_names;
pub(crate) mod client_hello;
pub(crate) mod dns_query;
pub(crate) mod http2_frames;
pub(crate) mod http3_streams;
pub(crate) mod matcher;
pub(crate) mod priority;
pub(crate) mod qpack;
pub(crate) mod range;
