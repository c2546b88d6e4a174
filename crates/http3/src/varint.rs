//! Variable-length integers (RFC 9000, section 16).

/// The longest encoding in bytes.
pub(crate) const BYTES_MAX: usize = 8;

/// Reads the number at the beginning, and returns it with its length; `None` if it is incomplete.
pub(crate) fn read(bytes: &[u8]) -> Option<(u64, usize)> {
    let length = 1 << (bytes.first()? >> 6);
    let (first, rest) = bytes.get(..length)?.split_first()?;
    let start = u64::from(first & 0x3f);
    let value = rest
        .iter()
        .fold(start, |sum, byte| sum << 8 | u64::from(*byte));
    Some((value, length))
}

/// Appends a number below 2^62 in its shortest form.
pub(crate) fn write(value: u64, to: &mut Vec<u8>) {
    let bytes = value.to_be_bytes();
    let (length, mark) = match value {
        0..0x40 => (1, 0x00),
        0x40..0x4000 => (2, 0x40),
        0x4000..0x4000_0000 => (4, 0x80),
        _ => (8, 0xc0),
    };
    let start = to.len();
    to.extend_from_slice(&bytes[bytes.len() - length..]);
    to[start] |= mark;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_rfc_9000() {
        // Appendix A.1.
        for (bytes, value) in [
            (
                &[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..],
                151_288_809_941_952_652,
            ),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
        ] {
            assert_eq!(read(bytes), Some((value, bytes.len())));
            for end in 0..bytes.len() {
                assert_eq!(read(&bytes[..end]), None);
            }
            let mut written = Vec::new();
            write(value, &mut written);
            assert_eq!(written, bytes);
        }
        assert_eq!(read(&[0x40, 0x25]), Some((37, 2)));
    }
}
