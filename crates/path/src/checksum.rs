//! The Internet checksum (RFC 1071).

/// Adds `bytes` to a running sum of 16-bit words; an odd last byte counts as followed by zero.
pub(crate) fn add(sum: u32, bytes: &[u8]) -> u32 {
    let words = bytes.chunks_exact(2);
    let last = words
        .remainder()
        .first()
        .map_or(0, |byte| u64::from(*byte) << 8);
    let total: u64 = words
        .map(|word| u64::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    fold_wide(u64::from(sum) + total + last)
}

/// Returns the checksum of a sum.
pub(crate) fn finish(sum: u32) -> u16 {
    !fold(sum)
}

/// Folds a sum to 16 bits, with carries added back.
pub(crate) fn fold(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    ((once & 0xffff) + (once >> 16)) as u16
}

fn fold_wide(sum: u64) -> u32 {
    let once = (sum & 0xffff_ffff) + (sum >> 32);
    // At most 2^33: a second fold leaves 32 bits.
    ((once & 0xffff_ffff) + (once >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(fold(add(0, &bytes)), 0xddf2);
        assert_eq!(finish(add(0, &bytes)), 0x220d);
    }

    #[test]
    fn an_odd_byte_is_the_high_one() {
        assert_eq!(fold(add(0, &[0x12, 0x34, 0x56])), 0x1234 + 0x5600);
    }

    #[test]
    fn a_known_header() {
        // IPv4 header of a captured packet whose checksum is 0xb861.
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x00, 0x00, 0xc0, 0xa8,
            0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!(finish(add(0, &header)), 0xb861);
    }
}
