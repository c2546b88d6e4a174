use eyelevel_replay::scheduler::Priority;

/// Parses the value of a `Priority` field, also sent in PRIORITY_UPDATE frames of HTTP/2 and
/// HTTP/3.
pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let priority = Priority::parse(text);
    assert!(priority.urgency <= 7);
    assert_eq!(Priority::parse(&priority.to_string()), priority);
    // Unknown parameters are ignored (RFC 9218, section 4).
    assert_eq!(Priority::parse(&format!("{text},z;u=0")), priority);
}
