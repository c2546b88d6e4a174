//! Pure: queries and answers (RFC 1035), HTTPS records (RFC 9460).

use super::name::{name_at, skip_name};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The record type of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordType {
    /// IPv4 addresses.
    A = 1,
    /// IPv6 addresses.
    Aaaa = 28,
    /// Service bindings for HTTPS.
    Https = 65,
}

/// One HTTPS record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpsRecord {
    /// The priority; 0 is an alias.
    pub priority: u16,
    /// Protocols of ALPN, with `h3` if the server supports QUIC.
    pub alpn: Vec<String>,
    /// Whether it carries keys for Encrypted ClientHello.
    pub has_ech: bool,
}

/// The contents of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The RCODE: 0 is no error, 3 is no such name.
    pub code: u8,
    /// Whether the answer was truncated, so that TCP is needed.
    pub is_truncated: bool,
    /// Addresses of the queried type.
    pub addresses: Vec<IpAddr>,
    /// HTTPS records.
    pub https: Vec<HttpsRecord>,
    /// The targets of the queried name's aliases, in order (CNAME; RFC 1034, section 3.6.2).
    pub cnames: Vec<String>,
}

const NAME_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;
/// The most records read; answers of name servers have fewer, but compression pointers could expand
/// few bytes to many.
const RECORDS_MAX: usize = 64;
/// The size that we offer for UDP answers (EDNS, RFC 6891; the size of DNS flag day 2020).
const UDP_BYTES: u16 = 1232;
const CLASS_IN: u16 = 1;
const CNAME: u16 = 5;

/// Encodes a query; `None` if the name is not valid in one.
pub fn query(id: u16, name: &str, kind: RecordType) -> Option<Vec<u8>> {
    let name = name.trim_end_matches('.');
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return None;
    }
    let mut bytes = id.to_be_bytes().to_vec();
    // Recursion desired; one question; one additional record, EDNS's.
    bytes.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
    for label in name.split('.') {
        if label.is_empty() || label.len() > LABEL_BYTES_MAX || !label.is_ascii() {
            return None;
        }
        bytes.push(label.len() as u8);
        bytes.extend_from_slice(label.as_bytes());
    }
    bytes.push(0);
    bytes.extend((kind as u16).to_be_bytes());
    bytes.extend(CLASS_IN.to_be_bytes());
    bytes.extend([0, 0, 41]);
    bytes.extend(UDP_BYTES.to_be_bytes());
    bytes.extend([0; 6]);
    Some(bytes)
}

/// Parses the answer to a query; `None` if it is not a well-formed answer to this very question.
pub fn parse(bytes: &[u8], query: &[u8], kind: RecordType) -> Option<Answer> {
    let is_answer = bytes.len() >= 12 && bytes[..2] == query[..2] && bytes[2] & 0x80 != 0;
    if !is_answer {
        return None;
    }
    let mut answer = Answer {
        code: bytes[3] & 0x0f,
        is_truncated: bytes[2] & 0x02 != 0,
        ..Answer::default()
    };
    let mut at = 12;
    for _ in 0..number(bytes, 4)?.min(1) {
        let end = skip_name(bytes, at)?.checked_add(4)?;
        // The question, except for the EDNS record at the query's end, must be repeated.
        if !bytes
            .get(at..end)?
            .eq_ignore_ascii_case(query.get(12..query.len() - 11)?)
        {
            return None;
        }
        at = end;
    }
    let mut aliases = Vec::new();
    for _ in 0..usize::from(number(bytes, 6)?).min(RECORDS_MAX) {
        let Some(record) = next_record(bytes, at) else {
            return answer.is_truncated.then_some(answer);
        };
        if (record.kind, record.class) == (kind as u16, CLASS_IN) {
            read_record(kind, record.data, &mut answer)?;
        } else if (record.kind, record.class) == (CNAME, CLASS_IN) {
            // A name that cannot be parsed does not affect the addresses in the same answer.
            aliases.extend(alias(&bytes[..record.end], at, record.data.len()));
        }
        at = record.end;
    }
    answer.cnames = chain(name_at(query, 12)?, aliases);
    Some(answer)
}

/// Returns the owner and the target of a CNAME that ends with the bytes. The target fills its
/// record: one that continues beyond would include the bytes that follow.
fn alias(bytes: &[u8], at: usize, data_bytes: usize) -> Option<(String, String)> {
    let target_at = bytes.len() - data_bytes;
    (skip_name(bytes, target_at)? == bytes.len()).then_some(())?;
    name_at(bytes, at).zip(name_at(bytes, target_at))
}

/// Follows the aliases from a name, in whatever order they arrived; each is followed once.
fn chain(mut name: String, mut aliases: Vec<(String, String)>) -> Vec<String> {
    let mut chain = Vec::new();
    while let Some(next) = aliases.iter().position(|(owner, _)| *owner == name) {
        name = aliases.swap_remove(next).1;
        chain.push(name.clone());
    }
    chain
}

struct Record<'a> {
    kind: u16,
    class: u16,
    data: &'a [u8],
    end: usize,
}

/// Parses the next record (RFC 1035, section 3.2.1); `None` if it is truncated.
fn next_record(bytes: &[u8], at: usize) -> Option<Record<'_>> {
    let at = skip_name(bytes, at)?;
    let begin = at + 10;
    let end = begin + usize::from(number(bytes, at + 8)?);
    Some(Record {
        kind: number(bytes, at)?,
        class: number(bytes, at + 2)?,
        data: bytes.get(begin..end)?,
        end,
    })
}

