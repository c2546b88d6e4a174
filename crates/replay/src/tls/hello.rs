/// The limit of a hello; one with a post-quantum key share and a ticket has two kilobytes.
const HELLO_BYTES_MAX: usize = 64 * 1024;
const CLIENT_HELLO: u8 = 1;
const HANDSHAKE_RECORD: u8 = 22;
const RECORD_HEADER_BYTES: usize = 5;
/// The extension's number (RFC 8446, section 4.2.10).
const EARLY_DATA_EXTENSION: u16 = 42;

/// A parser of a client's first hello that detects whether it offers early data: rustls reports of
/// a server's session only whether they were accepted.
#[derive(Debug, Default)]
pub struct HelloWatch {
    records: Vec<u8>,
    hello: Vec<u8>,
    offered: Option<bool>,
}

impl HelloWatch {
    /// Returns whether early data were offered; `None` until the hello is complete.
    pub fn early_data_offered(&self) -> Option<bool> {
        self.offered
    }

    /// Processes the next bytes of handshake messages, as QUIC carries them.
    pub fn on_messages(&mut self, bytes: &[u8]) {
        if self.offered.is_some() || self.hello.len() > HELLO_BYTES_MAX {
            return;
        }
        self.hello.extend_from_slice(bytes);
        self.offered = offers_early_data(&self.hello);
        if self.offered.is_some() {
            self.hello = Vec::new();
        }
    }

    /// Processes the next bytes of records, as TCP carries them (RFC 8446, section 5.1).
    pub fn on_records(&mut self, bytes: &[u8]) {
        if self.offered.is_some() || self.records.len() > HELLO_BYTES_MAX {
            return;
        }
        self.records.extend_from_slice(bytes);
        while let Some(length) = record_length(&self.records) {
            let record: Vec<u8> = self.records.drain(..length).collect();
            if record[0] == HANDSHAKE_RECORD {
                self.on_messages(&record[RECORD_HEADER_BYTES..]);
            }
        }
        if self.offered.is_some() {
            self.records = Vec::new();
        }
    }
}

/// Returns the length of the first record, if it is complete.
fn record_length(bytes: &[u8]) -> Option<usize> {
    let header = bytes.get(..RECORD_HEADER_BYTES)?;
    let length = RECORD_HEADER_BYTES + usize::from(u16::from_be_bytes([header[3], header[4]]));
    (bytes.len() >= length).then_some(length)
}

/// Returns whether a hello offers early data; `None` if it is incomplete or not a hello (RFC 8446,
/// section 4.1.2).
fn offers_early_data(bytes: &[u8]) -> Option<bool> {
    let (header, rest) = bytes.split_at_checked(4)?;
    if header[0] != CLIENT_HELLO {
        return Some(false);
    }
    let length = u32::from_be_bytes([0, header[1], header[2], header[3]]) as usize;
    let hello = rest.get(..length)?;
    Some(extensions(hello).is_some_and(|mut kinds| kinds.any(|kind| kind == EARLY_DATA_EXTENSION)))
}

fn extensions(hello: &[u8]) -> Option<impl Iterator<Item = u16>> {
    // Version and random; session, cipher suites and compression methods with their lengths.
    let rest = hello.get(34..)?;
    let (_, rest) = vector(rest, 1)?;
    let (_, rest) = vector(rest, 2)?;
    let (_, rest) = vector(rest, 1)?;
    let (mut list, _) = vector(rest, 2)?;
    Some(std::iter::from_fn(move || {
        let (kind, rest) = list.split_at_checked(2)?;
        let (_, rest) = vector(rest, 2)?;
        list = rest;
        Some(u16::from_be_bytes([kind[0], kind[1]]))
    }))
}

/// Splits off a vector that is preceded by a length of `length_bytes`.
fn vector(bytes: &[u8], length_bytes: usize) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_at_checked(length_bytes)?;
    let length = length
        .iter()
        .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(extensions: &[u16]) -> Vec<u8> {
        let list: Vec<u8> = extensions
            .iter()
            .flat_map(|kind| [&kind.to_be_bytes()[..], &[0, 1, 9]].concat())
            .collect();
        let length = u16::try_from(list.len()).unwrap().to_be_bytes();
        let body = [
            &[3; 34][..],
            &[2, 7, 7],
            &[0, 2, 19, 1],
            &[1, 0],
            &length,
            &list,
        ]
        .concat();
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        [&[CLIENT_HELLO], &length[1..], &body].concat()
    }

    #[test]
    fn an_offer_is_found_in_pieces_of_any_size() {
        for (kinds, offered) in [
            (&[0, 51, 42, 41][..], true),
            (&[0, 51], false),
            (&[], false),
        ] {
            let messages = hello(kinds);
            for size in [1, 5, messages.len()] {
                let mut watch = HelloWatch::default();
                for piece in messages.chunks(size) {
                    assert_eq!(watch.early_data_offered(), None);
                    watch.on_messages(piece);
                }
                assert_eq!(watch.early_data_offered(), Some(offered), "{kinds:?}");
            }
            let mut records = vec![20, 3, 3, 0, 1, 1];
            for piece in messages.chunks(20) {
                records.extend([22, 3, 1, 0, u8::try_from(piece.len()).unwrap()]);
                records.extend(piece);
            }
            let mut watch = HelloWatch::default();
            records.chunks(3).for_each(|piece| watch.on_records(piece));
            assert_eq!(watch.early_data_offered(), Some(offered), "{kinds:?}");
        }
    }

    #[test]
    fn other_messages_offer_nothing() {
        for bytes in [&[2, 0, 0, 0][..], &[1, 0, 0, 3, 1, 2, 3]] {
            let mut watch = HelloWatch::default();
            watch.on_messages(bytes);
            assert_eq!(watch.early_data_offered(), Some(false));
        }
        let mut endless = HelloWatch::default();
        for _ in 0..1000 {
            endless.on_messages(&[1, 255, 255, 255].repeat(100));
        }
        assert!(endless.hello.len() <= HELLO_BYTES_MAX + 400);
    }
}
