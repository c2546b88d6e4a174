use std::collections::HashMap;
use std::net::IpAddr;

/// The largest message read or written (RFC 1035, section 4.2.1). No recorded name has so many
/// addresses that it would not fit, and a query is far smaller.
pub const MESSAGE_BYTES_MAX: usize = 512;

const HEADER_BYTES: usize = 12;
/// The largest encoded name (RFC 1035, section 2.3.4).
const NAME_BYTES_MAX: usize = 255;
const TYPE_A: u16 = 1;
const TYPE_AAAA: u16 = 28;
const CLASS_IN: u16 = 1;
/// The records' time to live, long enough that no name is queried twice within a load.
const TTL_S: u32 = 3600;
/// A compression pointer to the question's name at offset 12 (RFC 1035, section 4.1.4).
const POINTER_TO_QUESTION: [u8; 2] = [0xc0, HEADER_BYTES as u8];

const FLAG_RESPONSE: u16 = 0x8000;
const FLAG_AUTHORITATIVE: u16 = 0x0400;
const FLAG_RECURSION_DESIRED: u16 = 0x0100;
const FLAG_RECURSION_AVAILABLE: u16 = 0x0080;
const OPCODE: u16 = 0x7800;
const RCODE_FORMAT_ERROR: u16 = 1;
const RCODE_NAME_ERROR: u16 = 3;
const RCODE_NOT_IMPLEMENTED: u16 = 4;

/// Host names in lower case, with their addresses in the order in which they are returned.
pub type Table = HashMap<String, Vec<IpAddr>>;

/// The subject of a query, for counting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// A name of the table.
    Known,
    /// A name that was not recorded.
    Unknown(String),
    /// A message that cannot be parsed as a query.
    Malformed,
}

/// Answers one DNS message (RFC 1035) from `table`; returns `None` for a message that must not be
/// answered: one too short for a header, or a response.
///
/// Known names have A and AAAA records; a query for another type gets an empty answer. Unknown
/// names get NXDOMAIN, and a message that cannot be parsed gets FORMERR.
pub fn answer(query: &[u8], table: &Table) -> Option<Vec<u8>> {
    answer_and_subject(query, table).0
}

pub(super) fn answer_and_subject(query: &[u8], table: &Table) -> (Option<Vec<u8>>, Subject) {
    let Some(flags) = read_u16(query, 2).filter(|_| query.len() >= HEADER_BYTES) else {
        return (None, Subject::Malformed);
    };
    if flags & FLAG_RESPONSE != 0 {
        return (None, Subject::Malformed);
    }
    if flags & OPCODE != 0 {
        return (
            Some(head(query, flags, RCODE_NOT_IMPLEMENTED)),
            Subject::Malformed,
        );
    }
    let question = (read_u16(query, 4) == Some(1))
        .then(|| Question::read(query))
        .flatten();
    let Some(question) = question else {
        return (
            Some(head(query, flags, RCODE_FORMAT_ERROR)),
            Subject::Malformed,
        );
    };
    match table.get(&question.name) {
        None => {
            let message = respond(query, flags, RCODE_NAME_ERROR, &question, &[]);
            (Some(message), Subject::Unknown(question.name))
        }
        Some(addresses) => {
            let selected: Vec<IpAddr> = addresses
                .iter()
                .copied()
                .filter(|address| question.matches(address))
                .collect();
            (
                Some(respond(query, flags, 0, &question, &selected)),
                Subject::Known,
            )
        }
    }
}

struct Question {
    name: String,
    kind: u16,
    class: u16,
    end: usize,
}

impl Question {
    fn read(message: &[u8]) -> Option<Self> {
        let mut name = String::new();
        let mut at = HEADER_BYTES;
        loop {
            let length = usize::from(*message.get(at)?);
            at += 1;
            if length == 0 {
                break;
            }
            // Above 63 is a pointer, which a question does not need.
            if length > 63 || name.len() + length > NAME_BYTES_MAX {
                return None;
            }
            if !name.is_empty() {
                name.push('.');
            }
            for byte in message.get(at..at + length)? {
                let printable = byte.is_ascii_graphic() && *byte != b'.';
                name.push(if printable {
                    byte.to_ascii_lowercase() as char
                } else {
                    '?'
                });
            }
            at += length;
        }
        Some(Self {
            name,
            kind: read_u16(message, at)?,
            class: read_u16(message, at + 2)?,
            end: at + 4,
        })
    }

    fn matches(&self, address: &IpAddr) -> bool {
        let kind = if address.is_ipv4() { TYPE_A } else { TYPE_AAAA };
        self.class == CLASS_IN && self.kind == kind
    }
}

