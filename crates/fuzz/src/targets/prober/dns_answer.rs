use eyelevel_probe::wire::{RecordType, dns_answer, dns_query};

/// Bounds above what an answer of 64 records can hold.
const ADDRESSES_MAX: usize = 64;
const PROTOCOLS_MAX: usize = 1 << 16;

/// Parses a DNS answer. The first byte selects the requested type; the answer's id and question are
/// made to match, so that its records are read. Addresses are of the type, an answer is never
/// longer than its bytes, and bytes after it change nothing.
pub(crate) fn run(input: &[u8]) {
    let Some((choice, bytes)) = input.split_first() else {
        return;
    };
    let kinds = [RecordType::A, RecordType::Aaaa, RecordType::Https];
    let kind = kinds[usize::from(*choice) % kinds.len()];
    let query = dns_query(7, "a.test", kind).expect("it is a name");
    let mut bytes = bytes.to_vec();
    if bytes.len() > 12 {
        bytes[..2].copy_from_slice(&query[..2]);
        bytes[2] |= 0x80;
    }
    let Some(answer) = dns_answer(&bytes, &query, kind) else {
        return;
    };
    assert!(answer.cnames.len() <= ADDRESSES_MAX);
    // A byte of a name on the wire takes at most a backslash and three digits.
    let is_name =
        |name: &String| name.len() <= 4 * 255 && name.bytes().all(|b| b.is_ascii_graphic());
    assert!(answer.cnames.iter().all(is_name), "{:?}", answer.cnames);
    let is_v4 = matches!(kind, RecordType::A);
    assert!(answer.addresses.len() <= ADDRESSES_MAX && answer.https.len() <= ADDRESSES_MAX);
    assert!(answer.addresses.iter().all(|each| each.is_ipv4() == is_v4));
    assert!(answer.addresses.is_empty() || !matches!(kind, RecordType::Https));
    let protocols = answer
        .https
        .iter()
        .map(|each| each.alpn.len())
        .sum::<usize>();
    assert!(protocols <= PROTOCOLS_MAX.min(bytes.len()));
    if !answer.is_truncated {
        bytes.extend([0; 8]);
        assert_eq!(dns_answer(&bytes, &query, kind), Some(answer));
    }
}