fn read_record(kind: RecordType, data: &[u8], answer: &mut Answer) -> Option<()> {
    match kind {
        RecordType::A => {
            let octets: [u8; 4] = data.try_into().ok()?;
            answer.addresses.push(Ipv4Addr::from(octets).into());
        }
        RecordType::Aaaa => {
            let octets: [u8; 16] = data.try_into().ok()?;
            answer.addresses.push(Ipv6Addr::from(octets).into());
        }
        RecordType::Https => answer.https.push(https_record(data)?),
    }
    Some(())
}

/// Parses an HTTPS record (RFC 9460, section 2.2); its target name is never compressed.
fn https_record(data: &[u8]) -> Option<HttpsRecord> {
    const ALPN: u16 = 1;
    const ECH: u16 = 5;
    let mut record = HttpsRecord {
        priority: number(data, 0)?,
        ..HttpsRecord::default()
    };
    let mut at = skip_name(data, 2)?;
    while at < data.len() {
        let (key, length) = (number(data, at)?, usize::from(number(data, at + 2)?));
        let value = data.get(at + 4..at + 4 + length)?;
        at += 4 + length;
        match key {
            ALPN => {
                let mut rest = value;
                while let Some((length, after)) = rest.split_first() {
                    let (name, after) = after.split_at_checked(usize::from(*length))?;
                    record.alpn.push(String::from_utf8_lossy(name).into_owned());
                    rest = after;
                }
            }
            ECH => record.has_ech = true,
            _ => {}
        }
    }
    Some(record)
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(
        bytes.get(at..at.checked_add(2)?)?.try_into().ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(query: &[u8], records: &[(u16, &[u8])]) -> Vec<u8> {
        let mut bytes = query[..query.len() - 11].to_vec();
        bytes[2..4].copy_from_slice(&[0x81, 0x80]);
        bytes[7] = records.len() as u8;
        bytes[11] = 0;
        for (kind, data) in records {
            bytes.extend([0xc0, 12]);
            bytes.extend(kind.to_be_bytes());
            bytes.extend([0, 1, 0, 0, 0, 60]);
            bytes.extend((data.len() as u16).to_be_bytes());
            bytes.extend_from_slice(data);
        }
        bytes
    }

    #[test]
    fn addresses_are_read_past_a_chain_of_other_records() {
        let query_bytes = query(7, "www.example.com.", RecordType::A).unwrap();
        let bytes = answer(&query_bytes, &[(5, &[1, b'x', 0]), (1, &[192, 0, 2, 1])]);
        let found = parse(&bytes, &query_bytes, RecordType::A).unwrap();
        assert_eq!(found.addresses, ["192.0.2.1".parse::<IpAddr>().unwrap()]);
        assert_eq!(found.cnames, ["x"]);
        for target in [&[5, b'x', 0][..], &[1, b'x', 0, 0]] {
            let bytes = answer(&query_bytes, &[(5, target), (1, &[192, 0, 2, 1])]);
            let found = parse(&bytes, &query_bytes, RecordType::A).unwrap();
            assert_eq!((found.addresses.len(), found.cnames.len()), (1, 0));
        }
        let other = query(7, "www.example.org", RecordType::A).unwrap();
        assert_eq!(
            parse(&bytes, &other, RecordType::A),
            None,
            "another name's answer"
        );
    }

    #[test]
    fn aliases_are_followed_in_any_order_and_never_twice() {
        let pair = |owner: &str, target: &str| (owner.to_owned(), target.to_owned());
        let aliases = vec![pair("b", "c"), pair("a", "b"), pair("z", "y")];
        assert_eq!(chain("a".into(), aliases), ["b", "c"]);
        let circle = vec![pair("a", "b"), pair("b", "a")];
        assert_eq!(chain("a".into(), circle), ["b", "a"]);
    }

    #[test]
    fn https_records_list_their_protocols() {
        let query_bytes = query(7, "a.example", RecordType::Https).unwrap();
        let data = [
            0, 1, 0, 0, 1, 0, 6, 2, b'h', b'3', 2, b'h', b'2', 0, 5, 0, 1, 9,
        ];
        let found = parse(
            &answer(&query_bytes, &[(65, &data)]),
            &query_bytes,
            RecordType::Https,
        )
        .unwrap();
        assert_eq!(found.https[0].alpn, ["h3", "h2"]);
        assert!(found.https[0].has_ech);
    }

    #[test]
    fn invalid_names_are_refused() {
        for name in [
            "",
            ".",
            "a..b",
            &"a".repeat(64),
            &"a.".repeat(128),
            "ä.example",
        ] {
            assert_eq!(query(1, name, RecordType::A), None, "{name}");
        }
    }

    #[test]
    fn every_cut_of_an_answer_is_harmless() {
        let query_bytes = query(7, "a.example", RecordType::A).unwrap();
        let bytes = answer(&query_bytes, &[(1, &[192, 0, 2, 1])]);
        for end in 0..bytes.len() {
            assert_eq!(parse(&bytes[..end], &query_bytes, RecordType::A), None);
        }
        // A truncated one is queried again, wherever the cut is.
        let mut cut = bytes.clone();
        cut[2] |= 0x02;
        for end in query_bytes.len() - 11..bytes.len() {
            let found = parse(&cut[..end], &query_bytes, RecordType::A).unwrap();
            assert!(found.is_truncated && found.addresses.is_empty());
        }
    }
}
