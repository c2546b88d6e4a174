use crate::targets::check_message;
use eyelevel_link::Trace;

/// Parses a packet-delivery trace in Mahimahi's format.
pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    match Trace::parse(text, "a.trace") {
        Ok(trace) => {
            let opportunities = trace.opportunities_ms();
            assert_eq!(opportunities.len(), text.lines().count());
            assert!(opportunities.is_sorted());
            assert!(!trace.duration().is_zero());
            assert!(trace.mean_rate(1500).bits_per_second() > 0);
        }
        Err(error) => {
            check_message(&error);
            assert!(error.to_string().starts_with("a.trace"), "{error}");
        }
    }
}
