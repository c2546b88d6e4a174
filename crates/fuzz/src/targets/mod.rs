//! One parser a file.

pub(crate) mod archive;
pub(crate) mod coding;
pub(crate) mod dns_answer;
pub(crate) mod har;
pub(crate) mod http3_response;
pub(crate) mod http3_streams;
pub(crate) mod mahimahi;
pub(crate) mod mitmproxy;
pub(crate) mod path_log;
pub(crate) mod qpack;
pub(crate) mod quic_datagram;
pub(crate) mod stages_json;
pub(crate) mod stages_text;
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
