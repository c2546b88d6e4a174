use eyelevel_replay::dns::{MESSAGE_BYTES_MAX, Table, answer};
use std::net::IpAddr;

const HEADER_BYTES: usize = 12;

/// Parses a message to the lab's resolver. An answer has the query's id and is marked as a
/// response, so that two resolvers never loop; it fits, and the same query gets the same answer.
pub(crate) fn run(input: &[u8]) {
    let addresses = |texts: &[&str]| -> Vec<IpAddr> {
        let parsed = texts.iter().map(|text| text.parse());
        parsed.map(|each| each.expect("it is an address")).collect()
    };
    let table = Table::from([
        (
            "a.test".to_owned(),
            addresses(&["192.0.2.7", "2001:db8::7"]),
        ),
        ("b".to_owned(), addresses(&["192.0.2.8"; 60])),
    ]);
    // As in the socket's buffer.
    let input = &input[..input.len().min(MESSAGE_BYTES_MAX)];
    let Some(message) = answer(input, &table) else {
        return assert!(input.len() < HEADER_BYTES || input[2] & 0x80 != 0);
    };
    assert!(message.len() <= MESSAGE_BYTES_MAX && message.len() >= HEADER_BYTES);
    assert_eq!(message[..2], input[..2]);
    assert!(message[2] & 0x80 != 0 && answer(&message, &table).is_none());
    let is_answered = message[7] > 0;
    assert!(
        !is_answered || message[3] & 15 == 0,
        "an error with an address"
    );
    assert_eq!(answer(input, &table), Some(message));
}