fn head(query: &[u8], flags: u16, rcode: u16) -> Vec<u8> {
    let mut message = Vec::with_capacity(MESSAGE_BYTES_MAX);
    message.extend_from_slice(&query[..2]);
    let copied = flags & (OPCODE | FLAG_RECURSION_DESIRED);
    let set = FLAG_RESPONSE | FLAG_AUTHORITATIVE | FLAG_RECURSION_AVAILABLE;
    message.extend_from_slice(&(copied | set | rcode).to_be_bytes());
    message.resize(HEADER_BYTES, 0);
    message
}

fn respond(
    query: &[u8],
    flags: u16,
    rcode: u16,
    question: &Question,
    addresses: &[IpAddr],
) -> Vec<u8> {
    let mut message = head(query, flags, rcode);
    message[5] = 1;
    // The question is echoed with its letter case: some resolvers check that.
    message.extend_from_slice(&query[HEADER_BYTES..question.end]);
    let mut count: u16 = 0;
    for address in addresses {
        let data: Vec<u8> = match address {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        };
        if message.len() + HEADER_BYTES + data.len() > MESSAGE_BYTES_MAX {
            break;
        }
        message.extend_from_slice(&POINTER_TO_QUESTION);
        message.extend_from_slice(&question.kind.to_be_bytes());
        message.extend_from_slice(&CLASS_IN.to_be_bytes());
        message.extend_from_slice(&TTL_S.to_be_bytes());
        message.extend_from_slice(&(data.len() as u16).to_be_bytes());
        message.extend_from_slice(&data);
        count += 1;
    }
    message[6..8].copy_from_slice(&count.to_be_bytes());
    message
}

fn read_u16(message: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([
        *message.get(at)?,
        *message.get(at + 1)?,
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE_HTTPS: u16 = 65;

    fn query(name: &str, kind: u16) -> Vec<u8> {
        let mut message = vec![0xab, 0xcd, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            message.push(label.len() as u8);
            message.extend_from_slice(label.as_bytes());
        }
        message.push(0);
        message.extend_from_slice(&kind.to_be_bytes());
        message.extend_from_slice(&CLASS_IN.to_be_bytes());
        message
    }

    fn table() -> Table {
        let addresses = vec!["192.0.2.7".parse().unwrap(), "2001:db8::7".parse().unwrap()];
        Table::from([("www.example".to_owned(), addresses)])
    }

    fn rcode(message: &[u8]) -> u8 {
        message[3] & 15
    }

    #[test]
    fn addresses_are_given_by_type_and_in_any_letter_case() {
        for (kind, data) in [
            (TYPE_A, vec![192, 0, 2, 7]),
            (
                TYPE_AAAA,
                vec![0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7],
            ),
        ] {
            let question = query("WWW.example", kind);
            let message = answer(&question, &table()).unwrap();
            assert_eq!(message[..2], question[..2]);
            assert_eq!((rcode(&message), message[5], message[7]), (0, 1, 1));
            assert_eq!(message[12..question.len()], question[12..]);
            assert!(message.ends_with(&data));
        }
    }

    #[test]
    fn https_records_are_empty_and_unknown_names_do_not_exist() {
        let empty = answer(&query("www.example", TYPE_HTTPS), &table()).unwrap();
        assert_eq!((rcode(&empty), empty[7]), (0, 0));
        let unknown = answer(&query("update.example", TYPE_A), &table()).unwrap();
        assert_eq!((rcode(&unknown), unknown[7]), (3, 0));
    }

    #[test]
    fn unreadable_messages_are_format_errors_and_nothing_panics() {
        let whole = query("www.example", TYPE_A);
        for length in 0..whole.len() {
            let message = answer(&whole[..length], &table());
            if length < HEADER_BYTES {
                assert!(message.is_none());
            } else {
                assert_eq!(rcode(&message.unwrap()), 1);
            }
        }
        for position in 0..whole.len() {
            for value in 0..=255 {
                let mut changed = whole.clone();
                changed[position] = value;
                if let Some(message) = answer(&changed, &table()) {
                    assert!(message.len() <= MESSAGE_BYTES_MAX);
                }
            }
        }
    }

    #[test]
    fn a_response_is_never_answered_so_that_two_resolvers_cannot_loop() {
        let response = answer(&query("www.example", TYPE_A), &table()).unwrap();
        assert_eq!(answer(&response, &table()), None);
    }

    #[test]
    fn many_addresses_stay_within_a_message() {
        let many = (0..=255)
            .map(|last| IpAddr::from([192, 0, 2, last]))
            .collect();
        let table = Table::from([("www.example".to_owned(), many)]);
        let message = answer(&query("www.example", TYPE_A), &table).unwrap();
        assert!(message.len() <= MESSAGE_BYTES_MAX && message[7] > 20);
    }
}
