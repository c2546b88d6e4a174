use crate::targets::check_message;

/// Parses the first line that a lab reads; what follows it must not change the result.
pub(crate) fn run(input: &[u8]) {
    let found = eyelevel_lab::check_configuration(input);
    if let Err(message) = &found {
        check_message(message);
    }
    let line = input
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let with_commands = [line, b"\n{\"command\": \"stop\"}\n"].concat();
    assert_eq!(
        eyelevel_lab::check_configuration(&with_commands).is_ok(),
        found.is_ok()
    );
}
