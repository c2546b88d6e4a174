use eyelevel_replay::scheduler::Priority;

/// The value of a `Priority` field, as PRIORITY_UPDATE frames carry it over HTTP/2 and HTTP/3.
pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let priority = Priority::parse(text);
    assert!(priority.urgency <= 7);
    assert_eq!(Priority::parse(&priority.to_string()), priority);
    // What is not understood counts as not said (RFC 9218, section 4).
    assert_eq!(Priority::parse(&format!("{text},z;u=0")), priority);
}
