//! Encodes numbers and strings of QPACK (RFC 9204, section 4.1).

use super::huffman;

/// Appends a number whose first bits share a byte with `mark`.
pub(super) fn write_number(to: &mut Vec<u8>, mark: u8, prefix_bits: u32, value: u64) {
    let full = (1u64 << prefix_bits) - 1;
    if value < full {
        to.push(mark | value as u8);
        return;
    }
    to.push(mark | full as u8);
    let mut rest = value - full;
    while rest >= 0x80 {
        to.push(0x80 | (rest & 0x7f) as u8);
        rest >>= 7;
    }
    to.push(rest as u8);
}

/// Appends a string whose length shares a byte with `mark`, Huffman-coded if that is shorter, as
/// the bit above the length indicates.
pub(super) fn write_string(to: &mut Vec<u8>, mark: u8, prefix_bits: u32, text: &[u8]) {
    let coded = huffman::coded_bytes(text);
    if coded < text.len() {
        write_number(to, mark | 1 << prefix_bits, prefix_bits, coded as u64);
        huffman::encode(text, to);
    } else {
        write_number(to, mark, prefix_bits, text.len() as u64);
        to.extend_from_slice(text);
    }
}
