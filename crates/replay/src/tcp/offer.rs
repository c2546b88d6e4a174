//! Limits the client's first SETTINGS, in which it offers a table for our HPACK encoder.

use tokio::io::ReadBuf;

/// The size of the client's preface (RFC 9113, section 3.4).
const PREFACE_BYTES: usize = 24;
const FRAME_HEADER_BYTES: usize = 9;
const SETTINGS: u8 = 0x04;
const SETTING_BYTES: usize = 6;
/// The setting's identifier (RFC 9113, section 6.5.2).
const HEADER_TABLE_SIZE: [u8; 2] = [0, 1];
const HEADER_TABLE_SIZE_DEFAULT: u32 = 4096;
/// The longest frame that h2 accepts (RFC 9113, section 4.2); a longer one need not be kept.
const FRAME_BYTES_MAX: usize = 16_384;

/// Returns the table size that an end's first SETTINGS offer.
pub(super) fn offered_table(payload: &[u8]) -> u32 {
    let settings = payload.chunks_exact(SETTING_BYTES);
    let mut tables = settings.filter_map(|setting| match *setting {
        [high, low, a, b, c, d] if [high, low] == HEADER_TABLE_SIZE => {
            Some(u32::from_be_bytes([a, b, c, d]))
        }
        _ => None,
    });
    tables.next().unwrap_or(HEADER_TABLE_SIZE_DEFAULT)
}

/// Returns the bytes that HTTP/2 receives of a client's `pieces`, with an offer of at most
/// `table_bytes`, and the table size that our encoder may use; nothing before the first frame is
/// complete.
pub fn client_preface<'a>(
    table_bytes: u32,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<u8>, Option<u32>) {
    const ROOM_BYTES: usize = 10;
    let mut offer = Offer::new(table_bytes);
    let (mut given, mut offered) = (Vec::new(), None);
    for piece in pieces {
        if offer.is_over() {
            given.extend_from_slice(piece);
            continue;
        }
        offered = offered.or(offer.on_bytes(piece));
        let mut room = [0; ROOM_BYTES];
        let mut to = ReadBuf::new(&mut room);
        while offer.copy_to(&mut to) {
            given.extend_from_slice(to.filled());
            to.clear();
        }
    }
    (given, offered)
}

/// A buffer of the client's first bytes until its SETTINGS are complete, which returns them with an
/// offer of no more than ours. h2's encoder uses what is offered, up to 4096 bytes, and has no
/// setting for less.
#[derive(Debug)]
pub(super) struct Offer {
    table_bytes: u32,
    kept: Vec<u8>,
    given: usize,
    is_whole: bool,
}

impl Offer {
    /// Creates the buffer for a stack with tables of that size.
    pub fn new(table_bytes: u32) -> Self {
        Self {
            table_bytes,
            kept: Vec::new(),
            given: 0,
            is_whole: false,
        }
    }

    /// Returns whether everything buffered was returned, so that bytes can pass unchanged.
    pub fn is_over(&self) -> bool {
        self.is_whole && self.given == self.kept.len()
    }

    /// Processes the client's next bytes; returns the table size that our encoder may use, once it
    /// is known.
    pub fn on_bytes(&mut self, bytes: &[u8]) -> Option<u32> {
        self.kept.extend_from_slice(bytes);
        let header = self
            .kept
            .get(PREFACE_BYTES..PREFACE_BYTES + FRAME_HEADER_BYTES)?;
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
        if header[3] != SETTINGS || length > FRAME_BYTES_MAX {
            self.is_whole = true;
            return None;
        }
        let begin = PREFACE_BYTES + FRAME_HEADER_BYTES;
        let payload = self.kept.get_mut(begin..begin + length)?;
        self.is_whole = true;
        let mut table_bytes = None;
        for setting in payload.chunks_exact_mut(SETTING_BYTES) {
            let (id, value) = setting.split_at_mut(HEADER_TABLE_SIZE.len());
            if id == HEADER_TABLE_SIZE {
                let offered = u32::from_be_bytes([value[0], value[1], value[2], value[3]]);
                let taken = offered.min(self.table_bytes);
                value.copy_from_slice(&taken.to_be_bytes());
                table_bytes = Some(taken);
            }
        }
        let taken = table_bytes.unwrap_or_else(|| {
            let taken = self.table_bytes.min(HEADER_TABLE_SIZE_DEFAULT);
            if taken < HEADER_TABLE_SIZE_DEFAULT {
                self.add(begin + length, length + SETTING_BYTES, taken);
            }
            taken
        });
        Some(taken)
    }

    /// Copies buffered bytes as far as there is room; returns false if nothing is ready.
    pub fn copy_to(&mut self, to: &mut ReadBuf<'_>) -> bool {
        if !self.is_whole || self.is_over() {
            return false;
        }
        let rest = &self.kept[self.given..];
        let bytes = rest.len().min(to.remaining());
        to.put_slice(&rest[..bytes]);
        self.given += bytes;
        true
    }

    /// Adds the setting if the client leaves it out, which would mean the default.
    fn add(&mut self, end: usize, length: usize, table_bytes: u32) {
        let length = u32::try_from(length).unwrap_or_default().to_be_bytes();
        self.kept[PREFACE_BYTES..PREFACE_BYTES + 3].copy_from_slice(&length[1..]);
        let setting = [&HEADER_TABLE_SIZE[..], &table_bytes.to_be_bytes()].concat();
        self.kept.splice(end..end, setting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a client's first bytes with these settings, and a second frame.
    fn first(settings: &[u8]) -> Vec<u8> {
        let length = u8::try_from(settings.len()).unwrap();
        let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        bytes.extend([0, 0, length, 4, 0, 0, 0, 0, 0]);
        bytes.extend(settings);
        bytes.extend([0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 1, 0, 0]);
        bytes
    }

    #[test]
    fn no_more_is_offered_than_the_stack_has() {
        let offers_64_kb = [0, 1, 0, 1, 0, 0, 0, 4, 0, 0, 1, 0];
        let offers_100 = [0, 1, 0, 0, 0, 100];
        let says_nothing = [0, 4, 0, 0, 1, 0];
        for (settings, ours, expected, table) in [
            (
                &offers_64_kb[..],
                4096,
                &[0, 1, 0, 0, 0x10, 0, 0, 4, 0, 0, 1, 0][..],
                4096,
            ),
            (&offers_64_kb, 0, &[0, 1, 0, 0, 0, 0, 0, 4, 0, 0, 1, 0], 0),
            (&offers_100, 4096, &offers_100, 100),
            (&says_nothing, 4096, &says_nothing, 4096),
            (
                &says_nothing,
                512,
                &[0, 4, 0, 0, 1, 0, 0, 1, 0, 0, 2, 0],
                512,
            ),
            (&[], 0, &[0, 1, 0, 0, 0, 0], 0),
        ] {
            for piece_bytes in [1, 7, 30, 200] {
                let bytes = first(settings);
                let (given, offered) = client_preface(ours, bytes.chunks(piece_bytes));
                assert_eq!(given, first(expected), "{piece_bytes}");
                assert_eq!(offered, Some(table));
            }
        }
    }

    #[test]
    fn other_protocols_pass_unchanged() {
        let mut offer = Offer::new(0);
        let bytes = [b'x'; 100];
        assert_eq!(offer.on_bytes(&bytes), None);
        let mut room = [0; 200];
        let mut to = ReadBuf::new(&mut room);
        assert!(offer.copy_to(&mut to) && offer.is_over());
        assert_eq!(to.filled(), bytes);
    }
}
