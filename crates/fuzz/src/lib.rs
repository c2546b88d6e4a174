//! Fuzz targets of everything that reads what strangers wrote. `make fuzz` runs each for a bounded
//! time (`scripts/fuzz`); `cargo test -p eyelevel-fuzz` puts every input of `corpus/` through its
//! target, so an input that once failed stays a test.
//!
//! A new target is a file in `targets/`, a line in [`TARGETS`] and a folder in `corpus/`.

mod targets;

/// A parser and what must hold of every input; it panics where that does not hold.
pub type Target = fn(&[u8]);

/// All targets by name; `corpus/NAME` holds where each begins.
pub const TARGETS: [(&str, Target); 15] = [
    ("archive", targets::archive::run),
    ("coding", targets::coding::run),
    ("dns_answer", targets::dns_answer::run),
    ("har", targets::har::run),
    ("http3_response", targets::http3_response::run),
    ("http3_streams", targets::http3_streams::run),
    ("mahimahi", targets::mahimahi::run),
    ("mitmproxy", targets::mitmproxy::run),
    ("path_log", targets::path_log::run),
    ("qpack", targets::qpack::run),
    ("quic_datagram", targets::quic_datagram::run),
    ("stages_json", targets::stages_json::run),
    ("stages_text", targets::stages_text::run),
    ("trace", targets::trace::run),
    ("wpr", targets::wpr::run),
];

/// The target of that name.
pub fn find(name: &str) -> Option<Target> {
    TARGETS
        .iter()
        .find_map(|(known, target)| (*known == name).then_some(*target))
}
