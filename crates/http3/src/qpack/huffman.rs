//! The Huffman code of RFC 7541, appendix B, which RFC 9204 uses too.
//!
//! It is canonical: codes of one length follow one another in the order of their symbols, so that
//! the lengths define it.

use std::sync::OnceLock;

/// The length in bits of each byte's code; the last is the end-of-string symbol, which is never
/// written.
#[rustfmt::skip]
const CODE_BITS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28,
    30, 28, 28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8,
    6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
    5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23,
    23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24,
    21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
    20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
    21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24,
    26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];
const END: u16 = 256;
const BITS_MAX: usize = 30;
/// Length of the codes in the lookup table: it covers all letters and digits.
const SHORT_BITS: u32 = 8;

struct Tables {
    /// Codes by byte.
    codes: [u32; 257],
    /// The first code of each length, the index of its symbol, and the number of codes.
    lengths: [(u32, u16, u16); BITS_MAX + 1],
    /// Symbols by code.
    symbols: [u16; 257],
    /// The symbol and its length for the next eight bits; 0 if the code is longer.
    short: [(u8, u8); 1 << SHORT_BITS],
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(Tables::new)
}

impl Tables {
    fn new() -> Self {
        let mut tables = Self {
            codes: [0; 257],
            lengths: [(0, 0, 0); BITS_MAX + 1],
            symbols: [0; 257],
            short: [(0, 0); 1 << SHORT_BITS],
        };
        let (mut code, mut place) = (0u32, 0u16);
        for bits in 1..=BITS_MAX {
            code <<= 1;
            tables.lengths[bits] = (code, place, 0);
            for symbol in (0..=END).filter(|at| usize::from(CODE_BITS[usize::from(*at)]) == bits) {
                tables.codes[usize::from(symbol)] = code;
                tables.symbols[usize::from(place)] = symbol;
                tables.lengths[bits].2 += 1;
                if let Some(rest) = SHORT_BITS.checked_sub(bits as u32) {
                    let first = (code << rest) as usize;
                    tables.short[first..first + (1 << rest)].fill((symbol as u8, bits as u8));
                }
                code += 1;
                place += 1;
            }
        }
        tables
    }
}

/// Returns the size of the text in this code, in bytes.
pub(super) fn coded_bytes(text: &[u8]) -> usize {
    let bits = text
        .iter()
        .map(|byte| usize::from(CODE_BITS[usize::from(*byte)]));
    bits.sum::<usize>().div_ceil(8)
}

/// Appends the text in this code.
pub(super) fn encode(text: &[u8], to: &mut Vec<u8>) {
    let tables = tables();
    let (mut held, mut bits) = (0u64, 0u32);
    for byte in text {
        let length = u32::from(CODE_BITS[usize::from(*byte)]);
        held = held << length | u64::from(tables.codes[usize::from(*byte)]);
        bits += length;
        while bits >= 8 {
            bits -= 8;
            to.push((held >> bits) as u8);
        }
    }
    if bits > 0 {
        // The first bits of the end-of-string symbol fill the last byte: ones.
        to.push((held << (8 - bits)) as u8 | 0xff >> bits);
    }
}

/// Decodes the text; `None` if the bytes are not of this code.
pub(super) fn decode(coded: &[u8]) -> Option<Vec<u8>> {
    let tables = tables();
    let mut text = Vec::with_capacity(coded.len() * 8 / 5);
    let (mut held, mut bits) = (0u64, 0u32);
    let mut coming = coded.iter();
    loop {
        while bits <= 56
            && let Some(byte) = coming.next()
        {
            held = held << 8 | u64::from(*byte);
            bits += 8;
        }
        if bits == 0 {
            return Some(text);
        }
        // The next bits from the left, followed by ones.
        let missing = 64 - bits;
        let next = if missing == 0 {
            held
        } else {
            held << missing | u64::MAX >> bits
        };
        let (symbol, length) = tables.next((next >> 32) as u32)?;
        if length > bits || symbol == END {
            // The last byte is padded with the beginning of the end-of-string symbol (RFC 7541,
            // section 5.2).
            let rest = next >> missing;
            return (bits < 8 && rest | u64::MAX << bits == u64::MAX).then_some(text);
        }
        text.push(symbol as u8);
        bits -= length;
    }
}

impl Tables {
    /// Returns the symbol at the start of `next`, and its length.
    fn next(&self, next: u32) -> Option<(u16, u32)> {
        let (symbol, bits) = self.short[(next >> (32 - SHORT_BITS)) as usize];
        if bits > 0 {
            return Some((symbol.into(), bits.into()));
        }
        (SHORT_BITS + 1..=BITS_MAX as u32).find_map(|bits| {
            let (first, place, count) = self.lengths[bits as usize];
            let at = (next >> (32 - bits)).checked_sub(first)?;
            (at < count.into()).then(|| (self.symbols[usize::from(place) + at as usize], bits))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_coded_as_in_rfc_7541() {
        // Appendix C.4 and C.6.
        for (text, coded) in [
            (&b"www.example.com"[..], "f1e3c2e5f23a6ba0ab90f4ff"),
            (b"no-cache", "a8eb10649cbf"),
            (b"custom-key", "25a849e95ba97d7f"),
            (
                b"Mon, 21 Oct 2013 20:13:21 GMT",
                "d07abe941054d444a8200595040b8166e082a62d1bff",
            ),
            (
                b"foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
                "94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
            ),
            (b"", ""),
        ] {
            let mut written = Vec::new();
            encode(text, &mut written);
            let hex: String = written.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, coded);
            assert_eq!(coded_bytes(text), written.len());
            assert_eq!(decode(&written).unwrap(), text);
        }
    }

    #[test]
    fn every_byte_round_trips() {
        for first in 0..=255u8 {
            let text: Vec<u8> = (0..=255)
                .map(|byte: u8| byte.wrapping_mul(7) ^ first)
                .collect();
            let mut written = Vec::new();
            encode(&text, &mut written);
            assert_eq!(decode(&written).unwrap(), text);
            let mut single = Vec::new();
            encode(&[first], &mut single);
            assert_eq!(decode(&single).unwrap(), [first]);
        }
    }

    #[test]
    fn invalid_codes_are_refused() {
        // A whole byte of padding; the end-of-string symbol itself; zeros as padding.
        for wrong in [
            &[0xff][..],
            &[0x1f, 0xff],
            &[0xff; 4],
            &[0xff, 0xff, 0xff, 0xfc],
            &[0x18],
        ] {
            assert_eq!(decode(wrong), None, "{wrong:?}");
        }
        assert_eq!(decode(&[0x1f]).unwrap(), b"a");
    }
}
