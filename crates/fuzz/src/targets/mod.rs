//! One parser a file.

pub(crate) mod archive;
pub(crate) mod certificate_names;
pub(crate) mod client_hello;
pub(crate) mod coding;
pub(crate) mod dns_answer;
pub(crate) mod dns_query;
pub(crate) mod har;
pub(crate) mod http2_frames;
pub(crate) mod http3_response;
pub(crate) mod http3_streams;
pub(crate) mod lab_configuration;
pub(crate) mod mahimahi;
pub(crate) mod matcher;
pub(crate) mod mitmproxy;
pub(crate) mod path_log;
pub(crate) mod priority;
pub(crate) mod qpack;
pub(crate) mod quic_datagram;
pub(crate) mod range;
pub(crate) mod request_authority;
pub(crate) mod scan_prefix;
pub(crate) mod stages_json;
pub(crate) mod stages_text;
pub(crate) mod tls_records;
pub(crate) mod trace;
pub(crate) mod wpr;

mod imported;
mod stages;

/// What every message must be: one line that says something.
pub(crate) fn check_message(error: &impl std::fmt::Display) {
    let message = error.to_string();
    assert!(!message.is_empty(), "an empty message");
    assert!(!message.contains('\n'), "not one line: {message:?}");
}
