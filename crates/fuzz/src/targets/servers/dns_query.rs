use eyelevel_replay::dns::{MESSAGE_BYTES_MAX, Table, answer};
use std::net::IpAddr;

const HEADER_BYTES: usize = 12;

/// A message to the lab's resolver: an answer has the query's number and says that it is one, so that
/// two resolvers never talk; it fits, and asked again it is the same.
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
    // As the socket's buffer has it.
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
