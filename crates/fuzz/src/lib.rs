//! Fuzz targets for everything that reads untrusted input. `make fuzz` runs each for a bounded time
//! (`scripts/fuzz`); `cargo test -p eyelevel-fuzz` passes every input of `corpus/` to its target,
//! so an input that once failed stays a test.
//!
//! A new target is a file in a folder of `targets/`, a line in [`TARGETS`] and a folder in
//! `corpus/`.

mod targets;

/// A function that passes any input to a parser, and panics if an invariant is violated.
pub type Target = fn(&[u8]);

/// All targets by name; `corpus/NAME` holds the initial inputs.
pub const TARGETS: [(&str, Target); 27] = [
    ("archive", targets::sites::archive::run),
    (
        "certificate_names",
        targets::servers::certificate_names::run,
    ),
    ("client_hello", targets::servers::client_hello::run),
    ("coding", targets::sites::coding::run),
    ("dns_answer", targets::prober::dns_answer::run),
    ("dns_query", targets::servers::dns_query::run),
    ("edits", targets::sites::edits::run),
    ("har", targets::sites::har::run),
    ("http2_frames", targets::servers::http2_frames::run),
    ("http3_response", targets::prober::http3_response::run),
    ("http3_streams", targets::servers::http3_streams::run),
    ("lab_configuration", targets::paths::lab_configuration::run),
    ("mahimahi", targets::sites::mahimahi::run),
    ("matcher", targets::servers::matcher::run),
    ("mitmproxy", targets::sites::mitmproxy::run),
    ("path_log", targets::paths::path_log::run),
    ("priority", targets::servers::priority::run),
    ("qpack", targets::servers::qpack::run),
    ("quic_datagram", targets::prober::quic_datagram::run),
    ("range", targets::servers::range::run),
    ("request_authority", targets::sites::request_authority::run),
    ("scan_prefix", targets::prober::scan_prefix::run),
    ("stages_json", targets::paths::stages_json::run),
    ("stages_text", targets::paths::stages_text::run),
    ("tls_records", targets::prober::tls_records::run),
    ("trace", targets::paths::trace::run),
    ("wpr", targets::sites::wpr::run),
];

/// Returns the target with this name.
pub fn find(name: &str) -> Option<Target> {
    TARGETS
        .iter()
        .find_map(|(known, target)| (*known == name).then_some(*target))
}
