//! HPACK (RFC 7541), decoding only: reads a peer's HTTP/2 fields that a library does not expose.

mod static_table;

use std::collections::VecDeque;

use bytes::Bytes;

use crate::qpack::Field;
use crate::qpack::reader::{ReadError, Reader};
use static_table::STATIC_TABLE;

/// A decoder of the field sections of one direction of a connection, of which none may be left out.
#[derive(Debug)]
pub struct Decoder {
    /// The dynamic table, newest first.
    entries: VecDeque<Field>,
    bytes: u64,
    bytes_max: u64,
    allowed_bytes_max: u64,
    section_bytes_max: u64,
}

impl Decoder {
    /// Creates a decoder. `table_bytes_max` is the limit in the reader's settings,
    /// `section_bytes_max` that of a decoded section, as tables count it.
    pub fn new(table_bytes_max: u64, section_bytes_max: u64) -> Self {
        Self {
            entries: VecDeque::new(),
            bytes: 0,
            bytes_max: table_bytes_max,
            allowed_bytes_max: table_bytes_max,
            section_bytes_max,
        }
    }

    /// Decodes the fields of a whole section, in order; `None` if it is invalid or too large, after
    /// which nothing of the connection can be decoded.
    pub fn section(&mut self, bytes: &[u8]) -> Option<Vec<Field>> {
        let mut reader = Reader::new(bytes);
        let mut fields = Vec::new();
        let mut left = self.section_bytes_max;
        while let Some(first) = reader.peek() {
            let field = match first {
                0x80.. => self.entry(reader.number(7).ok()?)?,
                0x40.. => {
                    let field = self.literal(&mut reader, 6).ok()??;
                    self.insert(field.clone());
                    field
                }
                0x20.. => {
                    self.bytes_max = reader.number(5).ok()?;
                    if self.bytes_max > self.allowed_bytes_max {
                        return None;
                    }
                    self.evict(0);
                    continue;
                }
                _ => self.literal(&mut reader, 4).ok()??,
            };
            left = left.checked_sub(field.size())?;
            fields.push(field);
        }
        Some(fields)
    }

    fn literal(
        &self,
        reader: &mut Reader<'_>,
        prefix_bits: u32,
    ) -> Result<Option<Field>, ReadError> {
        let name = match reader.number(prefix_bits)? {
            0 => Some(reader.string(7, self.section_bytes_max)?),
            index => self.entry(index).map(|entry| entry.name),
        };
        let value = reader.string(7, self.section_bytes_max)?;
        Ok(name.map(|name| Field { name, value }))
    }

    /// Returns an entry; the dynamic table follows the static one (RFC 7541, section 2.3.3).
    fn entry(&self, index: u64) -> Option<Field> {
        let index = usize::try_from(index).ok()?.checked_sub(1)?;
        if let Some((name, value)) = STATIC_TABLE.get(index) {
            return Some(Field {
                name: Bytes::from_static(name.as_bytes()),
                value: Bytes::from_static(value.as_bytes()),
            });
        }
        self.entries.get(index - STATIC_TABLE.len()).cloned()
    }

    /// Inserts an entry; one that does not fit empties the table (RFC 7541, section 4.4).
    fn insert(&mut self, field: Field) {
        let size = field.size();
        self.evict(size);
        if size <= self.bytes_max {
            self.bytes += size;
            self.entries.push_front(field);
        }
    }

    fn evict(&mut self, room: u64) {
        while self.bytes + room > self.bytes_max {
            let Some(oldest) = self.entries.pop_back() else {
                return;
            };
            self.bytes -= oldest.size();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let pairs = digits
            .chunks(2)
            .map(|pair| std::str::from_utf8(pair).unwrap());
        pairs
            .map(|pair| u8::from_str_radix(pair, 16).unwrap())
            .collect()
    }

    fn text(fields: &[Field]) -> Vec<String> {
        let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
        let lines = fields.iter();
        lines
            .map(|field| format!("{}: {}", text(&field.name), text(&field.value)))
            .collect()
    }

    /// RFC 7541, appendices C.5 and C.6: three responses, which evict entries from a table of 256
    /// bytes.
    #[test]
    fn the_answers_of_rfc_7541_are_read() {
        let plain = [
            "4803333032 580770726976617465 611d4d6f6e2c203231204f637420323031332032303a31333a323120474d54
             6e1768747470733a2f2f7777772e6578616d706c652e636f6d",
            "4803333037 c1c0bf",
            "88c1 611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54 c0 5a04677a6970
             7738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d33
             3630303b2076657273696f6e3d31",
        ];
        let coded = [
            "48826402 5885aec3771a4b 6196d07abe941054d444a8200595040b8166e082a62d1bff
             6e919d29ad171863c78f0b97c8e9ae82ae43d3",
            "4883640eff c1c0bf",
            "88c1 6196d07abe941054d444a8200595040b8166e084a62d1bff c0 5a839bd9ab
             77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d
             5007",
        ];
        let first = "date: Mon, 21 Oct 2013 20:13:21 GMT";
        let location = "location: https://www.example.com";
        let right = [
            vec![":status: 302", "cache-control: private", first, location],
            vec![":status: 307", "cache-control: private", first, location],
            vec![
                ":status: 200",
                "cache-control: private",
                "date: Mon, 21 Oct 2013 20:13:22 GMT",
                location,
                "content-encoding: gzip",
                "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
            ],
        ];
        for sections in [plain, coded] {
            let mut decoder = Decoder::new(256, 10_000);
            for (section, right) in sections.iter().zip(&right) {
                let fields = decoder.section(&bytes(section)).unwrap();
                assert_eq!(text(&fields), *right);
            }
            assert_eq!((decoder.bytes, decoder.entries.len()), (215, 3));
        }
    }

    #[test]
    fn invalid_sections_are_none() {
        for hex in [
            "80",
            "be",
            "ff80808080808080808080",
            "7f",
            "400161",
            "0f2f0161",
            "3fe201",
        ] {
            assert_eq!(
                Decoder::new(256, 10_000).section(&bytes(hex)),
                None,
                "{hex}"
            );
        }
        // A smaller table is allowed, and empties it.
        let mut decoder = Decoder::new(256, 10_000);
        assert!(decoder.section(&bytes("400161 0162")).is_some());
        assert_eq!(text(&decoder.section(&bytes("be")).unwrap()), ["a: b"]);
        assert_eq!(decoder.section(&bytes("20 be")), None);
        // A short section that decodes to a long one.
        let mut decoder = Decoder::new(4_096, 10_000);
        let long = [&bytes("400161 7f e11d")[..], &[b'x'; 3_936]].concat();
        assert!(decoder.section(&long).is_some());
        assert!(decoder.section(&bytes("bebe")).is_some());
        assert_eq!(decoder.section(&bytes("bebebe")), None);
    }
}
