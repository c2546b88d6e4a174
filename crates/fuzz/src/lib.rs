//! Fuzz targets of everything that reads what strangers wrote. `make fuzz` runs each for a bounded
//! time (`scripts/fuzz`); `cargo test -p eyelevel-fuzz` puts every input of `corpus/` through its
//! target, so an input that once failed stays a test.
//!
//! A new target is a file in `targets/`, a line in [`TARGETS`] and a folder in `corpus/`.

mod targets;

/// A parser and what must hold of every input; it panics where that does not hold.
pub type Target = fn(&[u8]);

/// All targets by name; `corpus/NAME` holds where each begins.
pub const TARGETS: [(&str, Target); 26] = [
    ("archive", targets::archive::run),
    ("certificate_names", targets::certificate_names::run),
    ("client_hello", targets::client_hello::run),
    ("coding", targets::coding::run),
    ("dns_answer", targets::dns_answer::run),
    ("dns_query", targets::dns_query::run),
    ("har", targets::har::run),
    ("http2_frames", targets::http2_frames::run),
    ("http3_response", targets::http3_response::run),
    ("http3_streams", targets::http3_streams::run),
    ("lab_configuration", targets::lab_configuration::run),
    ("mahimahi", targets::mahimahi::run),
    ("matcher", targets::matcher::run),
    ("mitmproxy", targets::mitmproxy::run),
    ("path_log", targets::path_log::run),
    ("priority", targets::priority::run),
    ("qpack", targets::qpack::run),
    ("quic_datagram", targets::quic_datagram::run),
    ("range", targets::range::run),
    ("request_authority", targets::request_authority::run),
    ("scan_prefix", targets::scan_prefix::run),
    ("stages_json", targets::stages_json::run),
    ("stages_text", targets::stages_text::run),
    ("tls_records", targets::tls_records::run),
    ("trace", targets::trace::run),
    ("wpr", targets::wpr::run),
];

/// The target of that name.
pub fn find(name: &str) -> Option<Target> {
    TARGETS
        .iter()
        .find_map(|(known, target)| (*known == name).then_some(*target))
}
