use crate::ProbeError;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use tokio::net::UdpSocket;

/// The entry of a name in the lab's resolver.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Entry {
    /// IPv4 addresses.
    pub a: Vec<Ipv4Addr>,
    /// IPv6 addresses.
    pub aaaa: Vec<Ipv6Addr>,
    /// An HTTPS record with the protocol `h3`.
    pub h3: bool,
    /// The number of addresses from the first on, of which each name always gets the same one.
    pub spread: Option<u32>,
    /// Whether to never answer.
    pub silent: bool,
}

/// Names and their entries; `*` matches every other name.
pub type Zone = BTreeMap<String, Entry>;

const ANY: &str = "*";
const QUERY_BYTES_MAX: usize = 512;
const HEADER_BYTES: usize = 12;
const A: u16 = 1;
const AAAA: u16 = 28;
const HTTPS: u16 = 65;
const NO_SUCH_NAME: u8 = 3;
/// The data of the HTTPS record (RFC 9460, section 2.2): priority 1, the name itself, ALPN (key 1)
/// of `h3`.
const HTTPS_H3: [u8; 10] = [0, 1, 0, 0, 1, 0, 3, 2, b'h', b'3'];

pub(super) async fn bind(address: SocketAddr) -> Result<UdpSocket, ProbeError> {
    let bound = UdpSocket::bind(address).await;
    bound.map_err(ProbeError::system("answer names at", address))
}

/// Answers queries until it is dropped.
pub(super) async fn answer(socket: UdpSocket, zone: Zone) {
    let mut buffer = [0; QUERY_BYTES_MAX];
    loop {
        // ICMP errors of earlier answers are reported here, one per call.
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else {
            continue;
        };
        if let Some(answer) = answer_to(&buffer[..length], &zone) {
            let _ = socket.send_to(&answer, from).await;
        }
    }
}

fn answer_to(query: &[u8], zone: &Zone) -> Option<Vec<u8>> {
    let (name, end) = name_at(query, HEADER_BYTES)?;
    let kind = u16::from_be_bytes([*query.get(end)?, *query.get(end + 1)?]);
    let entry = zone.get(&name).or_else(|| zone.get(ANY));
    if entry.is_some_and(|entry| entry.silent) {
        return None;
    }
    let records = entry.map_or_else(Vec::new, |entry| records(entry, kind, &name));
    let mut answer = query.get(..end + 4)?.to_vec();
    let code = if entry.is_some() { 0 } else { NO_SUCH_NAME };
    // A response, with recursion desired and available.
    answer[2..4].copy_from_slice(&[0x81, 0x80 | code]);
    answer[6..HEADER_BYTES].copy_from_slice(&[0, records.len() as u8, 0, 0, 0, 0]);
    for data in records {
        answer.extend([0xc0, HEADER_BYTES as u8]);
        answer.extend(kind.to_be_bytes());
        // Class IN, a minute to live.
        answer.extend([0, 1, 0, 0, 0, 60]);
        answer.extend((data.len() as u16).to_be_bytes());
        answer.extend(data);
    }
    Some(answer)
}

fn records(entry: &Entry, kind: u16, name: &str) -> Vec<Vec<u8>> {
    match (kind, entry.spread, entry.a.first()) {
        (A, Some(spread), Some(first)) => {
            let mut hasher = DefaultHasher::new();
            name.hash(&mut hasher);
            let step = (hasher.finish() % u64::from(spread.max(1))) as u32;
            vec![(first.to_bits().wrapping_add(step)).to_be_bytes().to_vec()]
        }
        (A, ..) => entry.a.iter().map(|a| a.octets().to_vec()).collect(),
        (AAAA, ..) => entry.aaaa.iter().map(|a| a.octets().to_vec()).collect(),
        (HTTPS, ..) if entry.h3 => vec![HTTPS_H3.to_vec()],
        _ => Vec::new(),
    }
}

fn name_at(query: &[u8], mut at: usize) -> Option<(String, usize)> {
    let mut name = String::new();
    loop {
        let length = usize::from(*query.get(at)?);
        at += 1;
        if length == 0 {
            return Some((name, at));
        }
        if !name.is_empty() {
            name.push('.');
        }
        let label = query.get(at..at + length)?;
        name.push_str(&String::from_utf8_lossy(label).to_ascii_lowercase());
        at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{RecordType, parse, query};

    #[test]
    fn the_probers_own_client_parses_its_answers() {
        let some = Entry {
            a: vec![[192, 0, 2, 1].into()],
            h3: true,
            ..Entry::default()
        };
        let zone = Zone::from([("a.lab".into(), some)]);
        let ask = |name: &str, kind| {
            let query_bytes = query(7, name, kind).unwrap();
            parse(&answer_to(&query_bytes, &zone).unwrap(), &query_bytes, kind).unwrap()
        };
        let found = ask("A.lab", RecordType::A);
        assert_eq!(found.addresses.len(), 1);
        assert_eq!(ask("a.lab", RecordType::Https).https[0].alpn, ["h3"]);
        assert_eq!(ask("a.lab", RecordType::Aaaa).addresses.len(), 0);
        assert_eq!(ask("b.lab", RecordType::A).code, NO_SUCH_NAME);
    }
}
